"""A user who talks with a model, by a client of its own: turns, steering words, subagents, stops at any moment.

The client runs its real actors, with a way to the owner, models and tools that fail as the faults say. It may be killed
between any two of its steps; then nothing of it goes on.
"""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Final

from eukhe.actors.behaviour import EDGE, Behaviour
from eukhe.actors.courier import NAME as COURIER
from eukhe.actors.courier import Courier
from eukhe.actors.messages import (
    Begin,
    Begun,
    End,
    Ended,
    MayI,
    Msg,
    OwnerFailed,
    Permit,
    Say,
    StopTurn,
)
from eukhe.actors.ports import NoDisk, NoWorkers, Outside
from eukhe.actors.supervisor import NAME as SUPERVISOR
from eukhe.actors.turn import NAME as TURN
from eukhe.actors.turn import Turn
from eukhe.actors.turn_desk import Desk, Mind
from eukhe.limits import MILLISECONDS, SETTLE_TIMEOUT_MS, SIM_PATIENCE_S, SIM_TALK_S, SIM_TURN_S
from eukhe.model.permission import Policy
from eukhe.model.secrets import Secrets
from eukhe.sim.checks import CheckFailed
from eukhe.sim.link import SimLink
from eukhe.sim.models import SimModels
from eukhe.sim.provider import MODEL
from eukhe.sim.runtime import SimSystem
from eukhe.sim.scheduler import Doer
from eukhe.sim.tools import Anywhere, SimTools
from eukhe.sim.turn_shadow import TurnShadow

if TYPE_CHECKING:
    from eukhe.sim.machine import Machine

RULES: Final = ("bash",)
"""What may run without being asked for."""


class Talker(Doer):
    """`name`: given once. `since_s`: when it said its first word since it rested."""

    def __init__(self, machine: "Machine", name: str) -> None:
        self.machine = machine
        self.name = name
        self.random = machine.scheduler.random
        self.models = SimModels(machine, f"{name} models")
        self.tools = SimTools(machine, f"{name} tools")
        self.link = SimLink(machine, f"{name} link")
        self.since_s: float | None = None
        self.shadow: TurnShadow | None = None
        self.doing: Callable[[], None] | None = self._begin
        outside = Outside(self.models, self.tools, self.link)
        makers: dict[str, Callable[[], Behaviour]] = {COURIER: partial(Courier, name), TURN: self._turn}
        self._system = SimSystem(
            makers,
            NoDisk(),
            machine.clock,
            NoWorkers(),
            machine.scheduler,
            watch=self._told,
            outside=outside,
            whose=f"{name} ",
        )
        machine.scheduler.add(self)

    def _turn(self) -> TurnShadow:
        desk = Desk(
            self.name,
            Mind(MODEL, "medium"),
            Policy(RULES, Anywhere(), attended=True),
            Secrets({}),
            SETTLE_TIMEOUT_MS / MILLISECONDS,
            state=lambda: f"Now: {self.machine.clock.monotonic_s():.0f}",
        )
        self.shadow = TurnShadow(self.machine, Turn(desk), self.models, self.tools, self)
        return self.shadow

    @property
    def is_on(self) -> bool:
        """A turn goes on, or a subagent works."""
        return self.shadow is not None and not self.shadow.is_at_rest

    # --- what it does ---

    def _begin(self) -> None:
        self._system.tell(SUPERVISOR, Begin(EDGE, 0))

    def _think(self) -> None:
        after_s = self.machine.options.think_s * self.random.random()
        self._later("next", after_s, self._next)

    def _next(self) -> None:
        self.doing = self._act

    def _act(self) -> None:
        if self.machine.finishing:
            self._end()
        else:
            self.say()

    def say(self) -> None:
        """A new turn, or a word into the one that runs."""
        entry, now_s = self.machine.text.entry(), self.machine.clock.monotonic_s()
        self._system.tell(TURN, Say(entry.text, entry.images))
        self.since_s = now_s if self.since_s is None else self.since_s

    def rests(self) -> None:
        self._system.heard.clear()
        self.since_s = None
        self._think()

    def stop(self) -> None:
        self._system.tell(TURN, StopTurn())

    def _end(self) -> None:
        self._system.tell(SUPERVISOR, End(EDGE, 1))

    def _leave(self) -> None:
        self.machine.ends(self)

    def die(self) -> None:
        """Gone where it stands, with all that it began."""
        self.machine.scheduler.forget((self.name,))
        self.link.close()
        self.models.crash()
        self.tools.crash()
        self._system.crash()

    # --- what it hears ---

    def _told(self, to: str, message: Msg) -> None:
        if to != EDGE:
            return
        match message:
            case Begun():
                self._later("patience", SIM_PATIENCE_S * self.random.random(), self._lose_patience)
                self._think()
            case Ended():
                self.doing = self._leave
            case OwnerFailed(why):
                raise CheckFailed("no-crash", "no actor fails", why)
            case MayI(call):
                permit = Permit(call, self.random.random() < 1 / 2)
                self._later(call, SIM_TURN_S * self.random.random(), lambda: self._system.tell(TURN, permit))

    def waits(self) -> None:
        """Now and then not for as long as it may."""
        faults = self.machine.faults
        if faults.strikes("cancelled-wait"):
            after_s = SETTLE_TIMEOUT_MS / MILLISECONDS * faults.dice("cancelled-wait").random()
            self._later("cancel", after_s, self._cancel)

    def _cancel(self) -> None:
        if self.shadow is not None and self.shadow.waits is not None:
            self.machine.faults.meet("cancelled-wait")
            self.stop()

    def _lose_patience(self) -> None:
        """What never ends is ended by the user."""
        if self.models.hangs or self.tools.hangs:
            self.stop()
        self._later("patience", SIM_PATIENCE_S, self._lose_patience)

    def _later(self, what: object, after_s: float, do: Callable[[], None]) -> None:
        self.machine.scheduler.set_timer((self.name, what), after_s, do)

    # --- what must hold ---

    def overdue(self) -> str | None:
        """What goes on for longer than it may, where nothing goes wrong."""
        now_s = self.machine.clock.monotonic_s()
        if self.since_s is None or now_s - self.since_s <= SIM_TALK_S:
            return None
        return f"a turn of {self.name} that was begun at {self.since_s}"

    def ask_again_from(self, now_s: float) -> None:
        """All limits begin anew."""
        if self.since_s is not None:
            self.since_s = now_s
