"""A client's way to the chat's owner, as `cli/owner_link` has it: it finds it, speaks with it, finds the next one."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from eukhe.actors.messages import Hello, Refused, Welcome
from eukhe.actors.ports import OwnerEvent, OwnerFound, OwnerLost, OwnerSaid
from eukhe.actors.wire import decode, encode
from eukhe.limits import PROTOCOL, SIM_COME_AGAIN_S
from eukhe.sim.scheduler import Doer
from eukhe.sim.sockets import Connection

if TYPE_CHECKING:
    from eukhe.sim.machine import Machine

Heard = Callable[[OwnerEvent], None]


class SimLink(Doer):
    """Implements `OwnerLink`. `connection`: None while it looks for an owner, and after it was closed."""

    def __init__(self, machine: "Machine", name: str) -> None:
        self.name = name
        self.doing: Callable[[], None] | None = None
        self.connection: Connection | None = None
        self._machine = machine
        self._heard: Heard | None = None  # while it looks for owners, one after the other
        self._unmet = 0  # owners that were found, and not heard of yet by whoever sends
        self._greeted = False
        machine.scheduler.add(self)

    # --- the port ---

    def open(self, heard: Heard) -> None:
        if self._unmet:
            self._unmet -= 1
            return
        assert self._heard is None, "it looks for the owner already"
        self._heard = heard
        self.doing = self._come

    def send(self, to: str, data: bytes) -> None:
        del to  # the door knows
        if self._greeted and not self._unmet:
            assert self.connection is not None
            self._machine.network.send(self.connection, data)

    def close(self) -> None:
        self._machine.scheduler.forget((self.name,))
        if self.connection is not None:
            self._machine.network.leave(self.connection)
        self._disconnected()

    # --- finding an owner ---

    def _come(self) -> None:
        machine = self._machine
        if machine.faults.strikes("no-owner"):
            self._give_up()
            return
        self.connection = machine.network.connect(self)
        if self.connection is not None:
            machine.network.send(self.connection, encode(Hello(PROTOCOL, "1", 1)))
            return
        machine.start_owner()
        self._again()

    def _again(self) -> None:
        after_s = SIM_COME_AGAIN_S * self._machine.scheduler.random.random()
        self._machine.scheduler.set_timer((self.name, "next"), after_s, self._next)

    def _next(self) -> None:
        self.doing = self._come

    def _give_up(self) -> None:
        heard, self._heard = self._heard, None
        assert heard is not None
        heard(OwnerLost("no owner can be had"))

    def _disconnected(self) -> None:
        self.connection = None
        self._greeted = False

    # --- the peer ---

    def frame(self, data: bytes) -> None:
        assert self._heard is not None
        match decode(data):
            case Welcome(_, _, pid):
                self._greeted = True
                self._unmet += 1
                self._heard(OwnerFound(pid))
            case Refused():
                pass  # the end of the connection follows
            case _:
                self._heard(OwnerSaid(data))

    def cut(self) -> None:
        self._disconnected()
        self._again()
