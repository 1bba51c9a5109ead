"""Prompts typed while the agent worked: said once, where they were taken into the turn."""

import base64
from pathlib import Path

import pytest
from transcript_kit import PNG, TWO, Session, all_of, image_block, kinds_and_texts, said, text_block, texts

from eukhe.world.transcripts import plan, read

NOTIFICATION = "<task-notification>\n<task-id>a1</task-id>\n<result>All sound.</result>\n</task-notification>"


def test_a_prompt_taken_into_the_turn_stands_where_it_was_taken_with_the_time_it_was_typed(tmp_path: Path) -> None:
    session = Session().user("go").queue("enqueue", "and the docs").talk("working").queue("remove").talk("done")
    messages = said(session.write(tmp_path / "a.jsonl"))
    assert ["go", "working", "and the docs", "done"] == [message.text for message in messages]
    assert ("user", "2026-03-01T09:00:01+00:00") == (messages[2].kind, messages[2].date)


def test_without_a_text_the_first_in_is_the_first_out(tmp_path: Path) -> None:
    session = Session().queue("enqueue", "one").queue("enqueue", "two").queue("enqueue", "three")
    session.queue("remove").talk("a").queue("dequeue").queue("remove")
    assert ["one", "a", "three"] == texts(session.write(tmp_path / "a.jsonl"))


def test_a_text_names_which_prompt_it_is(tmp_path: Path) -> None:
    session = Session().queue("enqueue", "one").queue("enqueue", "two").queue("remove", "two", reason="absorbed")
    session.talk("a").queue("remove")
    assert ["two", "a", "one"] == texts(session.write(tmp_path / "a.jsonl"))


def test_a_dequeued_prompt_is_the_user_line_that_follows(tmp_path: Path) -> None:
    session = Session().queue("enqueue", "now commit").queue("dequeue").user("now commit")
    assert ["now commit"] == texts(session.write(tmp_path / "a.jsonl"))


@pytest.mark.parametrize("content", [None, "one", "one\ntwo"])
def test_what_went_back_into_the_editor_was_not_said(tmp_path: Path, content: str | None) -> None:
    session = Session().queue("enqueue", "one").queue("popAll", content).queue("remove").talk("done")
    assert ["done"] == texts(session.write(tmp_path / "a.jsonl"))


def test_going_back_by_name_leaves_the_others_waiting(tmp_path: Path) -> None:
    session = Session().queue("enqueue", "one").queue("enqueue", "two").queue("popAll", "one").queue("remove")
    assert ["two"] == texts(session.write(tmp_path / "a.jsonl"))


def test_what_still_waits_at_the_end_was_not_said(tmp_path: Path) -> None:
    assert ["go"] == texts(Session().user("go").queue("enqueue", "and the docs").write(tmp_path / "a.jsonl"))


def test_a_removed_prompt_whose_typing_is_not_in_the_file_is_said_by_the_removal(tmp_path: Path) -> None:
    session = Session().queue("remove", "and the docs").queue("remove").talk("done")
    assert ["and the docs", "done"] == texts(session.write(tmp_path / "a.jsonl"))


def test_commands_in_the_queue_say_nothing_and_do_not_make_a_session(tmp_path: Path) -> None:
    session = Session().queue("enqueue", "/context").queue("remove").queue("enqueue", "<x-y>").queue("remove")
    with plan([session.write(tmp_path / "a.jsonl")]) as planned:
        assert (0, []) == (planned.sessions, list(read(planned)))


def test_a_report_taken_into_the_turn_is_work(tmp_path: Path) -> None:
    session = Session().queue("enqueue", NOTIFICATION).queue("remove").attached(NOTIFICATION)
    assert [("work", "All sound.")] == kinds_and_texts(all_of(session.write(tmp_path / "a.jsonl")))


def test_images_in_the_queue_come_with_the_prompt(tmp_path: Path) -> None:
    picture = image_block(base64.b64encode(PNG).decode())
    session = Session().queue("enqueue", [text_block("like this"), picture]).queue("remove")
    session.queue("enqueue", [picture]).queue("remove")
    messages = said(session.write(tmp_path / "a.jsonl"))
    assert [("like this", (PNG,)), ("", (PNG,))] == [(message.text, message.images) for message in messages]


def test_an_image_that_the_program_attached_is_not_the_users(tmp_path: Path) -> None:
    picture = image_block(base64.b64encode(PNG).decode())
    session = Session().attached([picture], isMeta=True).attached([picture])
    assert [("", (PNG,))] == [(m.text, m.images) for m in said(session.write(tmp_path / "a.jsonl"))]


def test_an_attachment_repeats_what_the_queue_gave(tmp_path: Path) -> None:
    session = Session().queue("enqueue", "use 4 jobs").queue("remove").talk("ok").attached("use 4 jobs").talk("done")
    assert ["use 4 jobs", "ok", "done"] == texts(session.write(tmp_path / "a.jsonl"))


