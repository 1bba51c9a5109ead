"""Faults of the whole machine: what happens at the step at which one strikes."""

import errno
from collections.abc import Callable, Mapping
from typing import Final

from eukhe.limits import SIM_DAY_S, SIM_HOUR_S, SIM_STOPPED_S
from eukhe.sim.machine import Machine
from eukhe.sim.talker import Talker

ERRNOS: Final = (errno.EIO, errno.ENOSPC, errno.EDQUOT, errno.EROFS)
DRIFTS: Final = (-1 / 2, -1 / 1_000, 1 / 1_000, 2.0)  # number: seconds gained in a second
SOON: Final = 8  # number: operations of the disk within which one is struck


def _kill(machine: Machine) -> None:
    if machine.owner is not None:
        if any(client.orders for client in machine.clients):
            machine.faults.meet("kill")
        machine.crash(power=False)


def _kill_in_write(machine: Machine) -> None:
    _crash_at(machine, "kill-in-write", power=False)


def _power(machine: Machine) -> None:
    machine.crash(power=True)


def _power_in_write(machine: Machine) -> None:
    _crash_at(machine, "power-in-write", power=True)


def _crash_at(machine: Machine, name: str, *, power: bool) -> None:
    machine.power_goes = power
    machine.disk.crash_at = machine.disk.operations + machine.faults.dice(name).randint(1, SOON)


def _disk_error(machine: Machine) -> None:
    dice = machine.faults.dice("disk-error")
    machine.disk.errno = dice.choice(ERRNOS)
    machine.disk.fail_at = machine.disk.operations + dice.randint(1, SOON)


def _read_error(machine: Machine) -> None:
    machine.read_fails_in = machine.faults.dice("read-error").randint(1, SOON)


def _index_full(machine: Machine) -> None:
    machine.index.full = True


def _clock_set(machine: Machine) -> None:
    machine.clock.set_wall(machine.faults.dice("clock-set").uniform(-SIM_DAY_S, SIM_DAY_S))


def _summer_time(machine: Machine) -> None:
    machine.clock.set_zone(machine.faults.dice("summer-time").choice((-SIM_HOUR_S, SIM_HOUR_S)))


def _clock_drift(machine: Machine) -> None:
    machine.clock.drift = machine.faults.dice("clock-drift").choice(DRIFTS)


def _stopped_owner(machine: Machine) -> None:
    owner = machine.owner
    if owner is None or owner.system is None:
        return
    names = {owner.name, *owner.system.actors}
    until_s = machine.clock.monotonic_s() + machine.faults.dice("stopped-owner").random() * SIM_STOPPED_S
    machine.scheduler.freeze(names, until_s)
    if any(client.orders for client in machine.clients):
        machine.faults.meet("stopped-owner")


def _cut(machine: Machine) -> None:
    connections = machine.network.connections
    if connections:
        machine.network.cut(connections[machine.faults.dice("cut").choice(sorted(connections))])
        machine.faults.meet("cut")


def _outage(machine: Machine) -> None:
    machine.provider.begin_outage()


def _key_outage(machine: Machine) -> None:
    machine.provider.key_is_bad = True
    after_s = machine.faults.dice("key-outage").random() * SIM_HOUR_S
    machine.scheduler.set_timer(("user", "key"), after_s, machine.change_key)


def _raise(machine: Machine) -> None:
    owner = machine.owner
    if owner is not None and owner.up:
        owner.raises_in = machine.faults.dice("raise").choice(sorted(owner.names))


def _index_astray(machine: Machine) -> None:
    machine.index.lead_astray(machine.faults.dice("index-astray"))


def _talker(machine: Machine, fault: str) -> Talker | None:
    """One whose turn, or subagent, goes on."""
    on = [talker for talker in machine.talkers if talker.is_on]
    return machine.faults.dice(fault).choice(on) if on else None


def _dead_turn(machine: Machine) -> None:
    if (talker := _talker(machine, "dead-turn")) is not None:
        machine.faults.meet("dead-turn")
        machine.replace_talker(talker)


def _stopped_turn(machine: Machine) -> None:
    if (talker := _talker(machine, "stopped-turn")) is not None:
        talker.stop()


def _steering(machine: Machine) -> None:
    if (talker := _talker(machine, "steering")) is not None:
        talker.say()


STRIKES: Final[Mapping[str, Callable[[Machine], None]]] = {
    "kill": _kill,
    "kill-in-write": _kill_in_write,
    "power": _power,
    "power-in-write": _power_in_write,
    "disk-error": _disk_error,
    "read-error": _read_error,
    "index-full": _index_full,
    "clock-set": _clock_set,
    "summer-time": _summer_time,
    "clock-drift": _clock_drift,
    "stopped-owner": _stopped_owner,
    "cut": _cut,
    "outage": _outage,
    "key-outage": _key_outage,
    "raise": _raise,
    "index-astray": _index_astray,
    "dead-turn": _dead_turn,
    "stopped-turn": _stopped_turn,
    "steering": _steering,
}
