"""Results of calls: echoes, reports of agents, refusals with the user's words, images."""

import base64
from pathlib import Path

import pytest
from transcript_kit import (
    PNG,
    Session,
    all_of,
    bad,
    counts,
    image_block,
    kinds_and_texts,
    result_block,
    said,
    text_block,
)

from eukhe.limits import TOOL_RESULT_CHARS_MAX

REFUSED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the "
    "new_string was NOT written to the file). "
)
STOP = "STOP what you are doing and wait for the user to tell you how to proceed."
LAUNCHED = "Async agent launched successfully.\nagentId: ab12 (internal ID)"
SPAWNED = "Spawned successfully.\nagent_id: scout@team\nname: scout"
NOTE = "agentId: ab12 (for resuming to continue this agent's work if needed)\n<usage>total_tokens: 1</usage>"


def of_one(tmp_path: Path, name: str, result: object, **fields: object) -> list[tuple[str, str]]:
    """The messages of a call of this tool with this result, the call left out."""
    session = Session().call(name, {}, "c1").user([result], **fields)
    return kinds_and_texts(all_of(session.write(tmp_path / "a.jsonl")))[1:]


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("a string", "a string"),
        ([text_block("one"), text_block("two")], "one\ntwo"),
        ([{"type": "tool_reference", "tool_name": "WebFetch"}], "WebFetch"),
        ([], ""),
        (None, ""),
        ("", ""),
        ("<persisted-output>\nOutput too large (61.6KB). Preview:\nline 1", None),
        ("<tool_use_error>File does not exist.</tool_use_error>", None),
        ('User has answered your questions: "Which?"="The first"', None),
    ],
)
def test_a_result_is_an_echo(tmp_path: Path, content: object, text: str | None) -> None:
    wanted = content if text is None else text
    assert [("echo", wanted)] == of_one(tmp_path, "Bash", result_block("c1", content))


def test_a_result_whose_call_is_missing_is_still_an_echo(tmp_path: Path) -> None:
    path = Session().result("gone", "left over").write(tmp_path / "a.jsonl")
    assert [("echo", "left over")] == kinds_and_texts(all_of(path))


def test_what_is_beside_the_result_is_not_imported_again(tmp_path: Path) -> None:
    result = of_one(tmp_path, "Bash", result_block("c1", "out"), toolUseResult={"stdout": "out", "stderr": "err"})
    assert [("echo", "out")] == result


@pytest.mark.rule("9")
def test_a_long_result_keeps_head_and_tail(tmp_path: Path) -> None:
    ((kind, text),) = of_one(tmp_path, "Bash", result_block("c1", "HEAD" + "x" * 90_000 + "TAIL"))
    assert ("echo", TOOL_RESULT_CHARS_MAX) == (kind, len(text))
    assert text.startswith("HEAD")
    assert text.endswith("TAIL")


def test_the_users_words_in_a_refusal_are_the_users(tmp_path: Path) -> None:
    refusal = REFUSED + "To tell you how to proceed, the user said:\nnot there\nput it into b.py"
    wanted = [("echo", refusal), ("user", "not there\nput it into b.py")]
    assert wanted == of_one(tmp_path, "Edit", result_block("c1", refusal, is_error=True))


def test_the_programs_note_behind_the_words_of_a_refusal_is_not_the_users(tmp_path: Path) -> None:
    refusal = REFUSED + "To tell you how to proceed, the user said:\nnot there\n\nNote: The user's next message may "
    refusal += "contain a correction or preference."
    assert ("user", "not there") == of_one(tmp_path, "Edit", result_block("c1", refusal, is_error=True))[1]


def test_a_reason_for_a_refusal_is_the_users_as_older_versions_write_it(tmp_path: Path) -> None:
    refusal = REFUSED + "The user provided the following reason for the rejection:  not there,\nput it into b.py"
    wanted = [("echo", refusal), ("user", "not there,\nput it into b.py")]
    assert wanted == of_one(tmp_path, "Edit", result_block("c1", refusal, is_error=True))


