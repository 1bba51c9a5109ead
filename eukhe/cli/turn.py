"""The client in this process: every part of a turn is made here and given to the others.

Its actors lead the conversation; model calls run in worker processes, tools on threads and in processes of their own,
the chat's owner is found by a link. At the end what runs is stopped, and what was said is on disk, where there is an
owner to write it.

    with client(given, attended=False) as chat:
        chat.say("What did we decide?")
        for event in chat.events():
            ...
"""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from pathlib import Path
from typing import cast, get_args
from uuid import uuid4

from eukhe.actors.behaviour import Behaviour
from eukhe.actors.courier import NAME as COURIER
from eukhe.actors.courier import Courier
from eukhe.actors.messages import AgentBegan, AgentOver, MayI, Msg, OwnerIs, Permit, Say, StopTurn, TurnBegan, TurnOver
from eukhe.actors.ports import NoDisk, NoWorkers, Outside
from eukhe.actors.threads import Threads
from eukhe.actors.turn import NAME as TURN
from eukhe.actors.turn import Turn
from eukhe.actors.turn_desk import Desk, Mind
from eukhe.cli.command import Given
from eukhe.cli.config_list import settings_of
from eukhe.cli.owner_link import RealOwnerLink
from eukhe.limits import MILLISECONDS
from eukhe.model.permission import Policy
from eukhe.model.prices import Prices
from eukhe.model.secret_shapes import own_secrets
from eukhe.model.secrets import Secrets
from eukhe.model.talk import Effort
from eukhe.world.allowed import allow_in, allowed_in
from eukhe.world.clock import RealClock
from eukhe.world.config import Settings
from eukhe.world.keys import keys_of
from eukhe.world.process_workers import ProcessWorkers
from eukhe.world.providers.choice import turn_model
from eukhe.world.providers.registry import costs_money
from eukhe.world.surroundings import state_now
from eukhe.world.tools.tools import RealTools


class Chat:
    """What a program does as the user, and is told. One thread's.

    `model`: which answers, `said`: a word about it where nobody chose it; empty else.
    """

    def __init__(self, system: Threads, home: Path, folder: Path, model: str, said: str) -> None:
        self.model = model
        self.said = said
        self._system = system
        self._home = home
        self._folder = folder
        self._is_on = False  # a turn, or there is about to be one
        self._agents: set[str] = set()  # that work

    def say(self, text: str, images: Sequence[bytes] = ()) -> None:
        """A new turn, or a word into the one that runs."""
        self._is_on = True
        self._system.tell(TURN, Say(text, tuple(images)))

    def stop(self) -> None:
        """The turn that runs is to end now; where none does, the subagents."""
        self._system.tell(TURN, StopTurn())

    def permit(self, asked: MayI, *, yes: bool, always: bool = False) -> None:
        """The user's answer. `always`: also from now on, in this folder and chat. StoreError, HomeError."""
        self._system.tell(TURN, Permit(asked.call, yes, always))
        if yes and always and asked.rule:
            allow_in(self._home, self._folder, asked.rule)

    @property
    def is_at_rest(self) -> bool:
        """No turn runs or will, and no subagent works, as far as was heard."""
        return not self._is_on and not self._agents

    def hear(self, wait_s: float | None = None) -> Msg:
        """The next event. TimeoutError where none comes; Bug where the client broke."""
        event = self._system.edge.hear(wait_s)
        match event:
            case TurnBegan():
                self._is_on = True
            case TurnOver():
                self._is_on = False
            case AgentBegan(name):
                self._agents.add(name)
            case AgentOver(name):
                self._agents.discard(name)
            case OwnerIs(0):
                self._agents.clear()
        return event

    def events(self) -> Iterator[Msg]:
        """What is heard until nothing goes on any more; a report that begins another turn is waited for."""
        while not self.is_at_rest:
            yield self.hear()


@contextmanager
def client(given: Given, rules: Sequence[str] = (), *, attended: bool) -> Iterator[Chat]:
    """A client of the home's chat, which is made where there is none. SettingsError, HomeError.

    `rules`: what tools may do without being asked for; `attended`: somebody is there to be asked for more.
    """
    settings = settings_of(given)
    keys = keys_of(os.environ, settings)
    model, said = turn_model(settings, keys)
    session = uuid4().hex
    folder = Path.cwd()
    with ExitStack() as stack:
        models = stack.enter_context(closing(ProcessWorkers(models=(model,))))
        models.keep(keys)
        models.warm()  # its second passes while the view settles
        secrets = Secrets(own_secrets(os.environ))
        tools = RealTools(folder, os.environ, secrets, [key.value for key in keys if key.value])
        stack.enter_context(closing(tools))
        policy = Policy([*settings.allow, *allowed_in(given.home, folder), *rules], tools.place, attended=attended)
        mind = Mind(model, _effort(settings), paid=costs_money(model))
        prices = Prices(settings.prices())
        settle_s = settings.whole("memory.settleTimeoutMs") / MILLISECONDS
        link = RealOwnerLink(given)
        clock = RealClock()
        state = partial(state_now, folder, clock)
        makers: dict[str, Callable[[], Behaviour]] = {
            COURIER: partial(Courier, session),
            TURN: lambda: Turn(Desk(session, mind, policy, secrets, settle_s, prices.usd, state)),
        }
        system = Threads(makers, NoDisk(), clock, NoWorkers(), outside=Outside(models, tools, link))
        try:
            system.begin()
            yield Chat(system, given.home, folder, model, said)
        finally:
            system.end()
        if link.bug is not None:
            raise link.bug


def _effort(settings: Settings) -> Effort:
    effort = settings.text("thinking")
    assert effort is None or effort in get_args(Effort), effort
    return cast(Effort, effort or "medium")
