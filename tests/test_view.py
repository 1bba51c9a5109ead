"""The view: lines, pairs, sizes, batches."""

import pytest
from hypothesis import given
from laws.history import AnyView, any_views
from laws.words import bytes_of, can_merge, unbuilt

from eukhe.limits import PLACEHOLDER_BYTES
from eukhe.model.part import Part
from eukhe.model.view import View


def view_of(lines: list[tuple[int, int]], sizes: dict[tuple[int, int], int]) -> View:
    view = View(sizes)
    for level, i in lines:
        view.put(level, i)
    return view


@given(any_views())
def test_a_view_knows_its_bytes_its_unbuilt_lines_and_the_pairs_that_can_merge(given: AnyView) -> None:
    view = given.view()
    view.fit(given.t, given.floor)
    assert bytes_of(view.parts(), given.sizes) == view.size
    assert [line.start for line in unbuilt(view.parts(), given.sizes)] == list(view.unbuilt)
    assert set(can_merge(view.parts(), given.sizes)) == view.pairs


@given(any_views())
def test_nodes_may_be_built_before_or_after_their_lines_come(given: AnyView) -> None:
    after = View({})
    for line in given.lines:
        after.put(*line)
    for part, size in reversed(given.sizes.items()):
        after.sizes[part] = size
        after.built(*part)
    before = given.view()
    assert (before.size, before.pairs, list(before.unbuilt)) == (after.size, after.pairs, list(after.unbuilt))


@pytest.mark.rule("18")
def test_an_unbuilt_line_counts_as_its_placeholder_and_a_built_one_as_its_text() -> None:
    view = view_of([(0, 0)], {})
    assert PLACEHOLDER_BYTES == view.size == 29
    view.sizes[0, 0] = 7
    view.built(0, 0)
    assert 7 == view.size


@pytest.mark.rule("19")
def test_of_equally_due_pairs_the_oldest_merges_first() -> None:
    # With T = 7, pair 0-3 of level 1 is due (7 - 3) / 2, pair 4-5 of level 0 (7 - 5) / 1: both 2.
    view = view_of([(1, 0), (1, 1), (0, 4), (0, 5), (0, 6)], {(2, 0): 1, (1, 2): 1})
    assert [Part(2, 0)] == view.fit(7, view.size - 1)


@pytest.mark.rule("19")
def test_a_merge_brings_up_the_pair_above_it_within_the_same_batch() -> None:
    view = view_of([(0, 0), (0, 1), (0, 2), (0, 3)], {(1, 0): 9, (1, 1): 9, (2, 0): 9})
    assert [Part(1, 0), Part(1, 1), Part(2, 0)] == view.fit(4, 9)
    assert [Part(2, 0)] == view.parts()


@pytest.mark.rule("24")
def test_a_pair_whose_parent_is_not_built_stays() -> None:
    view = view_of([(0, 0), (0, 1), (0, 2), (0, 3)], {(1, 1): 9})
    assert [Part(1, 1)] == view.fit(4, 0)
    assert [Part(0, 0), Part(0, 1), Part(1, 1)] == view.parts()


@pytest.mark.rule("23")
@pytest.mark.parametrize(("floor", "merges"), [(20, 0), (19, 1), (15, 1), (14, 2)])
def test_a_batch_stops_at_exactly_its_floor(floor: int, merges: int) -> None:
    sizes = dict.fromkeys([(0, 0), (0, 1), (0, 2), (0, 3), (1, 0), (1, 1)], 5)
    view = view_of([(0, 0), (0, 1), (0, 2), (0, 3)], sizes)
    assert merges == len(view.fit(4, floor))


def test_neighbours_of_one_level_that_are_not_halves_of_one_node_are_no_pair() -> None:
    view = view_of([(0, 0), (0, 1), (0, 2)], {(1, 0): 1, (1, 1): 1})
    assert {(1, 0)} == view.pairs


def test_due_is_compared_in_whole_numbers_however_long_the_chat() -> None:
    # As fractions of two to the 60 messages the two differ by less than a float can tell.
    left, right = Part(1, 0), Part(1, 1)
    view = view_of([(0, 0), (0, 1), (0, 2), (0, 3)], {left: 1, right: 1})
    assert [left, right] == view.fit(2**60, 0)


@given(any_views())
def test_a_copy_changes_alone(given: AnyView) -> None:
    view = given.view()
    copy = view.copy()
    copy.fit(given.t, 0)
    copy.append(sum(line.messages for line in given.lines))
    assert list(given.lines) == view.parts()
    assert bytes_of(given.lines, given.sizes) == view.size
    assert set(can_merge(given.lines, given.sizes)) == view.pairs


@pytest.mark.rule("D1")
def test_a_node_takes_the_place_of_all_lines_inside_it() -> None:
    view = view_of([(0, 0), (0, 1), (1, 1), (2, 1)], {(2, 0): 5, (3, 0): 6})
    assert [(0, 0), (0, 1), (1, 1)] == view.replace(Part(2, 0))
    assert [Part(2, 0), Part(2, 1)] == view.parts()
    assert 5 + PLACEHOLDER_BYTES == view.size
    assert {(3, 0)} == view.pairs
    assert [4] == list(view.unbuilt)


@pytest.mark.rule("D1")
@pytest.mark.parametrize("parent", [Part(2, 0), Part(1, 1), Part(1, 2), Part(1, 3), Part(3, 0)])
def test_a_node_that_lines_do_not_fill_or_that_is_not_built_replaces_nothing(parent: Part) -> None:
    # 4+2 is a line already; 6+2 and 0+8 reach past the end; 2+2 lies inside a line; 0+4 is not built.
    view = view_of([(2, 0), (1, 2), (0, 6)], {(1, 1): 1, (1, 2): 1, (1, 3): 1, (3, 0): 1})
    assert [] == view.replace(parent)
    assert [Part(2, 0), Part(1, 2), Part(0, 6)] == view.parts()


@given(any_views())
def test_only_lines_and_the_nodes_above_them_are_needed(given: AnyView) -> None:
    view = given.view()
    for part in given.sizes:
        inside = [line for line in given.lines if part.start <= line.start and line.end <= part.end]
        starts = part.start in view.lines
        assert (starts and inside != []) == view.needs(*part)
