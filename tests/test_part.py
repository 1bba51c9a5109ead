"""Nodes: what they cover, how they are named, who stands above and below them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eukhe.limits import LEVELS_MAX
from eukhe.model.part import Part, part_of
from eukhe.model.record import RecordError, decode_tree

parts = st.builds(Part, st.integers(0, 20), st.integers(0, 1 << 30))


@pytest.mark.rule("11")
@given(parts)
def test_a_node_covers_what_its_halves_cover(part: Part) -> None:
    left, right = part.parent.halves
    assert part in (left, right)
    assert (left.start, left.end) == (part.parent.start, right.start)
    assert right.end == part.parent.end
    assert part.end - part.start == part.messages == 2**part.level
    assert part.i * 2**part.level == part.start


@pytest.mark.rule("11")
def test_a_node_is_named_by_its_first_message_and_its_count() -> None:
    assert "0+1" == Part(0, 0).name
    assert "96+32" == Part(5, 3).name


@pytest.mark.rule("52")
@given(parts)
def test_a_name_gives_the_node_back(part: Part) -> None:
    first, count = part.name.split("+")
    assert part == part_of(int(first), int(count))


@pytest.mark.rule("52")
@pytest.mark.parametrize(("first", "count"), [(0, 0), (0, 3), (1, 2), (6, 4), (-4, 4), (0, -2), (5, 6)])
def test_what_is_no_power_of_two_at_a_multiple_of_it_names_no_node(first: int, count: int) -> None:
    assert part_of(first, count) is None


def test_a_message_has_no_halves() -> None:
    with pytest.raises(AssertionError):
        _ = Part(0, 5).halves


@pytest.mark.rule("42")
@given(st.lists(parts))
def test_nodes_are_ordered_by_level_then_index(given: list[Part]) -> None:
    assert sorted(given, key=lambda part: (part.level, part.i)) == sorted(given)


def test_no_line_of_a_log_names_a_level_that_no_chat_reaches() -> None:
    assert Part(LEVELS_MAX, 0) == decode_tree(b'{"l":%d,"i":0,"text":"a","size":1}' % LEVELS_MAX).part  # type: ignore[union-attr]
    for line in (b'{"l":4000000000000,"i":1,"text":"a","size":1}', b'{"merge":[[4000000000000,1]]}'):
        with pytest.raises(RecordError):
            decode_tree(line)
