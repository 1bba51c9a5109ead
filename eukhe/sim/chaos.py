"""One run of a machine under faults, from its options to what became of it.

A run has two phases. In the first, faults strike for so many steps. In the second none does: all that waits must end
within its limit, all must be built, and the owner leaves by itself. Every message, write and start is looked at.
"""

import hashlib
from heapq import heapify, heapreplace

import msgspec

from eukhe.limits import SIM_CALM_STEPS_MAX, SIM_FULL_EVERY_STEPS
from eukhe.sim.checks import CheckFailed
from eukhe.sim.machine import Machine
from eukhe.sim.options import Options
from eukhe.sim.strikes import STRIKES
from eukhe.sim.watch import Watch


class Failure(msgspec.Struct, frozen=True):
    """Why a run failed. `check`: its name. `step`: the last step's number. `told`: the last steps, one a line."""

    check: str
    expected: str
    found: str
    step: int
    told: str


class Outcome(msgspec.Struct, frozen=True):
    """What became of a run. `injected`, `met`: how often, by fault."""

    options: Options
    failure: Failure | None
    steps: int
    messages: int
    injected: dict[str, int]
    met: dict[str, int]
    digest: str


def run(options: Options, watch: type[Watch] = Watch) -> Outcome:
    """A run, to its end or its first failure."""
    machine = Machine(options, watch)
    failure = None
    try:
        storm(machine)
        calm(machine)
    except CheckFailed as failed:
        failure = _failure(machine, failed.check, failed.expected, failed.found)
    except Exception as error:  # noqa: BLE001, whatever it is, it is a finding, with its seed
        failure = _failure(machine, "no-crash", "nothing is raised", f"{type(error).__name__}: {error}")
    faults = machine.faults
    return Outcome(
        options,
        failure,
        machine.scheduler.steps,
        len(machine.watch.ledger.messages),
        dict(faults.injected),
        dict(faults.met),
        machine.scheduler.digest,
    )


class Digest:
    """Of many runs, in their order."""

    def __init__(self) -> None:
        self._digest = hashlib.sha256()

    def add(self, outcome: Outcome) -> None:
        self._digest.update(outcome.digest.encode())

    @property
    def hex(self) -> str:
        return self._digest.hexdigest()


def storm(machine: Machine) -> None:
    """The first phase: faults strike, for as many steps as the options say."""
    faults = machine.faults
    due = [(faults.gap(name), name) for name in STRIKES if name in faults.odds]
    heapify(due)
    for step in range(1, machine.options.steps + 1):
        while due and due[0][0] <= step:
            name = due[0][1]
            heapreplace(due, (step + faults.gap(name), name))
            if faults.inject(name):
                STRIKES[name](machine)
        _step(machine)


def calm(machine: Machine) -> None:
    """The second phase: no fault strikes, and all must end."""
    machine.calm()
    steps_max = SIM_CALM_STEPS_MAX + machine.options.steps
    for _ in range(steps_max):
        if not _step(machine):
            break
        _check_waits(machine)
    else:
        raise CheckFailed("wait-ends", f"an end within {steps_max} steps", _left(machine))
    if machine.owners or machine.talkers or not all(client.gone for client in machine.clients):
        raise CheckFailed("wait-ends", "nothing waits for ever", _left(machine))
    machine.watch.ended(machine.index)


def _step(machine: Machine) -> bool:
    if not machine.step():
        return False
    if not machine.scheduler.steps % SIM_FULL_EVERY_STEPS:
        machine.watch.full()
    if machine.watch.fold_is_due:
        machine.watch.fold()
    return True


def _check_waits(machine: Machine) -> None:
    for client in machine.clients:
        if (order := client.overdue()) is not None:
            raise CheckFailed("wait-ends", f"an answer to {order} within its limit", f"none to {client.name}")
    for talker in machine.talkers:
        if (late := talker.overdue()) is not None:
            raise CheckFailed("turn-ends", "an end within its limit", late)


def _left(machine: Machine) -> str:
    orders = {client.name: list(client.orders.values()) for client in machine.clients if not client.gone}
    talkers = [talker.name for talker in machine.talkers]
    there = f"{len(machine.owners)} owners, {talkers}"
    return f"{there}; clients that are there, and what they wait for: {orders}"


def _failure(machine: Machine, check: str, expected: str, found: str) -> Failure:
    return Failure(check, expected, found, machine.scheduler.steps, machine.scheduler.told())
