"""A machine in memory: the ports' other implementation, on one thread, under a seeded scheduler and a virtual clock."""
