"""What tests of providers share: orders, the fake API in both forms, what is heard of a call."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Literal, NamedTuple

from fake_api import FakeApi, Script

from eukhe.actors.ports import CallEvent, Delta, Key, Request, TurnRequest
from eukhe.model.part import Part
from eukhe.model.talk import Block, Effort, Speech, Talk, Text, Tool
from eukhe.world.providers.calls import caller
from eukhe.world.worker_wire import Order

FormName = Literal["anthropic", "openai"]
FORMS: tuple[FormName, ...] = ("anthropic", "openai")
MODELS = {"anthropic": "anthropic/claude-opus-4-8", "openai": "openai/gpt-5"}
BASH = Tool("bash", "Runs.", '{"type":"object","properties":{"command":{"type":"string"}},"required":["command"]}')


class Api(NamedTuple):
    """A fake API, and the key by which one form finds it."""

    fake: FakeApi
    form: FormName

    @property
    def model(self) -> str:
        return MODELS[self.form]

    @property
    def key(self) -> Key:
        return Key(self.form, "sk-one", self.fake.base_url if self.form == "anthropic" else self.fake.openai_url)

    def turn(
        self, *blocks: Block | Speech, model: str = "", effort: Effort = "low", tools: Sequence[Tool] = ()
    ) -> Order:
        """A turn's order: of what the user says, or of whole speeches."""
        return Order(1, TurnRequest(model or self.model, talk(*blocks, effort=effort, tools=tools)), self.key)

    def line(self, *blocks: Block | Speech) -> Order:
        """A line's order."""
        return Order(1, Request(self.model, Part(0, 7), ("user: hi",), (), talk(*blocks)), self.key)


def talk(*blocks: Block | Speech, effort: Effort = "low", tools: Sequence[Tool] = (), marked: bool = False) -> Talk:
    said = blocks or (Text("hi"),)
    speeches = tuple(one if isinstance(one, Speech) else Speech("user", (one,)) for one in said)
    return Talk("You are one.", tuple(tools), speeches, effort, 64_000, marked)


@contextmanager
def fake(form: FormName, script: Script = ()) -> Iterator[Api]:
    """The API, and at its end no request that is still under way."""
    with FakeApi(script) as api:
        yield Api(api, form)


def heard(order: Order) -> list[CallEvent]:
    """All that is heard of a call, made here."""
    events = list(caller(order.request.model)(order))
    assert not [event for event in events if isinstance(event, bytes)]
    return [event for event in events if not isinstance(event, bytes)]


def end(order: Order) -> CallEvent:
    return heard(order)[-1]


def streamed(events: Sequence[CallEvent], kind: str) -> str:
    """The deltas of a kind, joined."""
    return "".join(event.text for event in events if isinstance(event, Delta) and event.kind == kind)