def test_a_reason_that_stands_beside_the_result_is_the_users(tmp_path: Path) -> None:
    refused = result_block("c1", REFUSED + STOP, is_error=True)
    result = of_one(tmp_path, "Edit", refused, toolDenialKind="user-rejected", userFeedback="not there")
    assert [("echo", REFUSED + STOP), ("user", "not there")] == result
    both = result_block("c1", REFUSED + "To tell you how to proceed, the user said:\nnot there", is_error=True)
    assert 1 == [kind for kind, _ in of_one(tmp_path, "Edit", both, userFeedback="not there")].count("user")


def test_a_reason_that_the_program_wrote_for_unanswered_questions_is_not_the_users(tmp_path: Path) -> None:
    reason = 'The user wants to clarify these questions.\n    Questions asked:\n- "Which?"\n  (No answer provided)'
    refusal = REFUSED + f"To tell you how to proceed, the user said:\n{reason}"
    result = of_one(tmp_path, "AskUserQuestion", result_block("c1", refusal, is_error=True), userFeedback=reason)
    assert [("echo", refusal)] == result


def test_calls_that_the_models_server_ran_are_calls_with_results(tmp_path: Path) -> None:
    session = Session().answer(
        {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "tides"}},
        {"type": "web_search_tool_result", "tool_use_id": "s1", "content": [{"title": "Tides", "url": "u"}]},
        {"type": "mcp_tool_use", "id": "s2", "name": "look", "input": {}},
        {"type": "mcp_tool_result", "tool_use_id": "s2", "content": [text_block("high water at noon")]},
    )
    wanted = [("tool", 'web_search {"query":"tides"}'), ("echo", '[{"title":"Tides","url":"u"}]')]
    wanted += [("tool", "look {}"), ("echo", "high water at noon")]
    assert wanted == kinds_and_texts(all_of(session.write(tmp_path / "a.jsonl")))


def test_a_refusal_without_words_is_an_echo_alone(tmp_path: Path) -> None:
    assert [("echo", REFUSED + STOP)] == of_one(tmp_path, "Edit", result_block("c1", REFUSED + STOP, is_error=True))


def test_words_like_a_refusals_elsewhere_are_not_the_users(tmp_path: Path) -> None:
    text = "grep found: the user said:\nhello"
    assert [("echo", text)] == of_one(tmp_path, "Grep", result_block("c1", text))


@pytest.mark.rule("3")
@pytest.mark.parametrize("tool", ["Task", "Agent"])
def test_an_agents_result_is_its_report_without_the_programs_note(tmp_path: Path, tool: str) -> None:
    report = result_block("c1", [text_block("All is sound."), text_block("Two notes."), text_block(NOTE)])
    assert [("work", "All is sound.\nTwo notes.")] == of_one(tmp_path, tool, report)
    assert [("work", "All is sound.")] == of_one(tmp_path, tool, result_block("c1", "All is sound."))


def test_a_call_that_comes_after_its_result_still_makes_it_a_report(tmp_path: Path) -> None:
    session = Session().result("c1", "All is sound.").call("Task", {}, "c1")
    assert [("work", "All is sound."), ("tool", "Task {}")] == kinds_and_texts(
        all_of(session.write(tmp_path / "a.jsonl"))
    )


@pytest.mark.parametrize(
    ("result", "fields"),
    [
        (result_block("c1", LAUNCHED), {}),
        (result_block("c1", SPAWNED), {}),
        (result_block("c1", "Remote agent launched in a cloud.\ntaskId: t1"), {}),
        (result_block("c1", "Started."), {"toolUseResult": {"status": "teammate_spawned"}}),
        (result_block("c1", "Started."), {"toolUseResult": {"status": "async_launched", "agentId": "ab12"}}),
        (result_block("c1", "<tool_use_error>no prompt</tool_use_error>", is_error=True), {}),
        (result_block("c1", REFUSED + STOP), {}),
        (result_block("c1", ""), {}),
    ],
)
def test_a_launch_note_an_error_a_refusal_and_nothing_are_no_reports(
    tmp_path: Path, result: dict[str, object], fields: dict[str, object]
) -> None:
    assert [("echo", result["content"])] == of_one(tmp_path, "Task", result, **fields)


