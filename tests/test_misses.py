"""Why a call did not read what it might have."""

from collections.abc import Sequence

import pytest

from eukhe.model.ledger import OVER, RESPONDED, SENT, Call, Note
from eukhe.model.misses import REASONS, Miss, Misses
from eukhe.model.talk import Usage

CLAUDE = "anthropic/claude-opus-5-5"


def call(
    name: str,
    minute: float,
    read: int,
    write: int,
    *,
    batch: int = 1,
    blocks: int = 10,
    model: str = CLAUDE,
    new: int = 5,
    first: bool = False,
    responds: float | None = None,
) -> Call:
    t = f"2026-10-05T12:{int(minute):02}:{int(minute % 1 * 60):02}+02:00"
    made = Call()
    head = ("turn", model, batch, blocks)
    made.notes = {
        SENT: Note(name, t, SENT, *head, first=first),
        OVER: Note(name, t, OVER, *head, Usage(new, 1, read, write)),
    }
    if responds is not None:
        at = f"2026-10-05T12:{int(responds):02}:{int(responds % 1 * 60):02}+02:00"
        made.notes[RESPONDED] = Note(name, at, RESPONDED, *head)
    return made


def misses(calls: Sequence[Call]) -> list[Miss]:
    told = Misses()
    return [miss for call in calls if (miss := told.take(call)) is not None]


FIRST = call("a", 0, 0, 1_000)


def test_the_first_call_pays_for_all() -> None:
    assert [Miss("a", "first call", 1_000)] == misses([FIRST])


def test_a_call_that_reads_what_was_there_is_no_miss() -> None:
    assert ["a"] == [miss.id for miss in misses([FIRST, call("b", 4, 1_000, 200, blocks=12)])]


@pytest.mark.parametrize(
    ("second", "miss"),
    [
        (call("b", 1, 300, 700, batch=2), Miss("b", "batch", 700)),
        (call("b", 6, 0, 1_200, batch=2), Miss("b", "pause", 1_000)),
        (call("b", 6, 0, 1_200), Miss("b", "pause", 1_000)),
        (call("b", 1, 0, 1_200, model="anthropic/other"), Miss("b", "model changed", 1_200)),
        (call("b", 1, 300, 1_700, blocks=30), Miss("b", "look-back", 700)),
        (call("b", 1, 300, 700, blocks=29), Miss("b", "unknown", 700)),
    ],
)
def test_each_miss_has_its_reason(second: Call, miss: Miss) -> None:
    assert [miss] == misses([FIRST, second])[1:]
    assert miss.reason in REASONS


def test_reading_an_entry_keeps_it() -> None:
    assert 1 == len(misses([FIRST, call("b", 4, 1_000, 0), call("c", 8, 1_000, 0)]))


def test_a_new_number_of_a_batch_whose_beginning_is_the_same_is_no_miss() -> None:
    assert 1 == len(misses([FIRST, call("b", 1, 1_000, 300, batch=2)]))


def test_a_shorter_call_should_read_no_more_than_there_is_for_it() -> None:
    assert 1 == len(misses([FIRST, call("b", 1, 0, 500, blocks=5)]))


def test_a_call_of_which_nothing_is_known_is_passed_over() -> None:
    unknown = Call()
    unknown.notes = {SENT: Note("x", "2026-10-05T12:01:00+02:00", SENT, "turn", "openai/x", 9, 1)}
    assert 1 == len(misses([FIRST, unknown, call("b", 2, 1_000, 0)]))


def test_where_nothing_is_said_of_writing_only_a_call_that_read_nothing_missed() -> None:
    def of(name: str, read: int, new: int) -> Call:
        return call(name, 1, read, 0, model="openai/m", new=new)

    row = [of("a", 0, 2_000), of("b", 1_024, 900), of("c", 0, 2_100), of("d", 0, 500)]
    assert [("a", "first call"), ("c", "unknown")] == [(miss.id, miss.reason) for miss in misses(row)]


def test_a_new_turn_misses_nothing_of_what_the_last_one_said() -> None:
    turns = [
        call("a", 0, 0, 1_000, blocks=12, first=True),
        call("b", 1, 1_000, 500, blocks=15),
        call("c", 2, 900, 100, blocks=13, first=True),
        call("d", 3, 920, 90, blocks=16, first=True),
    ]
    assert ["a"] == [miss.id for miss in misses(turns)]
    assert Miss("e", "unknown", 420) == misses([*turns, call("e", 4, 500, 600, blocks=17, first=True)])[-1]
    assert Miss("e", "pause", 920) == misses([*turns, call("e", 9, 0, 1_200, blocks=17, first=True)])[-1]


def test_what_is_still_being_written_is_not_missed() -> None:
    slow = call("b", 1, 1_000, 400, blocks=12, responds=3)
    early, late = (call("c", minute, 1_000, 400, blocks=12) for minute in (2, 4))
    assert ["a"] == [miss.id for miss in misses([FIRST, slow, early])]
    assert Miss("c", "unknown", 400) == misses([FIRST, slow, late])[-1]
