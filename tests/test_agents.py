"""Subagents' names and logs: what is said comes in once, whoever dies, and no name leads anywhere else."""

from collections.abc import Sequence
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from store_kit import PNG, PNG_NAME

from eukhe.actors.agent_logs import FOLDER, AgentLogs, Head, head_line, path_of
from eukhe.actors.agents import Agents
from eukhe.actors.behaviour import Effect, Persist, Tell
from eukhe.actors.messages import (
    AgentLogged,
    AgentNamed,
    AgentSaid,
    BeginAgent,
    Entry,
    Msg,
    Ping,
    Pong,
    Sync,
    Synced,
    Wait,
)
from eukhe.errors import Bug
from eukhe.limits import AGENT_LOGS_KEPT, AGENT_NAME_CHARS_MAX, KEY_BYTES_MAX, TOOL_RESULT_CHARS_MAX
from eukhe.model.agent_name import agent_name
from eukhe.model.record import decode_main
from eukhe.sim.clock import SimClock
from eukhe.sim.disk import Crash, SimDisk
from tests.actor_kit import Did, Rig, told

both = pytest.mark.usefixtures("both_runtimes")
DATE = "2026-10-05T09:32:11+02:00"


class Bare:
    """An actor without a runtime, since one whose disk stops in its midst ends with all that there is."""

    def __init__(self, disk: SimDisk) -> None:
        self.did = Did(disk, SimClock(), lambda message: message)
        self._behaviour = Agents(disk, SimClock())

    def receive(self, message: Msg) -> list[Effect]:
        before = len(self.did.effects)
        for effect in self._behaviour.receive(message, 0.0):
            match effect:
                case Persist(path, data):
                    self.did.disk.append(path, data)
                case Tell(to, told):
                    self.did.tell(to, told)
        return self.did.effects[before:]


class Kit:
    """An agents actor on a disk; a new one on the same disk is the next owner's."""

    def __init__(self, disk: SimDisk | None = None, *, bare: bool = False) -> None:
        self.disk = disk or SimDisk()
        self.actor: Rig[Agents] | Bare = (
            Bare(self.disk) if bare else Rig(lambda: Agents(self.disk, SimClock()), name="agents", disk=self.disk)
        )

    def named(self, wanted: str, key: str) -> AgentNamed:
        (named,) = told(self.actor.receive(BeginAgent(wanted, key, "door", 3)), "door")
        assert isinstance(named, AgentNamed)
        assert 3 == named.ticket
        return named

    def name(self, wanted: str, key: str) -> str:
        named = self.named(wanted, key)
        assert "" == named.why
        return named.name

    def effects(self, name: str, *entries: Entry) -> list[Effect]:
        return self.actor.receive(AgentSaid(name, entries, "door", 4))

    def say(self, name: str, *entries: Entry) -> str:
        """Why it was not logged; empty where it was."""
        (logged,) = told(self.effects(name, *entries), "door")
        assert isinstance(logged, AgentLogged)
        assert 4 == logged.ticket
        return logged.why

    def texts(self, name: str) -> list[str]:
        log = AgentLogs(self.disk).find(name)
        assert log is not None
        return [record.text for record in log.records]

    def writes(self) -> list[Persist]:
        return [effect for effect in self.actor.did.effects if isinstance(effect, Persist)]


def said(*numbers: int) -> tuple[Entry, ...]:
    return tuple(Entry("eukhe", f"text {number}", key=f"k{number}") for number in numbers)


# --- names ---


@pytest.mark.rule("57")
@both
def test_a_name_is_the_wanted_one_where_no_other_has_it_in_small_or_capital_letters() -> None:
    kit = Kit()
    wanted = ["Rita", "Rita", "rITA", "Rita-2", "to do: tests/a.py", "../../etc/passwd", "", "12", "Jürgen", "小林"]
    assert [
        "Rita", "Rita-2", "rITA-3", "Rita-2-2", "to-do-tests-a-py", "etc-passwd", "Agent",
        "Agent-12", "Jurgen", "Agent-2",
    ] == [kit.name(name, f"key {k}") for k, name in enumerate(wanted)]  # fmt: skip
    assert 10 == len(kit.disk.names(FOLDER))


@pytest.mark.rule("57")
@both
def test_the_same_key_gets_the_same_name_also_of_the_next_owner() -> None:
    kit = Kit()
    assert ["Rita", "Rita-2", "Rita"] == [kit.name("Rita", key) for key in ("a", "b", "a")]
    assert 2 == len(kit.writes())
    later = Kit(kit.disk)
    assert ["Rita-2", "Rita", "Rita-3"] == [later.name("Rita", key) for key in ("b", "a", "c")]


