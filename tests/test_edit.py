"""Changing a passage of a file, and a change as people read it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eukhe.limits import DIFF_CHARS_MAX, DIFF_LINES_MAX
from eukhe.model.edit import Edited, NoEdit, diff, edit

lines = st.lists(st.sampled_from(["a", "b", "", "c d", "é", "\u2028"]), max_size=12).map("\n".join)


def why(text: str, old: str, new: str = "new") -> str:
    made = edit(text, old, new)
    assert isinstance(made, NoEdit)
    return made.why


def test_the_one_place_is_changed() -> None:
    assert Edited("one 2 three", 1) == edit("one two three", "two", "2")
    assert Edited("one  three", 1) == edit("one two three", "two", "")


def test_several_places_are_changed_only_if_all_are_wanted() -> None:
    assert Edited("x b x", 2) == edit("a b a", "a", "x", everywhere=True)
    assert why("a\nb\na\n", "a") == "`old` stands in it 2 times, at lines 1, 3: give more around it, or set `all`."
    assert "1, 2, 3, 4, 5, 6, 7, 8, 9, 10, …:" in why("a\n" * 30, "a")


def test_a_passage_that_is_not_there_is_answered_with_the_nearest_line() -> None:
    text = "def one():\n    return 1\n\ndef two():\n    return 2\n"
    assert "line 5: return 2" in why(text, "\treturn 2\n")
    assert "line 4: def two():" in why(text, "def twoo():\n    return 2")
    assert "`old` does not stand in it to the letter." == why(text, "nothing like it whatsoever")
    assert "`old` does not stand in it to the letter." == why("", "a")
    assert "`old` does not stand in it to the letter." == why("a\nb", "\n\n\n")


def test_nothing_to_change_is_said() -> None:
    assert "the same" in why("a", "a", "a")


def test_plain_newlines_stand_for_those_of_the_file() -> None:
    assert Edited("a\r\nx\r\ny\r\nd\r\n", 1) == edit("a\r\nb\r\nc\r\nd\r\n", "b\nc", "x\ny")
    assert Edited("a\r\nx\r\ny\r\n", 1) == edit("a\r\nb\r\n", "b", "x\ny")
    assert Edited("x\ny\nc\r\n", 1) == edit("a\nc\r\n", "a", "x\ny")  # of both kinds: as it is given


@given(lines, lines, lines, lines)
def test_all_around_the_passage_stays(before: str, old: str, new: str, after: str) -> None:
    text = before + old + after
    if old and old != new and text.count(old) == 1:
        assert Edited(before + new + after, 1) == edit(text, old, new)


@given(lines, lines)
def test_a_change_tells_how_to_get_from_one_to_the_other(before: str, after: str) -> None:
    """Every line of the old is there as ` ` or `-`, every line of the new as ` ` or `+`, in the hunks' places."""
    old, new = before.split("\n"), after.split("\n")
    shown = diff("x", before, after).split("\n")[2:]
    at = 0
    made: list[str] = []
    for line in shown:
        if line.startswith("@@"):
            start, count = map(int, line.split()[1][1:].split(","))
            first = start - 1
            assert count <= len(old)
            made += old[at:first]
            at = first
        elif line.startswith("\\"):
            continue
        elif line[0] in " -":
            assert old[at] == line[1:]
            at += 1
        if line[0] in " +" and not line.startswith("@@"):
            made.append(line[1:])
    rest = old[at:]
    assert [line for line in new if line] == [line for line in made + rest if line]


def test_a_new_file_is_shown_as_one() -> None:
    assert diff("x", None, "a\nb") == "--- no file\n+++ x\n@@ -1,0 +1,2 @@\n+a\n+b\n\\ no newline at its end"


def test_a_change_is_bounded_however_large() -> None:
    many = "".join(f"{number}\n" for number in range(100_000))
    shown = diff("x", many, many.replace("7", "8"))
    assert shown.endswith("[and more]")
    assert shown.count("\n") <= DIFF_LINES_MAX + 2
    assert len(diff("x", "a" * 1_000_000, "b" * 1_000_000)) == DIFF_CHARS_MAX
    assert "@@ -49998,7 +49998,7 @@" in diff("x", many, many.replace("\n50000\n", "\nfifty\n"))


@pytest.mark.parametrize("text", ["a", "a\n", ""])
def test_no_change_shows_none(text: str) -> None:
    assert diff("x", text, text) == "--- x\n+++ x"
