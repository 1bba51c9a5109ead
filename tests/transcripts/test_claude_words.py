"""What in a user's line is the user's, and what the program wrote there."""

import base64
from pathlib import Path

import pytest
from transcript_kit import PNG, Session, all_of, counts, image_block, kinds_and_texts, said, text_block

from eukhe.world.transcripts.claude_user import queued_words, reported_tasks, without_reminders, words_of

NOTIFICATION = (
    "<task-notification>\n<task-id>a1</task-id>\n<status>completed</status>\n<summary>Agent done</summary>\n"
    "<result>It holds <b>tags</b>,\nand lines.</result>\n</task-notification>"
)
NO_RESULT = "<task-notification>\n<task-id>b2</task-id>\n<summary>Command failed</summary>\n</task-notification>"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Fix the test.", [("user", "Fix the test.")]),
        ("  indented\n", [("user", "  indented\n")]),
        ("", []),
        (" \n", []),
        ("[Request interrupted by user]", []),
        ("[Request interrupted by user for tool use]", []),
        (
            "[Request interrupted by user] is what it shows",
            [("user", "[Request interrupted by user] is what it shows")],
        ),
        ("<local-command-stdout>Bye!</local-command-stdout>", []),
        ("<local-command-stderr>no</local-command-stderr>", []),
        ("<local-command-caveat>Caveat: …</local-command-caveat>", []),
        (
            "<command-name>/exit</command-name>\n<command-message>exit</command-message>\n<command-args></command-args>",
            [],
        ),
        ("<command-message>pr</command-message>\n<command-name>/pr</command-name>", []),
        (
            "<command-name>/review</command-name><command-args> 12 -v </command-args>",
            [("user", "/review 12 -v")],
        ),
        (
            "<command-message>plan is running…</command-message>\n<command-name>/plan</command-name>\n"
            "<command-args>two\nlines </command-args> quoted</command-args>",
            [("user", "/plan two\nlines </command-args> quoted")],
        ),
        ("<bash-input>git status -s</bash-input>", [("user", "!git status -s")]),
        ("<bash-input> </bash-input>", []),
        ("<bash-stdout> M a.py</bash-stdout><bash-stderr></bash-stderr>", [("echo", " M a.py")]),
        ("<bash-stdout>out</bash-stdout><bash-stderr>err</bash-stderr>", [("echo", "out\nerr")]),
        ("<bash-stdout></bash-stdout><bash-stderr></bash-stderr>", [("echo", "")]),
        ("<ide_opened_file>The user opened a.py</ide_opened_file>", []),
        ("<ide_selection>lines 1-3</ide_selection>\nexplain this", [("user", "explain this")]),
        ("go on<system-reminder>\nnot yours\n</system-reminder>", [("user", "go on")]),
        ("<system-reminder>a</system-reminder>b<system-reminder>c</system-reminder>", [("user", "b")]),
        ("what is <system-reminder> for?", [("user", "what is <system-reminder> for?")]),
        (NOTIFICATION, [("work", "It holds <b>tags</b>,\nand lines.")]),
        (NO_RESULT, [("work", "Command failed")]),
        (
            f"{NOTIFICATION}\nFull transcript available at: /x/a1.output",
            [("work", "It holds <b>tags</b>,\nand lines.")],
        ),
        (
            f"{NO_RESULT}\nRead the output file to retrieve the result: /x/b2\n{NOTIFICATION}\nand push it",
            [("work", "Command failed"), ("work", "It holds <b>tags</b>,\nand lines."), ("user", "and push it")],
        ),
        ("the tag <task-notification> is new", [("user", "the tag <task-notification> is new")]),
        ("Implement the following plan:\n\n# Plan", [("user", "Implement the following plan:\n\n# Plan")]),
    ],
)
@pytest.mark.rule("3")
def test_a_user_text_is_told_from_what_the_program_wrote(text: str, words: list[tuple[str, str]]) -> None:
    assert words == [tuple(word) for word in words_of(text)]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("use 4 jobs", [("user", "use 4 jobs")]),
        ("/context", []),
        (" /review 12", []),
        ("/home/me/shot.png is wrong", [("user", "/home/me/shot.png is wrong")]),
        ("<div> is broken", [("user", "<div> is broken")]),
        ("<ci-event>red</ci-event>\nsee above", []),
        ("[monitor] worker idle", []),
        ("[Image #1] like this", [("user", "[Image #1] like this")]),
        (NOTIFICATION, [("work", "It holds <b>tags</b>,\nand lines.")]),
    ],
)
def test_a_queued_text_that_begins_like_a_command_or_a_programs_tag_is_not_the_users(
    text: str, words: list[tuple[str, str]]
) -> None:
    assert words == [tuple(word) for word in queued_words(text)]


@pytest.mark.parametrize(
    ("result", "left"),
    [
        ("plain", "plain"),
        ("out\n\n<system-reminder>\nmind this\n</system-reminder>", "out"),
        ("out\n\n<system-reminder>\nmind this\n</system-reminder>\n", "out"),
        ("a\n<system-reminder>x</system-reminder>\nb", "a\nb"),
        ("<system-reminder>x</system-reminder>", ""),
        ("  3→<system-reminder>in a file</system-reminder>", "  3→<system-reminder>in a file</system-reminder>"),
        ("a\n<system-reminder>never closed", "a\n<system-reminder>never closed"),
    ],
)
def test_reminders_are_cut_out_of_results_where_the_program_hung_them(result: str, left: str) -> None:
    assert left == without_reminders(result)