def test_an_attachment_before_the_removal_repeats_it_too(tmp_path: Path) -> None:
    session = Session().queue("enqueue", "use 4 jobs").attached("use 4 jobs").talk("ok")
    before = said(session.write(tmp_path / "a.jsonl"))
    assert ["use 4 jobs", "ok"] == [message.text for message in before]
    for operation in ("remove", "enqueue", "remove"):
        session.queue(operation, "use 4 jobs")
    after = said(session.write(tmp_path / "a.jsonl"))
    assert ["use 4 jobs", "ok", "use 4 jobs"] == [message.text for message in after]
    assert before == after[:2]


def test_an_attachment_can_tell_that_a_queued_prompt_was_the_programs(tmp_path: Path) -> None:
    session = Session().queue("enqueue", "carry on").queue("remove", "carry on", reason="absorbed_mid_turn")
    session.attached("carry on", origin={"kind": "auto-continuation"}).talk("ok")
    session.queue("enqueue", "carry on").attached("carry on", origin={"kind": "human"}).queue("remove", "carry on")
    session.talk("yes").queue("enqueue", "carry on").queue("remove").attached("carry on", isMeta=True)
    assert ["ok", "carry on", "yes"] == texts(session.write(tmp_path / "a.jsonl"))


def test_what_was_pasted_while_the_agent_worked_is_the_users(tmp_path: Path) -> None:
    pasted = '<pasted_content id="a1">\nTraceback\n</pasted_content id="a1">'
    session = Session().queue("enqueue", pasted).queue("remove", pasted).attached(pasted).talk("ok")
    assert ["Traceback", "ok"] == texts(session.write(tmp_path / "a.jsonl"))


def test_an_attachment_without_a_queue_is_the_users(tmp_path: Path) -> None:
    session = Session().talk("a").attached("use 4 jobs").talk("b").attached("note", isMeta=True).attached("/context")
    assert [("eukhe", "a"), ("user", "use 4 jobs"), ("eukhe", "b")] == kinds_and_texts(
        all_of(session.write(tmp_path / "a.jsonl"))
    )


def test_the_same_words_typed_twice_are_said_twice_each_with_its_attachment(tmp_path: Path) -> None:
    session = Session()
    for answer in ("a", "b"):
        session.queue("enqueue", "go on").queue("remove").attached("go on").talk(answer)
    session.attached("go on")
    assert ["go on", "a", "go on", "b", "go on"] == texts(session.write(tmp_path / "a.jsonl"))


def test_an_attachment_written_again_after_a_compaction_does_not_count_twice(tmp_path: Path) -> None:
    session = Session().queue("enqueue", "go on").queue("remove").attached("go on").talk("a")
    session.raw(session.lines[2]).attached("go on")
    assert ["go on", "a", "go on"] == texts(session.write(tmp_path / "a.jsonl"))


def test_of_two_attachments_for_two_prompts_one_may_be_written_again(tmp_path: Path) -> None:
    session = Session()
    for _ in range(2):
        session.queue("enqueue", "go on").queue("remove").attached("go on")
        session.raw(session.lines[2])
    assert ["go on", "go on"] == texts(session.write(tmp_path / "a.jsonl"))


@pytest.mark.parametrize("goes_on", [True, False])
def test_a_fork_that_copied_the_attachment_but_not_the_queue_does_not_repeat_the_prompt(
    tmp_path: Path, goes_on: bool
) -> None:
    session = (
        Session().user("go").queue("enqueue", "and docs").queue("remove").talk("ok").attached("and docs").talk("b")
    )
    fork = Session(TWO)
    for line in (line for line in session.lines if b"queue-operation" not in line):
        fork.raw(line.replace(session.session.encode(), TWO.encode()))
    if goes_on:
        session.user("more").queue("enqueue", "late").queue("remove")
    paths = session.write(tmp_path / "a.jsonl"), fork.write(tmp_path / "b.jsonl")
    assert ["go", "and docs", "ok", "b", *(["more", "late"] if goes_on else [])] == texts(*paths)
    assert ["go", "ok", "and docs", "b"] == texts(paths[1])


def test_two_sessions_in_one_file_have_two_queues(tmp_path: Path) -> None:
    one, two = Session().queue("enqueue", "one"), Session(TWO).queue("enqueue", "two")
    mixed = Session().raw(one.lines[0]).raw(two.lines[0]).raw(two.queue("remove").lines[1])
    assert ["two"] == texts(mixed.write(tmp_path / "a.jsonl"))


def test_a_queue_copied_into_another_file_is_said_once(tmp_path: Path) -> None:
    session = Session().user("go").queue("enqueue", "and docs").queue("remove")
    first = session.write(tmp_path / "a.jsonl")
    assert ["go", "and docs", "ok"] == texts(first, session.talk("ok").write(tmp_path / "b.jsonl"))


@pytest.mark.parametrize("stamped", [True, False])
def test_the_keys_of_queued_prompts_are_the_same_at_every_reading(tmp_path: Path, stamped: bool) -> None:
    session = Session()
    fields = {} if stamped else {"timestamp": None}
    for _ in range(2):
        session.queue("enqueue", "go on", **fields).queue("remove")
    keys = [message.key for message in said(session.write(tmp_path / "a.jsonl"))]
    grown = [message.key for message in said(session.talk("x").write(tmp_path / "other" / "b.jsonl"))]
    assert 2 == len(set(keys))
    assert keys == grown[:2]
