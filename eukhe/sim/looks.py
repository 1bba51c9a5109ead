"""A client's looks into the memory: what each shows is what the disk has, and all that was there when it was asked.

More may have come until it is answered, so what is right is one of the answers from then to now.
"""

from collections.abc import Sequence
from random import Random
from typing import TYPE_CHECKING, Final

import msgspec

from eukhe.actors.index import PARTIAL
from eukhe.actors.look import Hit
from eukhe.actors.messages import At, DateOf, Look, Looking, Search, Seen, Zoom, ZoomAgent
from eukhe.limits import LOOK_HITS_MAX
from eukhe.model.part import Part, part_of
from eukhe.model.record import MessageRecord
from eukhe.model.render import line
from eukhe.model.snippet import snippet
from eukhe.model.text import split
from eukhe.model.verify import INDEX_FILE
from eukhe.model.when import date_s, date_text, nearness
from eukhe.sim.checks import CheckFailed

if TYPE_CHECKING:
    from eukhe.sim.clients import Client

NOBODY: Final = "Nobody"


class _There(msgspec.Struct):
    """What was on the disk when a look was sent: how many messages, of the zoomed line's halves those built, how much
    the agent had said."""

    messages: int
    built: frozenset[Part] = frozenset()
    said: int = 0


class Looks:
    """Those of one client."""

    def __init__(self, client: "Client") -> None:
        self._client = client
        self._machine = client.machine
        self._there: dict[int, _There] = {}

    def order(self) -> None:
        """A look of some kind, at something that is there or is not."""
        self._send(self._chosen(self._client.random, self._machine.watch.ledger.messages))

    def order_newest(self, i: int) -> None:
        """A look, mostly, at what was acknowledged just now."""
        if self._client.random.random() < 3 / 4:  # number: mostly
            self._send(self._client.random.choice((Zoom(i, 1), DateOf(i))))

    def _send(self, what: Looking) -> None:
        client, ledger = self._client, self._machine.watch.ledger
        there = _There(len(ledger.messages))
        match what:
            case Zoom(first, count) if (part := part_of(first, count)) and part.level:
                there.built = frozenset(half for half in part.halves if half in ledger.nodes)
            case ZoomAgent(name):
                there.said = len(self._machine.watch.agents.labels(name) or ())
        ticket = client.outbox.ticket()
        self._there[ticket] = there
        client.order(Look(what, client.name, ticket))

    def heard(self, order: Look, seen: Seen) -> None:
        there = self._there.pop(order.ticket)
        if seen.found or not _is_trouble(seen.text):
            self._check(order.what, seen, there)

    def _chosen(self, dice: Random, messages: Sequence[MessageRecord]) -> Looking:
        kind = dice.choice((Zoom, Zoom, ZoomAgent, DateOf, Search, At))
        if kind is ZoomAgent:
            return ZoomAgent(dice.choice((NOBODY, *self._machine.watch.agents.said)))
        if kind is Zoom or kind is DateOf or not messages:
            i, level = dice.randint(0, len(messages) + 1), dice.choice((0, 0, 1, 2, 3))  # number: messages, and lines
            return DateOf(i) if kind is DateOf else Zoom(i >> level << level, 1 << level)
        record = dice.choice(messages)
        return Search(_word(record)) if kind is Search else At(record.date)

    # --- what must hold ---

    def _check(self, what: Looking, seen: Seen, there: _There) -> None:
        messages = self._machine.watch.ledger.messages
        match what:
            case Zoom(first, count) if (part := part_of(first, count)) and part.level:
                self._check_lines(part, seen, there)
            case Search() | At() if seen.text.endswith(PARTIAL):
                self._check_some(what, seen)
            case ZoomAgent(name):
                self._check_agent(name, seen, there)
            case _:
                right = [self._right(what, t) for t in range(there.messages, len(messages) + 1)]
                _expect(what, right, (seen.text, seen.images, seen.found))

    def _right(self, what: Looking, t: int) -> tuple[str, tuple[bytes, ...], bool]:
        """What is right where there are `t` messages."""
        messages = self._machine.watch.ledger.messages[:t]
        match what:
            case Zoom(i) if i < t:
                images = tuple(self._machine.disk.platter(f"images/{name}") for name in messages[i].images)
                return messages[i].label, images, True
            case Zoom(i, count):
                return f"No line {i}+{count}.", (), False
            case DateOf(i):
                return (date_text(messages[i].date), (), True) if i < t else (f"No message {i}.", (), False)
            case Search(words):
                found = [record for record in reversed(messages) if words in record.text.casefold().split()]
                return _listed(found[:LOOK_HITS_MAX], words)
            case At(date):
                at_s = date_s(date)
                assert at_s is not None
                dated = [(date_s(record.date) or 0, record.i) for record in messages]
                nearest = sorted(sorted(dated, key=nearness(at_s))[:LOOK_HITS_MAX])
                return _listed([messages[i] for _, i in nearest])
        raise AssertionError(what)

    def _check_lines(self, part: Part, seen: Seen, there: _There) -> None:
        if not seen.found:
            if part.end <= there.messages:
                raise CheckFailed("looks", f"the lines below {part.name}", seen.text)
            return
        nodes = self._machine.watch.ledger.nodes
        for half, shown in zip(part.halves, seen.text.split("\n"), strict=True):
            right = [line(half, nodes[half].text)] if half in nodes else []
            if half not in there.built:
                right.append(line(half, None))
            _expect(half.name, right, shown)

    def _check_some(self, what: Looking, seen: Seen) -> None:
        """The index can't be written: some are missing, and each that is there is right."""
        messages = self._machine.watch.ledger.messages
        words = what.words if isinstance(what, Search) else ""
        for shown in seen.text.split("\n")[:-1] if seen.found else ():
            _expect(what, [_hit(messages[int(shown.partition("|")[0])], words)], shown)

    def _check_agent(self, name: str, seen: Seen, there: _There) -> None:
        labels = self._machine.watch.agents.labels(name, synced=False)  # what is written may be seen
        if labels is None:
            _expect(name, [(f"No agent {name}.", False)], (seen.text, seen.found))
            return
        right = []
        for said in range(there.said, len(labels) + 1):
            pages = split("\n".join(labels[:said]))
            following = f'; zoom("{name}", 2) gives the next' if len(pages) > 1 else ""
            right.append((f"{pages[0]}\n[page 1 of {len(pages)}{following}]", True))
        _expect(name, right, (seen.text, seen.found))


def _is_trouble(text: str) -> bool:
    """It could not be read: the index led astray, or the disk failed."""
    return text.startswith(INDEX_FILE) or "(errno " in text


def _expect(what: object, right: Sequence[object], found: object) -> None:
    if found not in right:
        raise CheckFailed("looks", f"{what}: one of {right}", found)


def _listed(records: Sequence[MessageRecord], words: str = "") -> tuple[str, tuple[bytes, ...], bool]:
    if records:
        return "\n".join(_hit(record, words) for record in records), (), True
    return f"No message has all of these words: {words}", (), False


def _hit(record: MessageRecord, words: str) -> str:
    return str(Hit(record.i, date_text(record.date), record.kind, snippet(record.text, words)))


def _word(record: MessageRecord) -> str:
    """The first word of its text, which in most is a number that no other has."""
    return next(word for word in record.text.casefold().split() if word.isalnum())
