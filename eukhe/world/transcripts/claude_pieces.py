"""The messages in one record of a Claude Code session, by nothing but the record itself."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from eukhe.world.transcripts.claude_letters import Words
from eukhe.world.transcripts.claude_user import (
    is_machines,
    is_refusal,
    others_words,
    queued_words,
    refusing_words,
    said_on_refusing,
    sent_words,
    without_reminders,
    words_of,
)
from eukhe.world.transcripts.identity import as_json
from eukhe.world.transcripts.lines import Record

_LAUNCHED = ("Async agent launched successfully", "Remote agent launched in", "Spawned successfully.\nagent_id: ")
_LAUNCHED_STATUS = frozenset({"async_launched", "remote_launched", "teammate_spawned"})
_OTHERS = frozenset({"peer", "task-notification", "coordinator", "observer", "observer-activity"})
_PROGRAMS = frozenset({"auto-continuation", "scheduled-trigger", "hook"})
_PLACEHOLDERS = frozenset({"(no content)", "No response requested."})  # what stands where no answer was given
_AGENT_NOTE = "agentId: "  # the program's own block behind a report: how to go on with the agent, what it cost


class Piece(NamedTuple):
    """One message. `part` tells it from others of its record; `images` are the blocks of its images.

    `call` is the id of the call that it is the result of, where that result may be a report: such an echo becomes
    work when the call was for an agent.
    """

    kind: str
    text: str
    part: str
    images: tuple[Record, ...] = ()
    call: str = ""


class Fault(NamedTuple):
    """A part of the record that is not as it should be."""

    why: str


def pieces(record: Record) -> Iterator[Piece | Fault]:
    """The messages of a record, in order."""
    if record.get("isSidechain"):
        return
    match record.get("type"):
        case "user" if not (record.get("isCompactSummary") or record.get("isVisibleInTranscriptOnly")):
            yield from _user(record)
        case "assistant":
            yield from _assistant(record)
        case "attachment":
            yield from _attachment(record.get("attachment"))


def talk(record: Record) -> Iterator[Piece]:
    """The texts of an answer's record, also of a subagent's."""
    return (piece for piece in _assistant(record) if isinstance(piece, Piece) and piece.kind == "eukhe")


def queued(content: Any, origin: Record | None = None) -> Iterator[Piece]:
    """The messages in what waited its turn: a text, or blocks of text and images. The images go with the user's.

    `origin` is the record that says who wrote it, where there is one.
    """
    origin = origin or {}
    blocks = content_blocks(content)
    text = text_of(blocks)
    images = _images(blocks)
    for k, word in enumerate(_words(origin, text, queued_words)):
        yield Piece(word.kind, word.text, _part(0, k), images if word.kind == "user" else ())
        images = images if word.kind != "user" else ()
    if images and not is_machines(text) and not _is_programs(origin):
        yield Piece("user", "", "images", images)


def content_blocks(content: Any) -> list[Any]:
    """A content as its blocks: a string is one of text."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return content if isinstance(content, list) else []


def message_blocks(record: Record) -> list[Any]:
    """The blocks of a record's message; none where it has none."""
    message = record.get("message")
    return content_blocks(message.get("content")) if isinstance(message, dict) else []


def text_of(blocks: list[Any]) -> str:
    """The texts of blocks, a line each; a reference to a tool is its name."""
    texts = []
    for block in blocks:
        match block:
            case {"type": "text", "text": str(text)} | {"type": "tool_reference", "tool_name": str(text)}:
                texts.append(text)
    return "\n".join(texts)


def report_of(record: Record, part: str) -> str:
    """The report in a result's block, without the note of the program behind it."""
    blocks = content_blocks(message_blocks(record)[int(part)].get("content"))
    while blocks and text_of(blocks[-1:]).startswith(_AGENT_NOTE):
        blocks = blocks[:-1]
    return without_reminders(text_of(blocks))


def is_launch_note(record: Record, result: str) -> bool:
    """Does the result only say that an agent was started in the background?"""
    outcome = record.get("toolUseResult")
    status = outcome.get("status") if isinstance(outcome, dict) else None
    return status in _LAUNCHED_STATUS or result.startswith(_LAUNCHED)


