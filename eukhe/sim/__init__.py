"""A machine in memory: the ports' other implementation, on one thread, under a seeded scheduler and a virtual clock.

How the parts of `eukhe chaos` fit, from the outside in:

- `options` are drawn from a seed, or read from a `tape`; `chaos` plays the run that they give, `runs` plays many,
  `shrink` shortens one that fails, and `canaries` plant known bugs, to see that they are found.
- `machine` is a computer with one chat: `disk` (`process_disk`: what a process may do to it), `clock`, `lock`, `index`,
  the network of `sockets`. On it live an `owner`, whose actors are production's own, on the `runtime`; `clients`, which
  log `texts`, and are `rude` at times; and `workers`, whose calls end as the `provider` will have it. A `talker` is a
  client with its real actors, a `link` to the owner, `models` and `tools`.
- `scheduler` picks who takes the next step. `faults` says what may go wrong and how often; `strikes` does what goes
  wrong at a step, all else asks `faults.strikes` where it has a chance to go wrong.
- `watch` looks on: `ledger` reads what is synced, `oracle` says the rules once more, `shadow` holds planner and gate
  against it a message at a time, `turn_shadow` and `conversation` a turn. `checks` lists what must hold; one that does
  not ends the run.

`transcript` and its `transcript_*` are a smaller machine, on which nothing happens unless a command says so.
"""
