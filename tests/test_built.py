"""The set of built nodes against a plain set."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws.words import is_ready

from eukhe.model.built import Built
from eukhe.model.part import Part

nodes = st.lists(st.builds(Part, st.integers(0, 3), st.integers(0, 20)))


@given(nodes)
def test_it_has_what_was_added_and_tells_what_was_new(added: list[Part]) -> None:
    built, plain = Built(), set[Part]()
    for part in added:
        assert (part not in plain) == built.add(*part)
        plain.add(part)
        assert len(plain) == built.count
    everything = [Part(level, i) for level in range(5) for i in range(22)]
    assert [part for part in everything if part in plain] == [part for part in everything if built.has(*part)]


@given(nodes)
def test_its_runs_are_ascending_and_as_few_as_they_can_be(added: list[Part]) -> None:
    built = Built()
    for part in added:
        built.add(*part)
    for bounds in built.levels:
        assert sorted(set(bounds)) == bounds  # no run is empty, and no two touch
        assert len(bounds) % 2 == 0


@pytest.mark.rule("42")
@given(nodes)
def test_ready_merges_are_those_a_scan_of_the_tree_finds(added: list[Part]) -> None:
    built, sizes = Built(), dict.fromkeys(added, 1)
    for part in added:
        built.add(*part)
    expected = [part for level in range(1, 6) for i in range(21) if is_ready(part := Part(level, i), sizes)]
    assert expected == list(built.ready())


@given(nodes)
def test_written_down_and_read_again_it_is_the_same(added: list[Part]) -> None:
    built = Built()
    for part in added:
        built.add(*part)
    again = Built([list(bounds) for bounds in built.levels])
    assert (built.levels, built.count) == (again.levels, again.count)


def test_a_chat_built_in_order_is_one_run_a_level() -> None:
    built = Built()
    for i in range(10_000):
        built.add(0, i)
        if i % 2:
            built.add(1, i // 2)
    assert [[0, 10_000], [0, 5_000]] == built.levels
    assert 15_000 == built.count


def test_a_lost_line_splits_a_run_until_it_is_built_again() -> None:
    built = Built()
    for i in (0, 1, 3, 4):
        built.add(0, i)
    assert [[0, 2, 3, 5]] == built.levels
    built.add(0, 2)
    assert [[0, 5]] == built.levels