def _user(record: Record) -> Iterator[Piece | Fault]:
    """Results and reports in their places; all the user's own words and images as one message, where the first is."""
    if not _has_message(record):
        yield Fault("a user line without a message")
        return
    found: list[Piece | Fault] = []
    said: list[str] = []
    images: list[Record] = []
    place, part = 0, ""
    unsaid = _is_programs(record)  # a result in such a line is still a result
    for n, block in enumerate(message_blocks(record)):
        match block:
            case {"type": "tool_result"}:
                found += _result(record, block, n)
            case {"type": "image" | "document"} if unsaid:
                pass
            case {"type": "text", "text": str(text)}:
                for k, word in enumerate(_words(record, text, words_of)):
                    if word.kind != "user":
                        found.append(Piece(word.kind, word.text, _part(n, k)))
                        continue
                    if not part:
                        place, part = len(found), _part(n, k)
                    said.append(word.text)
            case {"type": "image"}:
                if not part:
                    place, part = len(found), _part(n, 0)
                images.append(block)
            case {"type": "document"}:
                pass  # a file that the user gave, not words
            case _:
                found.append(Fault("a part of a user line that is neither text, image nor result"))
    if part:
        found.insert(place, Piece("user", "\n".join(said), part, tuple(images)))
    yield from found


def _words(origin: Record, text: str, words: Callable[[str, bool], list[Words]]) -> list[Words]:
    """The messages in a text, by what its record says of who wrote it, and where that is nothing by the text alone."""
    if _is_programs(origin):
        return sent_words(text)
    kind = _kind(origin)
    return others_words(text) if kind in _OTHERS else words(text, kind == "human")


def _is_programs(record: Record) -> bool:
    """Did the program write this record, as it says itself?"""
    kind = _kind(record)
    if record.get("isMeta") or record.get("turnCompanion") or kind in _PROGRAMS:
        return True
    return not kind and record.get("promptSource") == "system"


def _kind(record: Record) -> str:
    """The kind of sender that the record names; empty where it names none, as in older versions."""
    match record.get("origin"):
        case {"kind": str(kind)}:
            return kind
    return ""


def _result(record: Record, block: Record, n: int) -> Iterator[Piece]:
    """An echo, and behind it what the user said on refusing the call."""
    blocks = content_blocks(block.get("content"))
    text = text_of(blocks)
    call = block.get("tool_use_id")
    if not isinstance(call, str) or block.get("is_error") or is_refusal(text) or is_launch_note(record, text):
        call = ""
    text = without_reminders(text)
    yield Piece("echo", text, _part(n, 0), _images(blocks), call)
    feedback = record.get("userFeedback")
    if words := refusing_words(text) or (said_on_refusing(feedback) if isinstance(feedback, str) else ""):
        yield Piece("user", words, f"{n}.said")


def _assistant(record: Record) -> Iterator[Piece | Fault]:
    """Each text and each call is a message of its own; thoughts are none."""
    if not _has_message(record):
        yield Fault("an answer's line without a message")
        return
    if record.get("isApiErrorMessage") or record["message"].get("model") == "<synthetic>":
        return
    for n, block in enumerate(message_blocks(record)):
        match block:
            case {"type": "text", "text": str(text)}:
                if text.strip() and text.strip() not in _PLACEHOLDERS:
                    yield Piece("eukhe", text, _part(n, 0))
            case {"type": "tool_use" | "server_tool_use" | "mcp_tool_use", "name": str(name)}:
                yield _call(name, block.get("input"), _part(n, 0))
            case {"type": str(kind), "tool_use_id": str()} if kind.endswith("_tool_result"):
                yield _served(block.get("content"), _part(n, 0))
            case {"type": "thinking" | "redacted_thinking"}:
                pass
            case _:
                yield Fault("a part of an answer that is neither text, call nor thought")


def _call(name: str, input_: Any, part: str) -> Piece | Fault:
    """A call as its name, a space, its input as JSON."""
    try:
        return Piece("tool", f"{name} {as_json(input_)}", part)
    except RecursionError:
        return Fault("a call whose input is nested too deeply")


def _served(content: Any, part: str) -> Piece | Fault:
    """The result of a call that the model's own server ran, which stands in the answer."""
    try:
        return Piece("echo", text_of(content_blocks(content)) or as_json(content), part)
    except RecursionError:
        return Fault("a result that is nested too deeply")


def _attachment(attachment: Any) -> Iterator[Piece | Fault]:
    match attachment:
        case {"type": "queued_command", "prompt": str() | list() as prompt}:
            yield from queued(prompt, attachment)


def _has_message(record: Record) -> bool:
    message = record.get("message")
    return isinstance(message, dict) and isinstance(message.get("content"), str | list)


def _images(blocks: list[Any]) -> tuple[Record, ...]:
    return tuple(block for block in blocks if isinstance(block, dict) and block.get("type") == "image")


def _part(n: int, k: int) -> str:
    """The name of a block's k-th message in its record; the first has the block's number alone."""
    return f"{n}.{k}" if k else str(n)