@both
def test_a_name_whose_log_was_torn_as_it_began_is_given_to_nobody_else() -> None:
    kit = Kit()
    kit.disk.append(path_of("Rita"), head_line(Head("Rita", "a", DATE))[:20])
    assert "rita-2" == kit.name("rita", "a")
    assert "No agent Rita." == kit.say("Rita", *said(0))


@pytest.mark.rule("57")
@given(st.lists(st.text() | st.text("aAbB-_ .9", max_size=60), max_size=20))
def test_whatever_is_wanted_a_name_is_safe_as_a_files_and_no_two_are_alike(wanted: list[str]) -> None:
    taken: set[str] = set()
    for each in wanted:
        name = agent_name(each, taken)
        assert name.isascii()
        assert name[0].isalpha()
        assert name.replace("-", "").replace("_", "").isalnum()
        assert 1 <= len(name) <= AGENT_NAME_CHARS_MAX
        assert name.casefold() not in taken
        taken.add(name.casefold())


@given(st.from_regex(rf"[A-Za-z][A-Za-z0-9]{{0,{AGENT_NAME_CHARS_MAX - 1}}}", fullmatch=True))
def test_a_name_that_is_safe_stays_as_it_is(name: str) -> None:
    assert name == agent_name(name, ())


# --- what is said ---


@pytest.mark.rule("54")
@both
def test_what_is_said_is_a_line_as_the_main_log_has_it_in_one_write_before_it_is_answered() -> None:
    kit = Kit()
    name = kit.name("Rita", "a")
    entries = (
        Entry("user", "the task\0", key="k0"),
        Entry("echo", "x" * 40_000, key="k1"),
        Entry("user", "look", date="2025-01-02T03:04:05+01:00", key="k2", images=(PNG,)),
    )
    persist, answer = kit.effects(name, *entries)
    assert isinstance(persist, Persist)
    assert Tell("door", AgentLogged(4)) == answer
    assert path_of("Rita") == persist.path
    records = [decode_main(line) for line in persist.data.splitlines()]
    assert [
        (0, "user", "the task\ufffd", DATE, "k0", 17),
        (1, "echo", TOOL_RESULT_CHARS_MAX, DATE, "k1", TOOL_RESULT_CHARS_MAX + 6),
        (2, "user", f"look\n[image {PNG_NAME[:12]}]", "2025-01-02T03:04:05+01:00", "k2", 31),
    ] == [
        (r.i, r.kind, r.text if r.kind == "user" else len(r.text), r.date, r.key, r.size)  # type: ignore[union-attr]
        for r in records
    ]


@pytest.mark.rule("54")
@both
def test_what_is_said_twice_comes_in_once_in_one_order_in_two_and_to_the_next_owner() -> None:
    kit = Kit()
    name = kit.name("Rita", "a")
    assert "" == kit.say(name, *said(0, 1, 0))
    assert "" == kit.say(name, *said(1, 2))
    assert [Tell("door", AgentLogged(4))] == kit.effects(name, *said(0, 1, 2))
    later = Kit(kit.disk)
    assert "" == later.say(name, *said(2, 3))
    assert ["text 0", "text 1", "text 2", "text 3"] == later.texts(name)
    log = AgentLogs(kit.disk).find(name)
    assert log is not None
    assert [0, 1, 2, 3] == [record.i for record in log.records]


@pytest.mark.rule("54")
def test_what_another_owner_left_is_synced_before_it_counts() -> None:
    """It may have died between its write and its sync: the machine's next loss of power would take that away."""
    kit = Kit(bare=True)
    name = kit.name("Rita", "a")
    kit.disk.crash_at = kit.disk.operations + 2  # the sync
    with pytest.raises(Crash):
        kit.effects(name, *said(0))
    kit.disk.kill(Random(3))
    later = Kit(kit.disk, bare=True)
    assert "" == later.say(name, *said(0))
    assert "Rita" == later.name("Rita", "a")
    assert kit.disk.platter(path_of(name)) == kit.disk.read(path_of(name))
    assert 1 == len(later.writes())


@pytest.mark.rule("54")
@both
@pytest.mark.parametrize("cut", range(1, 60))
def test_a_torn_line_is_none_and_the_next_one_stands_by_itself(cut: int) -> None:
    kit = Kit()
    name = kit.name("Rita", "a")
    kit.say(name, *said(0, 1))
    whole = kit.disk.read(path_of(name))
    kit.disk.change(path_of(name), whole[:-cut].ljust(len(whole) if cut % 2 else 0, b"\0"))
    later = Kit(kit.disk)
    assert "" == later.say(name, *said(1, 2))
    assert ["text 0", "text 1", "text 2"] == later.texts(name)


@both
def test_of_many_logs_some_are_read_again_and_nothing_comes_in_twice() -> None:
    kit = Kit()
    names = [kit.name("Rita", f"key {k}") for k in range(AGENT_LOGS_KEPT + 3)]
    for number in (0, 1, 0):
        for name in names:
            assert "" == kit.say(name, *said(number))
    assert all(kit.texts(name) == ["text 0", "text 1"] for name in names)