def test_the_tasks_that_reported_are_named() -> None:
    assert ["a1"] == list(reported_tasks(f"{NO_RESULT}\n{NOTIFICATION}"))


@pytest.mark.parametrize("tag", ["system-reminder", "task-notification", "command-args", "bash-stdout", "result"])
def test_tags_opened_and_never_closed_take_no_more_than_linear_time(tag: str) -> None:
    text = f"x</{tag}>" + f"\n<{tag}>" * 200_000  # with time growing as the square this would not end
    ((kind, left),) = words_of(text)
    assert ("user", len(text)) == (kind, len(left))
    assert len(text) == len(without_reminders(text))


def test_lines_that_are_the_programs_give_no_message(tmp_path: Path) -> None:
    session = Session()
    session.user("a caveat", isMeta=True)
    session.user([text_block("Base directory for this skill: /x")], isMeta=True)
    session.user("This session is being continued", isCompactSummary=True, isVisibleInTranscriptOnly=True)
    session.user("shown only", isVisibleInTranscriptOnly=True)
    session.user("a subagent's order", isSidechain=True)
    session.talk("a subagent's talk", isSidechain=True)
    session.talk("No response requested.", message={"model": "<synthetic>"})
    session.talk("API Error: 529", isApiErrorMessage=True)
    for type_ in ("progress", "system", "pr-link", "custom-title", "permission-mode", "last-prompt", "new-in-2030"):
        session.record(type_, content="x", data={"message": {"type": "user", "message": {"content": "x"}}})
    session.record("attachment", attachment={"type": "todo_reminder", "content": []})
    session.raw(b'{"type":"summary","summary":"Another session","leafUuid":"x"}')
    session.raw(b'{"type":"file-history-snapshot","messageId":"x","snapshot":{}}')
    assert [] == all_of(session.write(tmp_path / "a.jsonl"))


def test_a_result_in_a_meta_line_is_still_a_result(tmp_path: Path) -> None:
    session = Session().call("Read", {}, "c1").result("c1", "text", isMeta=True)
    assert [("tool", "Read {}"), ("echo", "text")] == kinds_and_texts(all_of(session.write(tmp_path / "a.jsonl")))


def test_the_texts_of_a_line_are_one_message_and_its_images_go_with_it(tmp_path: Path) -> None:
    picture = image_block(base64.b64encode(PNG).decode())
    blocks = [text_block("<ide_opened_file>a</ide_opened_file>"), text_block("one"), picture, text_block("two")]
    (message,) = said(Session().user(blocks).write(tmp_path / "a.jsonl"))
    assert ("user", "one\ntwo", (PNG,)) == (message.kind, message.text, message.images)


def test_an_image_without_words_is_a_message(tmp_path: Path) -> None:
    (message,) = said(Session().user([image_block(base64.b64encode(PNG).decode())]).write(tmp_path / "a.jsonl"))
    assert ("user", "", (PNG,)) == (message.kind, message.text, message.images)


def test_a_line_with_a_result_and_a_text_gives_both(tmp_path: Path) -> None:
    session = Session().call("Bash", {"command": "ls"}, "c1")
    session.user([{"type": "tool_result", "tool_use_id": "c1", "content": "a.py"}, text_block("now the tests")])
    wanted = [("tool", 'Bash {"command":"ls"}'), ("echo", "a.py"), ("user", "now the tests")]
    assert wanted == kinds_and_texts(all_of(session.write(tmp_path / "a.jsonl")))


@pytest.mark.rule("8")
def test_thoughts_are_left_out_and_every_text_and_call_is_its_own_message(tmp_path: Path) -> None:
    session = Session().answer(
        {"type": "thinking", "thinking": "hm", "signature": "s"},
        {"type": "redacted_thinking", "data": "x"},
        text_block("I look."),
        {"type": "tool_use", "id": "c1", "name": "Read", "input": {"path": "ä.py", "n": 1.5}},
        text_block("\n\n"),
        {"type": "tool_use", "id": "c2", "name": "Glob", "input": {}},
        text_block("Done."),
    )
    wanted = [("eukhe", "I look."), ("tool", 'Read {"path":"ä.py","n":1.5}'), ("tool", "Glob {}"), ("eukhe", "Done.")]
    assert wanted == kinds_and_texts(all_of(session.write(tmp_path / "a.jsonl")))


def test_the_lines_of_one_answer_are_all_kept(tmp_path: Path) -> None:
    session = Session()
    for text in ("one", "two", "two"):
        session.talk(text, message={"id": "msg_same"})
    assert (0, 3, 0, 0, 0) == counts(all_of(session.write(tmp_path / "a.jsonl")))[0]


def test_nul_and_lone_surrogates_never_reach_a_message(tmp_path: Path) -> None:
    session = Session().raw(
        rb'{"type":"user","uuid":"u","sessionId":"s","timestamp":"2026-03-01T09:00:00Z",'
        rb'"message":{"content":"a\u0000b \ud83d c"}}'
    )
    assert [("user", "a\ufffdb \ufffd c")] == kinds_and_texts(all_of(session.write(tmp_path / "a.jsonl")))
