"""Files spoiled as people reported them, and what must come out of each."""

import subprocess
import sys
from itertools import permutations
from pathlib import Path

import pytest
from transcript_kit import SHARED, Item, all_of, bad, counts, needs_samples, said, texts

BUGS = SHARED / "bugs"

# Messages by kind (user, eukhe, tool, echo, work), unreadable parts.
RIGHT = {
    "glued-records.jsonl": ((2, 2, 0, 0, 0), 1),
    "nul-block.jsonl": ((2, 2, 0, 0, 0), 0),
    "torn-lines.jsonl": ((2, 2, 0, 0, 0), 3),
    "lone-surrogate.jsonl": ((1, 1, 1, 1, 0), 0),
    "duplicate-uuids.jsonl": ((3, 3, 0, 0, 0), 0),
    "stream-json-replay.jsonl": ((2, 2, 0, 0, 0), 0),
    "resume-copy": ((3, 3, 0, 0, 0), 0),
    "wrong-file": ((4, 4, 0, 0, 0), 0),
    "queued-prompts.jsonl": ((4, 3, 1, 1, 1), 0),
    "line-separators.jsonl": ((1, 1, 1, 1, 0), 0),
    "invalid-utf8.jsonl": ((1, 1, 1, 1, 0), 0),
    "bom-crlf.jsonl": ((1, 1, 0, 0, 0), 0),
    "escaped-nul.jsonl": ((1, 1, 1, 1, 0), 0),
    "branches-and-orphans.jsonl": ((3, 3, 1, 1, 0), 0),
}

pytestmark = needs_samples


@pytest.mark.parametrize("name", RIGHT)
def test_a_spoiled_file_gives_what_is_whole_in_it(name: str) -> None:
    by_kind, faults = RIGHT[name]
    assert (by_kind, 0, faults) == counts(all_of(BUGS / name))


@pytest.mark.parametrize("name", RIGHT)
def test_a_spoiled_file_gives_the_same_again_and_text_that_can_be_stored(name: str) -> None:
    items: list[Item] = all_of(BUGS / name)
    assert items == all_of(BUGS / name)
    for message in said(BUGS / name):
        message.text.encode()
        assert "\0" not in message.text


def echo(name: str) -> str:
    (text,) = (message.text for message in said(BUGS / name) if message.kind == "echo")
    return text


def test_unreadable_lines_are_named() -> None:
    assert [3, 4, 8] == [fault.line for fault in bad(BUGS / "torn-lines.jsonl")]
    assert [3] == [fault.line for fault in bad(BUGS / "glued-records.jsonl")]


def test_all_files_of_reports_together_give_each_its_own() -> None:
    paths = [BUGS / name for name in RIGHT]
    wanted = [message for path in paths for message in said(path)]
    together = said(*paths)
    # They have the same made-up ids; the first prompts of four of them and some answers are the very same records.
    assert {(m.key, m.text) for m in wanted} == {(m.key, m.text) for m in together}


def test_separators_of_other_alphabets_stay_in_the_text() -> None:
    assert "first\u2028second\u2029third\u0085fourth\x0bfifth\x0csixth" == echo("line-separators.jsonl")


def test_bytes_that_are_no_utf8_are_shown_as_such() -> None:
    assert "bytes: \ufffd\ufffd\ufffdPNG end, cut: \ufffd" == echo("invalid-utf8.jsonl")


def test_half_characters_are_shown_as_such_and_pairs_are_whole() -> None:
    assert "progress \ufffd and the output was cut inside an emoji \ufffd" == echo("lone-surrogate.jsonl")
    assert "Done \U0001f642 (this one is a valid pair: \U0001f642)" == texts(BUGS / "lone-surrogate.jsonl")[-1]
    assert "\ufffd" in texts(BUGS / "lone-surrogate.jsonl")[1]


def test_a_nul_in_a_result_costs_only_itself() -> None:
    assert "before\ufffd\x01after the NUL" == echo("escaped-nul.jsonl")


def test_a_cr_before_lf_is_no_text() -> None:
    assert ["First record after a BOM", "line one\nline two"] == texts(BUGS / "bom-crlf.jsonl")


def test_queued_prompts_are_said_once_in_their_places() -> None:
    users = [m.text for m in said(BUGS / "queued-prompts.jsonl") if m.kind == "user"]
    assert ["Run the whole test suite.", "skip the slow tests and the docs", "use 4 jobs", "now commit"] == users


@pytest.mark.parametrize("folder", ["resume-copy", "wrong-file"])
def test_the_order_of_the_files_changes_nothing(folder: str) -> None:
    files = sorted((BUGS / folder).iterdir())
    first, *others = [said(*order) for order in permutations(files)]
    assert [first] == others
    assert first == said(BUGS / folder)


def test_a_resumed_file_alone_has_the_whole_history() -> None:
    second = sorted((BUGS / "resume-copy").iterdir())[1]
    assert [m.key for m in said(BUGS / "resume-copy")] == [m.key for m in said(second)]


def test_records_in_the_wrong_file_come_in_their_own_session_in_time() -> None:
    dates = [message.date[14:19] for message in said(BUGS / "wrong-file")]
    assert ["00:00", "00:01", "00:20", "00:21", "00:05", "00:06", "00:10", "00:11"] == dates


@pytest.mark.rule("9")
def test_a_huge_line_is_read_and_clipped(tmp_path: Path) -> None:
    path = tmp_path / "huge.jsonl"
    with path.open("wb") as file:
        subprocess.run([sys.executable, BUGS / "huge-line.gen.py", "4"], stdout=file, check=True)
    assert ((1, 1, 1, 1, 0), 0, 0) == counts(all_of(path))
    (echo,) = (message.text for message in said(path) if message.kind == "echo")
    assert 30_000 == len(echo)
    assert echo.startswith("HEAD x")
    assert echo.endswith("\n TAIL")
