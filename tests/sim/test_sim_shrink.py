"""A failing run is made as short as it can be, and written down."""

from pathlib import Path

import pytest

from eukhe.actors.store_recent import Recent
from eukhe.sim.chaos import Outcome, run
from eukhe.sim.options import draw
from eukhe.sim.shrink import shrink
from eukhe.sim.tape import Tape, TapeError, read, write


@pytest.fixture
def failed(monkeypatch: pytest.MonkeyPatch) -> Outcome:
    """A run in which what is sent again is logged again."""
    monkeypatch.setattr(Recent, "id_of_key", lambda self, key: None)
    outcomes = (run(draw(seed, 800)) for seed in range(1, 50))
    return next(outcome for outcome in outcomes if outcome.failure and len(outcome.options.odds) > 9)


def test_a_shrunk_run_fails_in_the_same_way_with_hardly_anything_left(failed: Outcome) -> None:
    short, runs = shrink(failed)
    assert failed.failure is not None
    assert short.failure is not None
    assert failed.failure.check == short.failure.check == "key-once"
    assert len(short.options.odds) <= 2
    assert short.steps < failed.steps
    assert short.options.messages < failed.options.messages
    assert runs <= 600
    assert shrink(failed) == (short, runs)


def test_only_injections_that_are_kept_are_injected(failed: Outcome) -> None:
    short = shrink(failed).outcome
    assert all(count <= 2 for count in short.injected.values())
    assert short == run(short.options)


def test_what_can_not_be_shrunk_stays(failed: Outcome) -> None:
    def never(options: object) -> Outcome:
        tries.append(options)
        return Outcome(failed.options, None, 0, 0, {}, {}, "")

    tries: list[object] = []
    assert failed == shrink(failed, never).outcome
    assert len(tries) > 5


def test_a_tape_is_read_as_it_was_written(tmp_path: Path) -> None:
    tape = Tape(draw(3, 100, only=["kill"]), "key-once")
    write(tmp_path / "tape", tape)
    assert tape == read(tmp_path / "tape")


@pytest.mark.parametrize(
    ("found", "instead", "said"),
    [
        (b'"kill"', b'"nothing"', "names faults that there are not: nothing"),
        (b'"view": 0', b'"view": 9', "a view"),
        (b'"seed"', b'"sead"', "is no tape"),
    ],
)
def test_a_tape_that_says_what_can_not_be_is_none(tmp_path: Path, found: bytes, instead: bytes, said: str) -> None:
    path = tmp_path / "tape"
    seed = next(seed for seed in range(99) if draw(seed).view == 0)
    write(path, Tape(draw(seed, 100, only=["kill"])))
    path.write_bytes(path.read_bytes().replace(found, instead))
    with pytest.raises(TapeError, match=said):
        read(path)


def test_a_tape_that_can_not_be_written_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(TapeError, match="Is a directory"):
        write(tmp_path, Tape(draw(1)))
