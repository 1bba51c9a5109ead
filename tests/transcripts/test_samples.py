"""Real sessions, against the count that another reader made of each, and against positions read by hand."""

from pathlib import Path

import pytest
from transcript_kit import SHARED, all_of, counts, kinds_and_texts, needs_samples, said, texts

from eukhe.world.transcripts import plan

SAMPLES = SHARED / "claude-code"
SUBAGENT = "subagent-dir/0a1b2c3d-4e5f-4061-8071-2a3b4c5d6e7f"

# Messages by kind (user, eukhe, tool, echo, work), images.
COUNTED = {
    "ccviewer-sidechain-big.jsonl": ((1, 4, 9, 4, 3), 0),
    "ccviewer-sidechain-ja.jsonl": ((1, 3, 13, 11, 2), 0),
    "entire-api-error.jsonl": ((8, 11, 13, 13, 0), 0),
    "entire-ask-user.jsonl": ((2, 9, 16, 16, 0), 0),
    "entire-async-notification.jsonl": ((7, 24, 32, 32, 4), 0),
    "entire-bash-mode.jsonl": ((7, 15, 22, 23, 1), 0),
    "entire-broken-line.jsonl": ((5, 20, 41, 40, 1), 0),
    "entire-compaction-2.jsonl": ((1, 11, 23, 23, 0), 0),
    "entire-compaction.jsonl": ((2, 9, 10, 10, 0), 0),
    "entire-fork-child.jsonl": ((2, 11, 23, 22, 1), 0),
    "entire-fork-parent.jsonl": ((1, 1, 1, 0, 0), 0),
    "entire-growing-1.jsonl": ((2, 2, 2, 2, 0), 0),
    "entire-growing-2.jsonl": ((3, 3, 3, 3, 0), 0),
    "entire-image.jsonl": ((10, 14, 9, 9, 0), 1),
    "entire-interrupted.jsonl": ((4, 9, 31, 31, 0), 0),
    "entire-microcompact.jsonl": ((8, 16, 60, 60, 0), 0),
    "entire-queue-localcmd-task.jsonl": ((4, 11, 15, 14, 0), 0),
    "entire-rejected-with-words.jsonl": ((2, 1, 3, 3, 0), 0),
    "entire-starts-mid-session.jsonl": ((1, 3, 11, 11, 0), 0),
    "entire-steered-prompt.jsonl": ((3, 9, 13, 13, 0), 0),
    "entire-tiny-queue.jsonl": ((1, 1, 1, 1, 0), 0),
    "entire-tiny-summary.jsonl": ((1, 1, 1, 0, 0), 0),
    "entire-two-session-ids.jsonl": ((1, 1, 23, 23, 0), 0),
    f"{SUBAGENT}.jsonl": ((1, 1, 1, 0, 0), 0),
    # The other reader counted a master's session here: 1 user, 1 talk, 1 call. It is a subagent's own file, whose
    # order and steps are no messages; nowhere is its report, so its last words are.
    f"{SUBAGENT}/subagents/agent-a0ad4f44468bdf20d.jsonl": ((0, 0, 0, 0, 1), 0),
    "toolpath-agent-attachments.jsonl": ((1, 14, 19, 18, 1), 0),
}

pytestmark = needs_samples


def test_every_sample_is_counted() -> None:
    assert sorted(COUNTED) == sorted(path.relative_to(SAMPLES).as_posix() for path in SAMPLES.rglob("*.jsonl"))


@pytest.mark.parametrize("name", COUNTED)
def test_a_sample_has_the_messages_counted_in_it(name: str) -> None:
    with plan([SAMPLES / name]) as planned:
        assert 1 == planned.sessions
    assert (*COUNTED[name], 0) == counts(all_of(SAMPLES / name))


@pytest.mark.parametrize("name", COUNTED)
def test_a_sample_has_one_key_for_each_message_the_same_at_every_reading(name: str) -> None:
    first, second = said(SAMPLES / name), said(SAMPLES / name)
    assert first == second
    assert len(first) == len({message.key for message in first})


def test_all_samples_together_are_all_their_sessions_each_message_once() -> None:
    alone = {message.key: message for name in COUNTED for message in said(SAMPLES / name)}
    together = said(SAMPLES)
    # The master whose subagent has its own file lacks the report, here too.
    assert alone == {message.key: message for message in together}
    assert len(alone) == len(together)


