"""What all parts of a client's turn share: numbers, who waits for which answer, what the client was begun with.

Whoever asks says what is to be done with the answer; one that nobody waits for any more is dropped.
"""

from collections.abc import Callable, Sequence
from itertools import count
from typing import Any, Final

import msgspec

from eukhe.actors.behaviour import EDGE, CancelTimer, Effect, SetTimer, Tell
from eukhe.actors.courier import NAME as COURIER
from eukhe.actors.courier import TURN
from eukhe.actors.messages import Msg, TurnDue
from eukhe.model.permission import Policy
from eukhe.model.prompt import Texts
from eukhe.model.secrets import Secrets
from eukhe.model.talk import Effort, Usage

NAME: Final = TURN
Effects = list[Effect]
Then = Callable[[Any], Effects]
"""What is done with an answer."""
Price = Callable[[str, Usage], float | None]
"""Dollars that a model's use costs, None where its price is not known."""


class Mind(msgspec.Struct, frozen=True):
    """Who answers the turns. `paid`: its calls cost money, so they pass the gate and are counted."""

    model: str
    effort: Effort
    paid: bool = True


class Desk:
    """`session`: given to no other client of the chat, ever: it makes keys and the names of calls.

    `settle_s`: how long a turn waits for its view at most. `texts`: those in force, once the owner has said them.
    `now_s`: the clock's monotonic seconds.

    `state`: says what is so now, for the end of a turn's view: date, folder, its AGENTS.md, branch. Rule 51. Also one
    that a subagent's report begins, hours after the last word of the user's, is told what is so then.
    """

    def __init__(
        self,
        session: str,
        mind: Mind,
        policy: Policy,
        secrets: Secrets,
        settle_s: float,
        usd: Price = lambda model, usage: 0.0,
        state: Callable[[], str] = str,
    ) -> None:
        self.session = session
        self.mind = mind
        self.policy = policy
        self.secrets = secrets
        self.settle_s = settle_s
        self.usd = usd
        self.state = state
        self.texts: Texts | None = None
        self.now_s = 0.0
        self._numbers = count(1)
        self._awaited: dict[int, Then] = {}

    def number(self, then: Then) -> int:
        """A number for what is begun, and what to do with what is heard of it, again and again until `forget`."""
        number = next(self._numbers)
        self._awaited[number] = then
        return number

    def name(self) -> str:
        """For a call, or for whoever logs: given to nothing else, ever."""
        return f"{self.session}.{next(self._numbers)}"

    def order(self, make: Callable[[str, int], Msg], then: Then) -> tuple[int, Effect]:
        """An order for the owner, made with this actor's name and a ticket, which is returned."""
        ticket = self.number(then)
        return ticket, Tell(COURIER, make(NAME, ticket))

    def follow(self, message: Msg) -> Effect:
        """Says something of an order that was given."""
        return Tell(COURIER, message)

    def later(self, after_s: float, then: Callable[[], Effects]) -> tuple[int, Effect]:
        """Does something after a while; a number for `no_later`."""
        number = self.number(lambda due: then())
        return number, SetTimer(_timer(number), after_s, TurnDue(number))

    def no_later(self, number: int) -> Effect:
        self.forget(number)
        return CancelTimer(_timer(number))

    def forget(self, number: int) -> None:
        """Nobody waits for it any more."""
        self._awaited.pop(number, None)

    def answered(self, number: int, message: Any, *, last: bool = True) -> Effects:
        """What follows from an answer. `last`: nothing more comes under its number."""
        then = self._awaited.pop(number, None) if last else self._awaited.get(number)
        return [] if then is None else then(message)


def edge(message: Msg) -> Tell:
    """Tells the edge, where the user is."""
    return Tell(EDGE, message)


def flat(*parts: Effect | Sequence[Effect]) -> Effects:
    """Effects, and lists of them, as one list."""
    made: Effects = []
    for part in parts:
        if isinstance(part, Sequence):
            made += part
        else:
            made.append(part)
    return made


def _timer(number: int) -> str:
    return f"due {number}"