def test_images_in_results_come_with_the_echo(tmp_path: Path) -> None:
    content = [text_block("a plot"), image_block(base64.b64encode(PNG).decode())]
    session = Session().call("Read", {}, "c1").result("c1", content)
    echo = said(session.write(tmp_path / "a.jsonl"))[1]
    assert ("echo", "a plot", (PNG,)) == (echo.kind, echo.text, echo.images)


@pytest.mark.parametrize(
    ("image", "why"),
    [
        (image_block("not base64!"), "no base64"),
        (image_block("AAA"), "no base64"),
        (image_block("ÄÖÜ="), "no base64"),
        (image_block(""), "no bytes"),
        (image_block(base64.b64encode(bytes(20_000_001)).decode()), "20000001 bytes"),
        ({"type": "image", "source": {"type": "url", "url": "u"}}, "url"),
        ({"type": "image"}, "without a source"),
        ({"type": "image", "source": "x"}, "without a source"),
    ],
)
def test_a_bad_image_costs_only_itself_and_is_named(tmp_path: Path, image: dict[str, object], why: str) -> None:
    good = image_block(base64.b64encode(PNG).decode())
    path = Session().talk("before").user([text_block("see"), image, good]).write(tmp_path / "a.jsonl")
    message = said(path)[1]
    assert ("user", "see", (PNG,)) == (message.kind, message.text, message.images)
    (fault,) = bad(path)
    assert (str(path), 2) == (fault.path, fault.line)
    assert why in fault.why


def test_base64_in_lines_is_taken(tmp_path: Path) -> None:
    data = base64.encodebytes(PNG).decode()
    (message,) = said(Session().user([image_block(data)]).write(tmp_path / "a.jsonl"))
    assert (PNG,) == message.images


@pytest.mark.parametrize(
    ("type_", "message"),
    [
        ("user", None),
        ("user", "text"),
        ("user", {"content": None}),
        ("user", {"content": 7}),
        ("user", {"content": [7]}),
        ("user", {"content": [{"type": "text", "text": 7}]}),
        ("user", {"content": [{"type": "new-in-2030"}]}),
        ("assistant", None),
        ("assistant", {"content": {}}),
        ("assistant", {"content": ["text"]}),
        ("assistant", {"content": [{"type": "tool_use", "name": None}]}),
        ("assistant", {"content": [{"type": "tool_use", "name": "Bash"}, {"type": "text"}]}),
    ],
)
def test_a_record_of_another_shape_costs_only_its_part(tmp_path: Path, type_: str, message: object) -> None:
    session = Session().user("before").record(type_, message=message).talk("after")
    items = all_of(session.write(tmp_path / "a.jsonl"))
    assert [("user", "before"), ("eukhe", "after")] == [
        pair for pair in kinds_and_texts(items) if pair[0] in ("user", "eukhe")
    ]
    assert 1 == counts(items)[2]


@pytest.mark.parametrize("depth", [300, 900])
def test_a_call_with_a_deeply_nested_input_is_read_or_named(tmp_path: Path, depth: int) -> None:
    inner = b'{"a":' * depth + b"1" + b"}" * depth
    session = Session().user("before")
    session.raw(
        b'{"type":"assistant","uuid":"u","sessionId":"s","timestamp":"2026-03-01T10:00:00Z","message":{"content":'
        b'[{"type":"tool_use","id":"c1","name":"Deep","input":' + inner + b"}]}}"
    )
    items = all_of(session.talk("after").write(tmp_path / "a.jsonl"))
    by_kind, _, faults = counts(items)
    assert (1, 1, 1) == (by_kind[0], by_kind[1], by_kind[2] + faults)