def test_a_checkpoint_and_a_later_one_are_the_later_one() -> None:
    early, late = SAMPLES / "entire-growing-1.jsonl", SAMPLES / "entire-growing-2.jsonl"
    assert said(late) == said(early, late) == said(late, early)
    assert said(early) == said(late)[: len(said(early))]


def test_a_fork_and_its_parent_are_one_history() -> None:
    parent, child = SAMPLES / "entire-fork-parent.jsonl", SAMPLES / "entire-fork-child.jsonl"
    assert said(child) == said(parent, child) == said(child, parent)


def around(name: str, words: str, before: int = 2, after: int = 1) -> list[tuple[str, str]]:
    """The kinds and the first words of the messages around the user's of these words."""
    messages = kinds_and_texts(all_of(SAMPLES / name))
    (at,) = (i for i, (kind, text) in enumerate(messages) if kind == "user" and text.startswith(words))
    return [(kind, text[:20]) for kind, text in messages[at - before : at + after + 1]]


def test_a_steered_prompt_stands_where_it_was_taken_into_the_turn() -> None:
    wanted = [
        ("eukhe", "Now let me look at t"),
        ("tool", 'Read {"file_path":"/'),
        ("user", "does it fail locally"),
        ("echo", "     1→package paths"),
    ]
    assert wanted == around("entire-steered-prompt.jsonl", "does it fail locally?")
    (steered,) = (m for m in said(SAMPLES / "entire-steered-prompt.jsonl") if m.text == "does it fail locally?")
    assert "2026-02-04T11:11:28+00:00" == steered.date


def test_the_words_of_a_refusal_stand_behind_it() -> None:
    wanted = [("tool", 'Edit {"replace_all":'), ("echo", "The user doesn't wan"), ("user", "branch and PR. but a")]
    assert wanted == around("entire-steered-prompt.jsonl", "branch and PR.", after=0)
    assert "Entire Inc." == said(SAMPLES / "entire-rejected-with-words.jsonl")[5].text


def test_a_command_and_what_it_printed_stand_together() -> None:
    assert [("user", "!pwd"), ("echo", "/Users/user4/workspa")] == around("entire-bash-mode.jsonl", "!pwd", before=0)


def test_a_slash_command_is_as_it_was_typed() -> None:
    (typed,) = (m for m in said(SAMPLES / "entire-bash-mode.jsonl") if m.kind == "user" and m.text.startswith("/"))
    assert typed.text.startswith("/superpowers:write-plan let's write a short plan for this -")
    (typed,) = (m for m in said(SAMPLES / "ccviewer-sidechain-ja.jsonl") if m.kind == "user")
    assert "/orchestrator @CLAUDE.md を最新の状態にアップデートしてください" == typed.text


def test_reports_of_background_tasks_are_what_stands_in_their_results() -> None:
    reports = [message.text for message in said(SAMPLES / "entire-async-notification.jsonl") if message.kind == "work"]
    begun = [report[:12] for report in reports]
    assert ["Based on my ", "I have compl", "I'll provide", "Based on my "] == begun
    assert not any("task-notification" in report or "Full transcript" in report for report in reports)


def test_an_agents_report_comes_without_the_programs_note() -> None:
    (report,) = (m for m in said(SAMPLES / "toolpath-agent-attachments.jsonl") if m.kind == "work")
    assert report.text.startswith("There is no `notes.md` file")
    assert "agentId" not in report.text


def test_the_record_glued_to_another_is_there() -> None:
    lines = (SAMPLES / "entire-broken-line.jsonl").read_bytes().split(b"\n")
    assert b"}{" in lines[127]
    messages = said(SAMPLES / "entire-broken-line.jsonl")
    assert any(message.key.split(":")[1].encode() in lines[127] for message in messages)


def test_what_was_open_in_the_editor_is_cut_out() -> None:
    assert texts(SAMPLES / "entire-tiny-queue.jsonl")[0].startswith("create me a .github/CODEOWNERS")


def test_nothing_of_the_samples_is_changed(tmp_path: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in SAMPLES.rglob("*")}
    all_of(SAMPLES)
    assert before == {path: path.stat().st_mtime_ns for path in SAMPLES.rglob("*")}