@both
@pytest.mark.parametrize(
    ("entry", "why"),
    [
        (Entry("user", "text"), "an entry without a key"),
        (Entry("talk", "text", key="k"), "'talk' is no kind of message"),
        (Entry("user", "text", key="k" * (KEY_BYTES_MAX + 1)), "a key of more than"),
        (Entry("user", "text", date="yesterday", key="k"), "'yesterday' is no date"),
    ],
)
def test_what_can_not_be_logged_is_refused_and_with_it_all_that_came_along(entry: Entry, why: str) -> None:
    kit = Kit()
    name = kit.name("Rita", "a")
    assert kit.say(name, *said(0), entry).startswith(why)
    assert [] == kit.texts(name)


@both
@pytest.mark.parametrize("name", ["Nobody", "rita", "../main/2026-10-05", ""])
def test_nothing_is_logged_for_one_who_was_never_named(name: str) -> None:
    kit = Kit()
    kit.name("Rita", "a")
    assert f"No agent {name}." == kit.say(name, *said(0))
    assert ["Rita.jsonl"] == kit.disk.names(FOLDER)


# --- where it can't write ---


@both
@pytest.mark.parametrize("operation", [1, 2], ids=["write", "sync"])
def test_a_log_that_could_not_be_written_takes_nothing_more_and_the_others_do(operation: int) -> None:
    kit = Kit()
    names = [kit.name(name, name) for name in ("Rita", "Otto")]
    kit.say(names[0], *said(0))
    kit.disk.fail_at = kit.disk.operations + operation
    why = kit.say(names[0], *said(1))
    assert f"{path_of('Rita')}: Input/output error (errno 5)" == why
    assert why == kit.say(names[0], *said(1))
    assert why == kit.named("Rita", "Rita").why
    assert "" == kit.say(names[1], *said(1))
    # The next owner finds out what the disk holds.
    later = Kit(kit.disk)
    assert "" == later.say(names[0], *said(1, 2))
    assert ["text 0", "text 1", "text 2"] == later.texts(names[0])


@both
def test_one_whose_log_can_not_be_begun_is_told_so() -> None:
    kit = Kit()
    kit.disk.fail_at = kit.disk.operations + 1
    why = kit.named("Rita", "a").why
    assert f"{path_of('Rita')}: Input/output error (errno 5)" == why
    assert why == kit.named("Rita", "a").why
    assert why == kit.say("Rita", *said(0))
    assert "Rita-2" == kit.name("Rita", "b")


# --- across crashes ---


class Said:
    """What a client has said and heard the answer of."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}
        self.logged: dict[str, list[str]] = {}


@pytest.mark.rule("54")
@pytest.mark.parametrize("power", [False, True], ids=["killed", "power"])
@pytest.mark.parametrize("seed", range(12))
def test_whenever_an_owner_dies_nothing_is_lost_and_nothing_comes_twice(seed: int, power: bool) -> None:
    dice = Random(seed)
    disk, heard = SimDisk(), Said()
    kit, crashes = Kit(disk, bare=True), 0
    for first in range(0, 75, 3):
        agent, numbers = dice.choice("abc"), range(first, first + dice.randint(1, 3))
        disk.crash_at = disk.operations + dice.randint(1, 6)
        while True:  # an order that is not answered goes to the next owner
            try:
                _speak(kit, heard, agent, numbers)
                break
            except Crash:
                crashes += 1
                disk.lose_power(dice) if power else disk.kill(dice)
                kit = Kit(disk, bare=True)
                disk.crash_at = disk.operations + dice.randint(1, 6)
    disk.crash_at = None
    assert crashes > 3
    assert heard.names == {agent: Kit(disk, bare=True).name("Rita", agent) for agent in heard.names}
    for name, texts in heard.logged.items():
        assert texts == kit.texts(name)


def _speak(kit: Kit, heard: Said, agent: str, numbers: Sequence[int]) -> None:
    name = kit.name("Rita", agent)
    assert name == heard.names.setdefault(agent, name)
    assert "" == kit.say(name, *said(*numbers))
    heard.logged.setdefault(name, []).extend(f"text {number}" for number in numbers)


# --- as every actor ---


@both
def test_it_answers_as_every_actor_does() -> None:
    kit = Kit()
    assert [Tell("supervisor", Pong(1))] == kit.actor.receive(Ping("supervisor", 1))
    assert [Tell("supervisor", Synced(2))] == kit.actor.receive(Sync("supervisor", 2))
    with pytest.raises(Bug, match="the agents actor does not know"):
        kit.actor.receive(Wait("door", 1))
