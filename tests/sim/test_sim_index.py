"""The index in dicts answers as the real one does, and loses what was not committed."""

from random import Random

import pytest

from eukhe.actors.ports import Checkpoint, Index, Place, Placed, Position
from eukhe.errors import IndexFailed
from eukhe.model.part import Part
from eukhe.model.record import GapRecord, VoidRecord, message, node
from eukhe.model.when import date_s
from eukhe.sim.index import IndexFile, SimIndex
from eukhe.world.index import SqliteIndex

MAIN, TREE = "main/2026-10-05.jsonl", "tree/2026-10-05.jsonl"
LONG = "a text that repeats itself " * 20
STATE = Checkpoint(b"{}", Position(MAIN, 7, 8), Position(TREE, 9, 10))


def rows(dice: Random) -> list[Placed]:
    """Messages and gaps with ids that rise, nodes that come twice and are voided."""
    found = []
    next_id = 0
    for at in range(40):
        place = Place(dice.choice((MAIN, TREE)), at * 10, 10)
        part = Part(dice.randrange(2), dice.randrange(4))
        match dice.randrange(6):
            case 0 | 1:
                key = dice.choice((None, "a", "b", f"k{at}", f"k{at}#1/2", f"k{at - 1}#2/2"))
                text = dice.choice(("hello there", "well", LONG))
                date = dice.choice(("never", *(f"2026-10-0{day}T09:32:11+02:00" for day in range(1, 8))))
                found.append(Placed(message(next_id, "user", text, date, key), place))
                next_id += 1
            case 2 | 3:
                found.append(Placed(node(part, "x"), place))
            case 4:
                found.append(Placed(VoidRecord((part, Part(0, 0))), place))
            case 5:
                found.append(Placed(GapRecord(next_id, next_id + 2), place))
                next_id += 2
    return found


DAY_S = 86_400


def answers(index: Index) -> list[object]:
    noon = date_s("2026-10-04T09:32:11+02:00") or 0
    keys = ["a", "b", "c", *(f"k{at}{piece}" for at in range(40) for piece in ("", "#1/2", "#2/2"))]
    return [
        index.counts(),
        index.checkpoint(),
        [index.message_place(i) for i in range(50)],
        [index.node_place(Part(level, i)) for level in range(2) for i in range(4)],
        [index.id_of_key(key) for key in keys],
        [index.id_of_text(text) for text in (LONG, "well", LONG[1:])],
        sorted(index.search("hello", 100)),
        index.search(" ", 100),
        [
            index.nearest(noon + by, limit)
            for by in (-(10**9), -DAY_S, 0, 1, DAY_S // 2, 10**9)
            for limit in (1, 3, 100)
        ],
    ]


def test_it_answers_as_sqlite_does() -> None:
    for seed in range(100):
        dice = Random(seed)
        file = IndexFile()
        sim, real = SimIndex(file), SqliteIndex(None)
        fed = rows(dice)
        while fed:
            count = dice.randint(1, 15)
            batch, fed = fed[:count], fed[count:]
            for index in (sim, real):
                index.feed(batch)
            assert answers(real) == answers(sim), f"seed {seed}"
            if dice.random() < 0.5:
                noted = dice.choice((None, STATE))
                for index in (sim, real):
                    index.commit(noted)
                assert answers(sim) == answers(SimIndex(file)), f"seed {seed}"
        for index in (sim, real):
            index.clear()
        assert answers(real) == answers(sim)
        real.close()


def test_only_what_was_committed_is_seen_by_others_and_outlives_a_crash() -> None:
    file = IndexFile()
    writer = SimIndex(file)
    first, second = (
        Placed(message(i, "user", "hi", "2026-10-05T09:32:11+02:00"), Place(MAIN, i * 10, 10)) for i in range(2)
    )
    writer.feed([first])
    writer.commit(STATE)
    reader = SimIndex(file)
    writer.feed([second])
    assert (2, 0) == writer.counts()
    assert (1, 0) == reader.counts() == SimIndex(file).counts()
    writer.commit()
    assert (2, 0) == reader.counts()


def test_lost_power_takes_the_last_commits_or_all() -> None:
    left = set()
    for seed in range(50):
        file = IndexFile()
        writer = SimIndex(file)
        for i in range(3):
            writer.feed([Placed(message(i, "user", "hi", "2026-10-05T09:32:11+02:00"), Place(MAIN, i * 10, 10))])
            writer.commit(STATE)
        file.lose_power(Random(seed))
        index = SimIndex(file)
        left.add(index.counts()[0])
        assert (STATE if index.counts()[0] else None) == index.checkpoint()
    assert {0, 1, 2, 3} == left


def test_a_full_disk_ends_its_writing_and_what_is_committed_stays() -> None:
    file = IndexFile()
    writer = SimIndex(file)
    first, second, third = (
        Placed(message(i, "user", "hi", "2026-10-05T09:32:11+02:00"), Place(MAIN, i * 10, 10)) for i in range(3)
    )
    writer.feed([first])
    writer.commit(STATE)
    writer.feed([second])
    file.full = True
    with pytest.raises(IndexFailed, match="full"):
        writer.commit()
    file.full = False
    with pytest.raises(IndexFailed, match="full"):
        writer.feed([third])
    assert (1, 0) == writer.counts()
    writer.clear()
    writer.feed([first])
    assert (1, 0) == writer.counts()
