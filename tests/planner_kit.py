"""A planner in its host, and what it ordered."""

from collections.abc import Iterable, Sequence

from eukhe.actors.behaviour import Effect, Tell
from eukhe.actors.messages import StartBuild, StopBuild, ViewTaken, WriteTree
from eukhe.actors.planner import Planner
from eukhe.model.chat import Chat, ChatLimits
from eukhe.model.part import Part
from tests.actor_kit import Rig, told

LONG = 2_000  # bytes of a message that needs a call
SHORT = 100


def planner(
    *,
    jobs: int = 3,
    builds: int | None = None,
    checkpoint_messages: int = 1_000,
    contexts: bool = False,
    reads_contexts: bool = False,
    paid: bool = False,
    **limits: int,
) -> Rig[Planner]:
    """Of an empty chat."""
    chat = Chat(ChatLimits(jobs=jobs, **limits))
    return planner_of(
        chat,
        builds=builds,
        checkpoint_messages=checkpoint_messages,
        contexts=contexts,
        reads_contexts=reads_contexts,
        paid=paid,
    )


def planner_of(
    chat: Chat,
    free: Sequence[Part] = (),
    *,
    builds: int | None = None,
    checkpoint_messages: int = 1_000,
    contexts: bool = False,
    reads_contexts: bool = False,
    paid: bool = False,
) -> Rig[Planner]:
    names = [f"compactor-{k}" for k in range(chat.limits.jobs)]
    return Rig(
        lambda: Planner(
            chat,
            names,
            free=free,
            builds=builds,
            checkpoint_messages=checkpoint_messages,
            contexts=contexts,
            reads_contexts=reads_contexts,
            paid=paid,
        ),
        name="planner",
    )


def orders(effects: Iterable[Effect]) -> dict[Part, int]:
    """The builds ordered, and their calls."""
    return {
        effect.message.part: effect.message.call
        for effect in effects
        if isinstance(effect, Tell) and isinstance(effect.message, StartBuild)
    }


def stopped(effects: Iterable[Effect]) -> list[int]:
    """The calls that compactors are to stop."""
    return [
        effect.message.call for effect in effects if isinstance(effect, Tell) and isinstance(effect.message, StopBuild)
    ]


def views(effects: Iterable[Effect]) -> list[ViewTaken]:
    """The views handed out."""
    return [effect.message for effect in effects if isinstance(effect, Tell) and isinstance(effect.message, ViewTaken)]


def written(effects: Iterable[Effect]) -> list[object]:
    """The lines that the store is to write."""
    return [line for message in told(effects, "store") if isinstance(message, WriteTree) for line in message.lines]


def last_order(effects: Iterable[Effect]) -> int:
    """The number of the last order to the store."""
    return [message.order for message in told(effects, "store") if isinstance(message, WriteTree)][-1]
