"""What calls have cost, read from the files of the days: as it is given, two days are in memory."""

from pathlib import Path

from eukhe.cli.calls import calls_of
from eukhe.model.ledger import FOLDER, OVER, SENT, Note, Stage, encode
from eukhe.model.prices import Prices
from eukhe.model.talk import Usage


class Days:
    """The files of a chat's calls."""

    def __init__(self, chat: Path) -> None:
        self.chat = chat
        (chat / FOLDER).mkdir()

    def note(self, day: int, name: str, stage: Stage, time: str = "12:00", usage: Usage | None = None) -> None:
        note = Note(name, f"2026-10-{day:02}T{time}:00+02:00", stage, "turn", "openai/m", usage=usage)
        with (self.chat / FOLDER / f"2026-10-{day:02}.jsonl").open("ab") as file:
            file.write(encode(note))

    def found(self, since: str = "") -> list[tuple[str, bool]]:
        """The calls, and whether each has ended."""
        return [(call.head.id, call.is_over) for call in calls_of(self.chat, Prices(), since)]


def test_a_call_over_midnight_is_one_call_of_the_day_on_which_it_was_sent(tmp_path: Path) -> None:
    days = Days(tmp_path)
    days.note(1, "late", SENT, "23:59")
    days.note(1, "noon", SENT)
    days.note(1, "noon", OVER)
    days.note(2, "late", OVER, "00:01", Usage(1))
    days.note(2, "next", SENT)
    assert [("noon", True), ("late", True), ("next", False)] == days.found()
    assert [("next", False)] == days.found("2026-10-02")


def test_days_are_given_before_later_ones_are_read(tmp_path: Path) -> None:
    days = Days(tmp_path)
    for day in (1, 2, 3, 7):
        days.note(day, f"of {day}", SENT)
    calls = calls_of(tmp_path, Prices())
    assert "of 1" == next(calls).head.id
    days.note(7, "of 1", OVER)  # so late that nobody waited for it
    days.note(7, "another", SENT, "13:00")
    assert ["of 2", "of 3", "of 7", "another"] == [call.head.id for call in calls]


def test_the_first_day_of_all_is_one_like_any_other(tmp_path: Path) -> None:
    days = Days(tmp_path)
    (tmp_path / FOLDER / "0001-01-01.jsonl").touch()
    days.note(1, "noon", SENT)
    assert [("noon", False)] == days.found("0001-01-01")
