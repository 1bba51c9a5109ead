"""tools/recall.py: its questions, its way of zooming, and what it measures where the real sessions are at hand."""

from collections import Counter

import pytest
import recall

from eukhe.limits import NODE_BYTES_MAX, VIEW_CEILING_BYTES
from eukhe.model.part import Part
from eukhe.model.seek import words
from eukhe.model.text import cut

FILLER = "nothing much to say about it " * 30


def tree_of(*labels: str) -> recall.Tree:
    return recall.Tree(labels, recall.extract)


def question(ask: str, answer: str) -> recall.Question:
    return recall.Question("a session", "eukhe", ask, answer)


def test_there_are_fifty_questions_of_every_kind_with_short_answers() -> None:
    questions = recall.read_questions()
    kinds = Counter(asked.kind for asked in questions)
    assert 50 == len(questions) == len({asked.ask for asked in questions})
    assert {"user", "eukhe", "tool", "echo", "work"} == set(kinds)
    assert 9 <= min(kinds.values())
    assert 60 >= max(len(asked.answer) for asked in questions)


def test_the_questions_fall_into_the_same_two_halves_every_time() -> None:
    dev, held = recall.halves(50)
    assert (25, 25) == (len(dev), len(held))
    assert list(range(50)) == sorted(dev + held)
    assert (dev, held) == recall.halves(50)
    assert dev[:5] != [0, 1, 2, 3, 4]


def test_a_question_whose_answer_nobody_of_its_kind_gave_is_reported() -> None:
    right, wrong = question("Which port?", "port 3001"), question("Which host?", "localhost")
    assert [] == list(recall.check([right], ["eukhe: it is port\n3001"]))
    (said,) = recall.check([wrong], ["echo: localhost"])
    assert "no eukhe message says 'localhost', but ['echo']" in said


def test_words_are_taken_from_identifiers_and_their_endings_taken_off() -> None:
    assert ["shadow", "branch", "setting"] == words("Which ShadowBranches, settings?")
    assert ["test", "both", "condens", "commit"] == words("Test_BothCondensed on a commit")
    assert ["43c285d"] == words("What of 43c285d?")


def test_an_answer_that_stands_in_the_view_needs_no_zoom() -> None:
    tree = tree_of("user: which port?", "eukhe: port 3001")
    view = [Part(1, 0)]
    assert 0 == recall.zooms_needed(tree, view, question("Which port was it?", "port 3001"), 8)


@pytest.fixture
def hidden() -> tuple[recall.Tree, list[Part]]:
    """A chat of 32 messages, seen four a line, the first of which says where the gate listens in its middle."""
    long = f"work: {FILLER}the gate {FILLER} listens at the old place {FILLER}"
    tree = tree_of(long, *[f"eukhe: {FILLER}{n}" for n in range(31)])
    assert "the old place" not in tree.line(Part(0, 0))
    return tree, [Part(2, n) for n in range(8)]


def test_an_answer_inside_a_long_message_needs_a_zoom_a_level_and_one_for_the_message(
    hidden: tuple[recall.Tree, list[Part]],
) -> None:
    assert 3 == recall.zooms_needed(*hidden, question("Where does the gate listen?", "the old place"), 8)


def test_what_can_not_be_reached_in_so_many_zooms_is_not_found(hidden: tuple[recall.Tree, list[Part]]) -> None:
    assert recall.zooms_needed(*hidden, question("Where does the gate listen?", "the old place"), 2) is None
    assert recall.zooms_needed(*hidden, question("Where is the door?", "never said"), 400) is None


def test_the_line_with_the_rare_words_of_the_question_is_zoomed_into_first() -> None:
    labels = [f"eukhe: part{n} of the store. {FILLER}{n}" for n in range(7)] + [
        f"eukhe: the lighthouse. {FILLER}7 lamps"
    ]
    tree = tree_of(*labels)
    view = [Part(0, n) for n in range(8)]
    assert 1 == recall.zooms_needed(tree, view, question("How many lamps has the store's lighthouse?", "7 lamps"), 8)


def test_the_plain_writers_cut_and_nothing_else() -> None:
    left, right = "user: " + "a" * 600, "echo: " + "b" * 600
    assert cut(left) == recall.cut_at_512(Part(0, 0), (left,)) == recall.cut_to_halves(Part(0, 0), (left,))
    assert cut(left) == recall.cut_at_512(Part(1, 0), (left, right))
    assert f"{left[:255]}\n{right[:255]}" == recall.cut_to_halves(Part(1, 0), (left, right))


def test_a_merged_view_has_at_most_half_of_its_ceiling() -> None:
    tree = tree_of(*[f"eukhe: {n} {FILLER}" for n in range(64)])
    view = tree.view(16_000, just_merged=True)
    assert 64 == sum(part.messages for part in view)
    assert 8_000 - NODE_BYTES_MAX < sum(len(tree.line(part).encode()) for part in view) <= 8_000


@pytest.fixture(scope="module")
def labels() -> list[str]:
    if not recall.DATA.exists():
        pytest.skip("the real sessions are not beside the checkout")
    return recall.load(recall.DATA)


def test_every_answer_stands_in_a_message_of_its_kind(labels: list[str]) -> None:
    assert [] == list(recall.check(recall.read_questions(), labels))


def test_extract_lets_answers_be_found_that_cutting_loses(labels: list[str]) -> None:
    questions = recall.read_questions()
    found: dict[str, dict[int, int]] = {}
    for writer, write in recall.WRITERS.items():
        tree = recall.Tree(labels, write)
        views = {0: tree.view(VIEW_CEILING_BYTES), 8_000: tree.view(16_000, just_merged=True)}
        found[writer] = {
            view: recall.within((recall.zooms_needed(tree, parts, asked, 4) for asked in questions), 4)
            for view, parts in views.items()
        }
    for view in (0, 8_000):
        plain = max(counts[view] for writer, counts in found.items() if writer != "extract")
        assert 2 * found["extract"][view] >= 3 * plain
    assert 38 <= found["extract"][0]
