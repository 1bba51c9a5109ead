"""The messages in one record of a Claude Code session, by nothing but the record itself."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from eukhe.world.transcripts.claude_user import (
    Words,
    is_refusal,
    queued_words,
    refusing_words,
    without_reminders,
    words_of,
)
from eukhe.world.transcripts.identity import as_json
from eukhe.world.transcripts.lines import Record

_LAUNCHED = "Async agent launched successfully"
_AGENT_NOTE = "agentId: "  # the program's own block behind a report: how to go on with the agent, what it cost


class Piece(NamedTuple):
    """One message. `part` tells it from others of its record; `images` are their blocks.

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
    match record.get("type"):
        case "user" if not _is_machines(record):
            yield from _user(record)
        case "assistant" if not record.get("isSidechain"):
            yield from _assistant(record)
        case "attachment" if not record.get("isSidechain"):
            yield from _attachment(record["attachment"])


def talk(record: Record) -> Iterator[Piece | Fault]:
    """The texts of an assistant's record, also of a subagent's."""
    return (piece for piece in _assistant(record) if isinstance(piece, Fault) or piece.kind == "eukhe")


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
    """The texts of blocks, a line each."""
    return "\n".join(block["text"] for block in blocks if _is(block, "text") and isinstance(block.get("text"), str))


def is_launch_note(record: Record, result: str) -> bool:
    """Does the result only say that an agent was started in the background?"""
    outcome = record.get("toolUseResult")
    status = outcome.get("status") if isinstance(outcome, dict) else None
    return status == "async_launched" or result.startswith(_LAUNCHED)


def _is(block: Any, type_: str) -> bool:
    return isinstance(block, dict) and block.get("type") == type_


def _is_machines(record: Record) -> bool:
    return bool(record.get("isSidechain") or record.get("isCompactSummary") or record.get("isVisibleInTranscriptOnly"))


def _has_message(record: Record) -> bool:
    message = record.get("message")
    return isinstance(message, dict) and isinstance(message.get("content"), str | list)


def _user(record: Record) -> Iterator[Piece | Fault]:
    """Results in their places; the user's texts of the line as one message, with its images, at the first of them."""
    if not _has_message(record):
        yield Fault("a user line without a message")
        return
    meta = bool(record.get("isMeta"))  # words that the program wrote; a result in such a line is still a result
    blocks = message_blocks(record)
    images = () if meta else tuple(block for block in blocks if _is(block, "image"))
    said: list[str] = []
    later: list[Piece | Fault] = []  # what stands behind the first of the user's words
    first = ""
    for n, block in enumerate(blocks):
        out = later if first else None
        for piece in _user_block(record, block, n, meta):
            if isinstance(piece, Piece) and piece.kind == "user" and piece.part == str(n):
                first = first or piece.part
                said.append(piece.text)
                out = later
            elif out is None:
                yield piece
            else:
                out.append(piece)
    if said or images:
        yield Piece("user", "\n".join(said), first or str(blocks.index(images[0])), images)
    yield from later


def _user_block(record: Record, block: Any, n: int, meta: bool) -> Iterator[Piece | Fault]:
    match block:
        case {"type": "tool_result"}:
            yield from _result(record, block, n)
        case {"type": "text", "text": str(text)}:
            if not meta:
                yield from _numbered(words_of(text), str(n))
        case {"type": "image" | "document"}:
            pass  # images go with the line's words; a document is a file the user gave, not words
        case _:
            yield Fault("a block of a user line that is neither text, image nor result")


def _numbered(words: list[Words], part: str) -> Iterator[Piece]:
    """Each with a part of its own; the block's first one has the block's number alone."""
    for k, word in enumerate(words):
        yield Piece(word.kind, word.text, f"{part}.{k}" if k else part)


def _result(record: Record, block: Record, n: int) -> Iterator[Piece]:
    """An echo, and behind it what the user said on refusing the call."""
    inner = content_blocks(block.get("content"))
    call = block.get("tool_use_id")
    text = text_of(inner)
    images = tuple(part for part in inner if _is(part, "image"))
    is_report = isinstance(call, str) and not (
        block.get("is_error") or is_refusal(text) or is_launch_note(record, text)
    )
    yield Piece("echo", without_reminders(text), str(n), images, call if is_report and isinstance(call, str) else "")
    if words := refusing_words(without_reminders(text)):
        yield Piece("user", words, f"{n}.said")


def report_of(record: Record, part: str) -> str:
    """The report in a result's block, without the note of the program behind it."""
    inner = content_blocks(message_blocks(record)[int(part)].get("content"))
    while inner and _is(inner[-1], "text") and str(inner[-1].get("text")).startswith(_AGENT_NOTE):
        inner = inner[:-1]
    return without_reminders(text_of(inner))


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
                if text.strip():
                    yield Piece("eukhe", text, str(n))
            case {"type": "tool_use", "name": str(name)}:
                yield _call(name, block.get("input"), str(n))
            case {"type": "text" | "tool_use"} | str() | None:
                yield Fault("a block of an answer that is not as it should be")


def _call(name: str, input_: Any, part: str) -> Piece | Fault:
    """A call as its name, a space, its input as JSON."""
    try:
        return Piece("tool", f"{name} {as_json(input_)}", part)
    except RecursionError:
        return Fault("a call whose input is nested too deeply")


def _attachment(attachment: Any) -> Iterator[Piece | Fault]:
    if not _is(attachment, "queued_command") or attachment.get("isMeta"):
        return
    yield from queued(attachment.get("prompt"))


def queued(content: Any) -> Iterator[Piece | Fault]:
    """The messages in what waited its turn: a text, or blocks of text and images."""
    blocks = content_blocks(content)
    text = text_of(blocks)
    images = tuple(block for block in blocks if _is(block, "image"))
    words = queued_words(text)
    if images and not any(word.kind == "user" for word in words) and not text.lstrip().startswith(("/", "<")):
        words = [Words("user", ""), *words]
    for piece in _numbered(words, "0"):
        yield piece._replace(images=images) if piece.kind == "user" else piece
