"""Lines that a provider writes: owner, compactors, worker processes, and the fake of its API, all of them real."""

from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import fake_script
import pytest
from fake_api import FakeApi

from eukhe.actors.behaviour import EDGE
from eukhe.actors.makers import owner_makers
from eukhe.actors.messages import Append, AppendDone, Attend, Entry, Settle, Settled
from eukhe.actors.opening import open_chat
from eukhe.actors.ports import Key
from eukhe.actors.threads import Threads
from eukhe.model.chat import ChatLimits
from eukhe.model.ledger import OVER, SENT, Note, read
from eukhe.model.prompt import texts
from eukhe.model.prompt_tasks import as_input
from eukhe.model.talk import NO_USAGE, Usage
from eukhe.world.clock import RealClock
from eukhe.world.disk import RealDisk
from eukhe.world.home import make_home
from eukhe.world.index import SqliteIndex
from eukhe.world.workers import workers_for

MODEL = "anthropic/claude-haiku-4-5"
SETTLED_S = 60.0
OURS = texts("Be brief.")
LONG = [f"message {k} of many, about file_{k}.py. " + f"It says {k}. " * 70 for k in range(24)]


@contextmanager
def owner(tmp_path: Path, api: FakeApi) -> Iterator[Threads]:
    chat = make_home(tmp_path / "home")
    with ExitStack() as stack:
        disk = stack.enter_context(closing(RealDisk(chat)))
        index, stores = (stack.enter_context(closing(SqliteIndex(chat / "index.db"))) for _ in range(2))
        workers = stack.enter_context(closing(workers_for(MODEL, (Key("anthropic", "k", api.base_url),))))
        opened = open_chat(disk, index, ChatLimits(), owner=True)
        clock = RealClock()
        makers = owner_makers(
            opened, disk, clock, index, stores, MODEL, paid=True, texts=OURS, effort="off", session="life"
        )
        system = Threads(makers, disk, clock, workers)
        try:
            system.begin()
            yield system
        finally:
            system.end()


def log(system: Threads, text: str) -> None:
    entries = (Entry("user", text),)
    assert isinstance(system.edge.ask("store", lambda to, ticket: Append(entries, to, ticket)), AppendDone)


def log_and_settle(system: Threads) -> None:
    edge = system.edge
    edge.tell("planner", Attend(EDGE, edge.ticket()))
    for text in LONG:
        log(system, text)
    settled = edge.ask("planner", lambda to, ticket: Settle(to, ticket, len(LONG), take=False), SETTLED_S)
    assert isinstance(settled, Settled)
    assert 0 == settled.left


def noted(tmp_path: Path) -> list[Note]:
    """What the ledger has written down."""
    files = sorted((tmp_path / "home" / "chat" / "calls").glob("*.jsonl"))
    return [note for file in files for note in read(file.read_bytes().splitlines())]


@pytest.mark.rule("26", "29", "30", "32", "35", "43")
def test_a_provider_writes_the_lines_each_call_is_counted_and_the_counts_are_its_own(tmp_path: Path) -> None:
    with FakeApi(now=lambda: 0.0) as api:
        with owner(tmp_path, api) as system:
            log_and_settle(system)
        requests = list(api.requests)
        spent = api.spent()
    assert {200} == {request.status for request in requests}
    notes = noted(tmp_path)
    sent = [note for note in notes if note.stage == SENT]
    over = [note for note in notes if note.stage == OVER]
    assert len(requests) == len(sent) == len({note.id for note in sent})
    assert Counter(note.id for note in sent) == Counter(note.id for note in over)
    assert spent == sum((note.usage or NO_USAGE for note in over), Usage())
    tree = b"".join(path.read_bytes() for path in sorted((tmp_path / "home" / "chat" / "tree").iterdir())).decode()
    for text in LONG:
        assert fake_script.line_of(as_input(f"user: {text}"))[:40] in tree
    assert {OURS.system} == {request.body["system"][0]["text"] for request in requests}
