"""Subagents of clients: what they say is logged once, in a log that is theirs alone, whoever dies."""

from typing import TYPE_CHECKING, Any, Final

import orjson

from eukhe.actors.messages import AgentLogged, AgentNamed, AgentSaid, BeginAgent, Entry, Msg
from eukhe.sim.checks import CheckFailed
from eukhe.sim.disk import SimDisk

if TYPE_CHECKING:
    from eukhe.sim.clients import Client

WANTED: Final = ("Rita", "rita", "Otto", "../main", "", "7")
FOLDER: Final = "agents"


class AgentsTruth:
    """What clients heard. `names`: by the key that each was given under; `said`: by name, the texts by their keys."""

    def __init__(self, disk: SimDisk) -> None:
        self.names: dict[str, str] = {}
        self.said: dict[str, dict[str, str]] = {}
        self._disk = disk

    def named(self, key: str, name: str) -> None:
        if self.names.setdefault(key, name) != name:
            raise CheckFailed("agents", f"{self.names[key]} again for {key}", name)
        others = {other.casefold() for given, other in self.names.items() if given != key}
        if name.casefold() in others:
            raise CheckFailed("agents", f"a name that is not one of {others}", name)
        self.said.setdefault(name, {})
        self.check(name)

    def logged(self, name: str, entries: tuple[Entry, ...]) -> None:
        self.said[name].update((entry.key or "", entry.text) for entry in entries)
        self.check(name)

    def labels(self, name: str, *, synced: bool = True) -> list[str] | None:
        """All that an agent has on the disk; None where it has no log. `synced`: and can't be lost."""
        if f"{name}.jsonl" not in self._disk.names(FOLDER):
            return None
        _, *records = self._lines(name, synced=synced) or [{}]  # its first line may be under way
        return [f"{record['kind']}: {record['text']}" for record in records]

    def check_all(self) -> None:
        for name in self.said:
            self.check(name)

    def check(self, name: str) -> None:
        """All that was acknowledged is there, each key once, after the line that says whose log it is."""
        head, *records = self._lines(name) or [{}]
        key = next(key for key, given in self.names.items() if given == name)
        if (head.get("agent"), head.get("key")) != (name, key):
            raise CheckFailed("agents", f"the log of {name}, begun for {key}", head)
        keys = [record["key"] for record in records]
        if len(set(keys)) < len(keys) or [record["i"] for record in records] != list(range(len(records))):
            raise CheckFailed("agents", f"in the log of {name} each key once, under ids from 0", records)
        there = {record["key"]: record["text"] for record in records}
        if not self.said[name].items() <= there.items():
            raise CheckFailed("agents", self.said[name], there)

    def _lines(self, name: str, *, synced: bool = True) -> list[dict[str, Any]]:
        """The log's lines; what is none was torn."""
        read = self._disk.platter if synced else self._disk.read
        return [found for line in read(f"{FOLDER}/{name}.jsonl").split(b"\n") if (found := _json(line)) is not None]


def _json(line: bytes) -> dict[str, Any] | None:
    try:
        found: dict[str, Any] = orjson.loads(line)
    except orjson.JSONDecodeError:
        return None
    return found


class Agents:
    """One client's. One that could not log something is given up."""

    def __init__(self, client: "Client") -> None:
        self._client = client
        self._truth = client.machine.watch.agents
        self._begun = 0
        self._texts = 0
        self._at_work: list[str] = []
        self._said: list[Entry] = []

    def order(self) -> None:
        """One begins, or says something; now and then what was said before."""
        client, random = self._client, self._client.random
        if not self._at_work or random.random() < 1 / 4:  # number: now and then
            self._begun += 1
            key = f"{client.name}-agent-{self._begun}"
            client.order(BeginAgent(random.choice(WANTED), key, client.name, client.outbox.ticket()))
            return
        name = random.choice(self._at_work)
        entries = tuple(self._entry(name) for _ in range(random.randint(1, 2)))
        self._said += entries
        again = tuple(entry for entry in self._said[-4:] if (entry.key or "").startswith(f"{name}/"))  # number: some
        order = random.choice((entries, (*again, *entries)))
        client.order(AgentSaid(name, order, client.name, client.outbox.ticket()))

    def heard(self, order: Any, answer: Msg) -> None:
        match answer:
            case AgentNamed(_, name, ""):
                self._truth.named(order.key, name)
                self._at_work.append(name)
            case AgentLogged(_, ""):
                self._truth.logged(order.name, order.entries)
            case AgentNamed() | AgentLogged():
                self._failed(order, answer.why)

    def _failed(self, order: Any, why: str) -> None:
        if "(errno " not in why:
            raise CheckFailed("agents", f"{order} is done, or a disk that failed", why)
        self._client.machine.faults.meet("disk-error")
        if isinstance(order, AgentSaid) and order.name in self._at_work:
            self._at_work.remove(order.name)

    def _entry(self, name: str) -> Entry:
        self._texts += 1
        text = f"{self._texts} of {self._client.name}"
        return Entry("eukhe", text, key=f"{name}/{self._client.name}/{self._texts}")
