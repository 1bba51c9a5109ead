"""Subagents' chats on a real disk: an owner logs them, `chat zoom` shows them, and no other command minds them."""

import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from eukhe.actors.behaviour import EDGE
from eukhe.actors.messages import (
    AgentLogged,
    AgentNamed,
    AgentSaid,
    Append,
    AppendDone,
    At,
    BeginAgent,
    DateOf,
    Entry,
    Look,
    Looking,
    Msg,
    Search,
    Seen,
    Zoom,
    ZoomAgent,
)
from eukhe.cli.asking import Line
from eukhe.cli.command import Given
from eukhe.cli.config_list import settings_of
from eukhe.cli.owner import own
from eukhe.limits import EDGE_WAIT_S, PIECE_CHARS_MAX
from eukhe.model.when import date_text
from tests.chat_kit import eukhe, logs, messages

LONG = "word\n" * PIECE_CHARS_MAX
SAID = (("user", "find the lantern"), ("tool", 'read {"path": "a.py"}'), ("echo", "\x1b[31mred"), ("eukhe", LONG))


class Orders:
    """What is asked of an owner, one order after the other."""

    def __init__(self, line: Line) -> None:
        self._line = line
        self._ticket = 0

    def ask(self, to: str, order: Callable[[str, int], Msg]) -> Msg:
        self._ticket += 1
        self._line.tell(to, order(EDGE, self._ticket))
        return self._line.hear(EDGE_WAIT_S)

    def see(self, what: Looking) -> Seen:
        seen = self.ask("index", lambda me, ticket: Look(what, me, ticket))
        assert isinstance(seen, Seen)
        return seen


@pytest.fixture
def working(filled: Path) -> Path:
    """A home whose subagent Rita has worked, under an owner that has ended."""
    entries = tuple(Entry(kind, text, key=f"k{k}") for k, (kind, text) in enumerate(SAID))
    with own(filled, settings_of(Given(filled))) as line:
        orders = Orders(line)
        named = orders.ask("agents", lambda me, ticket: BeginAgent("Rita", "key", me, ticket))
        assert named == AgentNamed(1, "Rita")
        assert AgentLogged(2) == orders.ask("agents", lambda me, ticket: AgentSaid("Rita", entries, me, ticket))
    return filled


@pytest.mark.rule("54")
def test_a_subagents_whole_chat_is_shown_or_a_page_of_it(working: Path) -> None:
    shown = eukhe(working, "chat", "zoom", "rita")
    assert (0, "") == (shown.code, shown.err)
    assert shown.out.startswith('user: find the lantern\ntool: read {"path": "a.py"}\necho: ')
    assert shown.out.endswith(f"eukhe: {LONG}\n")
    page = eukhe(working, "chat", "zoom", "Rita", "6")
    assert page.out.endswith("\n[page 6 of 6]\n")
    agent = eukhe(working, "chat", "zoom", "Rita", "--json").json["agent"]
    assert ("Rita", [0, 1, 2, 3]) == (agent["name"], [said["id"] for said in agent["messages"]])
    assert list(SAID) == [(said["kind"], said["text"]) for said in agent["messages"]]


@pytest.mark.rule("54")
@pytest.mark.parametrize(
    ("args", "said"), [(("Otto",), "No agent Otto."), (("Rita", "9"), "No page 9: the chat of Rita has 6 pages.")]
)
def test_what_is_not_there_of_a_subagent_is_said_in_one_line(working: Path, args: tuple[str, ...], said: str) -> None:
    assert (1, "", f"eukhe: {said}\n") == eukhe(working, "chat", "zoom", *args)


@pytest.mark.rule("54")
def test_no_other_command_minds_subagents_logs_and_nobody_else_may_read_them(working: Path) -> None:
    (log,) = (working / "chat" / "agents").iterdir()
    assert (0o600, 0o700) == tuple(stat.S_IMODE(path.stat().st_mode) for path in (log, log.parent))
    verified = eukhe(working, "chat", "verify")
    assert (0, "") == (verified.code, verified.err)
    exported = eukhe(working, "chat", "export")
    assert (logs(working, "main").decode(), "") == (exported.out, exported.err)
    assert 60 == eukhe(working, "chat", "status", "--json").json["messages"]


@pytest.mark.rule("52", "53", "54", "56", "D15")
def test_an_owner_shows_its_memory_and_at_once_what_was_just_logged(working: Path) -> None:
    first = messages(working)[0]
    with own(working, settings_of(Given(working))) as line:
        orders = Orders(line)
        assert f"{first['kind']}: {first['text']}" == orders.see(Zoom(0, 1)).text
        assert ["0+2", "2+2"] == [row.partition("|")[0] for row in orders.see(Zoom(0, 4)).text.split("\n")]
        assert date_text(first["date"]) == orders.see(DateOf(0)).text
        assert orders.see(At("2026-10-01 00:00:05Z")).text.startswith("1|2026-10-01 00:00:01 +00:00|eukhe: word 1 of")
        assert orders.see(ZoomAgent("Rita")).text.startswith("user: find the lantern\n")
        for number in range(60, 80):
            entry = Entry("user", f"sawtooth{number} lies in the orchard")
            done = orders.ask("store", lambda me, ticket, entry=entry: Append((entry,), me, ticket))  # type: ignore[misc]
            assert isinstance(done, AppendDone)
            found = orders.see(Search(f"sawtooth{number}"))
            assert (f"{number}|", True) == (found.text[:3], found.found)
            assert f"user: {entry.text}" == orders.see(Zoom(number, 1)).text
