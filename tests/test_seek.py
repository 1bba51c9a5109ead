"""Zooming by the words of a question."""

from eukhe.model.part import Part
from eukhe.model.seek import Seeker

FILLER = "nothing to say about it … "


def test_the_line_that_has_the_rarest_words_is_opened_first_then_the_better_half() -> None:
    lines = {
        Part(1, 0): f"user: {FILLER}",
        Part(1, 1): f"eukhe: {FILLER} the lighthouse has lamps",
        Part(1, 2): f"echo: {FILLER} lamps",
        Part(0, 2): f"eukhe: {FILLER}",
        Part(0, 3): f"eukhe: {FILLER} the lighthouse, its lamps",
    }
    view = [Part(1, 0), Part(1, 1), Part(1, 2)]
    seeker = Seeker(view, lambda part: lines.get(part, ""), "Lamps of the lighthouse?")
    assert [Part(1, 1), Part(0, 3)] == [seeker.next(), seeker.next()]


def test_a_line_that_hides_nothing_is_not_opened() -> None:
    seeker = Seeker([Part(0, 0), Part(0, 1)], lambda part: "user: the lamps", "Which lamps?")
    assert seeker.next() is None


def test_every_line_is_opened_once() -> None:
    seeker = Seeker([Part(2, 0)], lambda part: FILLER, "Which lamps?")
    opened = [seeker.next() for _ in range(8)]
    assert {Part(2, 0), Part(1, 0), Part(1, 1), *(Part(0, i) for i in range(4)), None} == set(opened)
    assert len(set(opened)) == len(opened)
