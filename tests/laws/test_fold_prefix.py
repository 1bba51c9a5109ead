"""Of a log cut off anywhere a start finds the view that was live then, and after it the lines of the later messages."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eukhe.model.fold import NodeSize, fold
from eukhe.model.part import Part
from laws.history import History, histories, memory_of
from laws.words import bytes_of, is_ready, nodes


@pytest.mark.rule("1", "D1", "D8", "F1")
@given(histories(), st.integers(0, 9_999), st.integers(0, 9_999))
def test_a_tree_log_cut_off_anywhere_gives_the_view_of_that_moment(history: History, cut: int, more: int) -> None:
    owner = history.end()
    count = cut % (len(owner.tree) + 1)
    live_t, live_view, shrinking = [(0, (), False), *owner.written][count]
    t = live_t + more % (len(owner.messages) + 1 - live_t)
    folded = fold(None, owner.messages[:t], owner.tree[:count], history.limits)
    chat = folded.chat
    assert () == folded.problems
    assert t == chat.t
    assert [*live_view, *((i, 0) for i in range(live_t, t))] == list(chat.view.lines.items())
    assert shrinking == chat.shrinking

    logged = {record.part: record.size for record in owner.tree[:count] if isinstance(record, NodeSize)}
    free = free_nodes(owner.messages[:t], logged, history.limits.node)
    built = [part for part in nodes(t) if chat.built_nodes.has(*part)]
    assert sorted({**logged, **free}) == built
    assert bytes_of(chat.view.parts(), {**logged, **free}) == chat.view.size


@pytest.mark.rule("12", "D1")
@given(histories(), st.integers(0, 9_999))
def test_the_free_nodes_that_a_crash_lost_are_named_halves_first(history: History, cut: int) -> None:
    owner = history.end()
    tree = owner.tree[: cut % (len(owner.tree) + 1)]
    folded = fold(None, owner.messages, tree, history.limits)
    logged = {record.part: record.size for record in tree if isinstance(record, NodeSize)}
    expected = free_nodes(owner.messages, logged, history.limits.node)
    assert sorted(expected) == sorted(folded.free)
    for part in folded.free:
        assert part.level == 0 or all(half in logged for half in part.halves)
        logged[part] = expected[part]

    mended = fold(
        None, owner.messages, [*tree, *(NodeSize(part, logged[part]) for part in folded.free)], history.limits
    )
    assert ((), ()) == (mended.free, mended.problems)
    assert memory_of(folded.chat) == memory_of(mended.chat)


def free_nodes(messages: list[int], logged: dict[Part, int], node: int) -> dict[Part, int]:
    """What needs no model and is not logged, by a scan of the whole tree."""
    sizes = dict(logged)
    for part in nodes(len(messages)):
        if part.level == 0:
            sizes.setdefault(part, messages[part.i])
        elif is_ready(part, sizes):
            sizes[part] = sum(sizes[half] for half in part.halves) + 1
        if part not in logged and sizes.get(part, 0) > node:
            del sizes[part]
    return {part: size for part, size in sizes.items() if part not in logged}
