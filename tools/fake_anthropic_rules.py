"""What the Messages API refuses, in its words: `check` raises a Refusal for what the real one answers with 400.

Left out, and refused where a request uses it: documents, server tools, system messages among the others, one-hour
entries, automatic marks.
"""

import base64
import re
from collections.abc import Iterator, Sequence
from typing import Any

from fake_form import Body, Refusal, media_type
from fake_models import BUDGET_TOKENS_MIN, EFFORTS, Model

IMAGE_BYTES_MAX = 5 * 1024 * 1024
FIELDS = {
    *("model", "max_tokens", "messages", "system", "tools", "tool_choice", "stream", "thinking", "output_config"),
    *("metadata", "stop_sequences", "service_tier"),
}
SAMPLING = {"temperature", "top_p", "top_k"}  # which the first version alone takes
VERSIONS = ("2023-06-01", "2026-10-21")
TYPES = {
    "user": ("text", "image", "tool_result"),
    "assistant": ("text", "thinking", "redacted_thinking", "tool_use"),
    "tool_result": ("text", "image"),
}
THOUGHTS = ("thinking", "redacted_thinking")
THINKING = ("adaptive", "between_tools", "disabled", "enabled")
_CALL_ID = re.compile(r"[a-zA-Z0-9_-]+")
_TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")


def check(body: Body, model: Model, version: str) -> None:
    """Nothing, for a request that is right. `version`: of the API, as its header says."""
    if version not in VERSIONS:
        raise Refusal("anthropic-version: header is required" if not version else f"anthropic-version: {version}")
    for field in body.keys() - FIELDS - (SAMPLING if version == VERSIONS[0] else set()):
        raise Refusal(f"{field}: Extra inputs are not permitted")
    _check_numbers(body, model)
    _check_thinking(body, model)
    _check_tools(body.get("tools", []))
    _check_system(body.get("system", []))
    messages = body.get("messages")
    if not isinstance(messages, list):
        raise Refusal("messages: Field required" if messages is None else "messages: Input should be a valid array")
    if not messages:
        raise Refusal("messages: at least one message is required")
    for at, message in enumerate(messages):
        _check_message(f"messages.{at}", message)
    if messages[0]["role"] != "user":
        raise Refusal('messages: first message must use the "user" role')
    if messages[-1]["role"] == "assistant" and not model.prefill:
        raise Refusal(
            "This model does not support assistant message prefill. The conversation must end with a user message."
        )
    _check_pairs(messages)
    _check_thought_first(body, messages)
    _check_marks(body)


def content_of(message: Body) -> list[Body]:
    """A message's content as blocks."""
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def turns(messages: Sequence[Body]) -> Iterator[tuple[int, str, list[Body]]]:
    """Messages of one role in a row count as one: the first's place, the role, the content of all."""
    row: tuple[int, str, list[Body]] | None = None
    for at, message in enumerate(messages):
        if row is not None and row[1] == message["role"]:
            row[2].extend(content_of(message))
            continue
        if row is not None:
            yield row
        row = at, message["role"], list(content_of(message))
    if row is not None:
        yield row


def marked(body: Body) -> Iterator[tuple[str, Body]]:
    """All that has a `cache_control`, with its place."""
    for at, tool in enumerate(body.get("tools") or []):
        yield f"tools.{at}", tool
    system = body.get("system") or []
    for at, block in enumerate(system if isinstance(system, list) else []):
        yield f"system.{at}", block
    for number, message in enumerate(body["messages"]):
        for at, block in enumerate(content_of(message)):
            yield f"messages.{number}.content.{at}", block
            inner = block.get("content")
            for place, part in enumerate(inner if isinstance(inner, list) else []):
                yield f"messages.{number}.content.{at}.tool_result.content.{place}", part


def _check_numbers(body: Body, model: Model) -> None:
    tokens = body.get("max_tokens")
    if tokens is None:
        raise Refusal("max_tokens: Field required")
    if not isinstance(tokens, int) or isinstance(tokens, bool):
        raise Refusal("max_tokens: Input should be a valid integer")
    if tokens < 1:
        raise Refusal("max_tokens: Input should be greater than or equal to 1")
    if tokens > model.output_tokens:
        most = f"{tokens} > {model.output_tokens}"
        raise Refusal(f"max_tokens: {most}, which is the maximum allowed number of output tokens for {model.name}")
    if not isinstance(body.get("stream", False), bool):
        raise Refusal("stream: Input should be a valid boolean")


def _check_thinking(body: Body, model: Model) -> None:
    thinking = body.get("thinking")
    effort = (body.get("output_config") or {}).get("effort")
    if effort is not None and effort not in EFFORTS:
        raise Refusal("output_config.effort: Input should be 'low', 'medium', 'high', 'xhigh' or 'max'")
    if effort is not None and not model.efforts:
        raise Refusal("This model does not support the effort parameter.")
    if effort is not None and effort not in model.efforts:
        raise Refusal(f"This model does not support effort level '{effort}'.")
    if thinking is None:
        return
    kind = thinking.get("type") if isinstance(thinking, dict) else None
    if kind not in THINKING:
        tags = ", ".join(f"'{tag}'" for tag in THINKING)
        raise Refusal(
            f"thinking: Input tag '{kind}' found using 'type' does not match any of the expected tags: {tags}"
        )
    if kind not in model.thinking:
        raise Refusal(
            "adaptive thinking is not supported on this model"
            if kind == "adaptive"
            else f'"thinking.type.{kind}" is not supported for this model. Use "thinking.type.adaptive" and '
            '"output_config.effort" to control thinking behavior.'
        )
    if kind == "disabled" and model.hard and effort in ("xhigh", "max"):
        raise Refusal(f"thinking cannot be disabled at effort level '{effort}'")
    if kind == "enabled":
        _check_budget(thinking, body["max_tokens"])


def _check_budget(thinking: Body, max_tokens: int) -> None:
    budget = thinking.get("budget_tokens")
    if budget is None:
        raise Refusal("thinking.enabled.budget_tokens: Field required")
    if not isinstance(budget, int) or budget < BUDGET_TOKENS_MIN:
        raise Refusal(f"thinking.enabled.budget_tokens: Input should be greater than or equal to {BUDGET_TOKENS_MIN}")
    if budget >= max_tokens:
        raise Refusal("`max_tokens` must be greater than `thinking.budget_tokens`.")


def _check_tools(tools: Any) -> None:
    if not isinstance(tools, list):
        raise Refusal("tools: Input should be a valid array")
    for at, tool in enumerate(tools):
        if tool.get("type", "custom") != "custom":
            raise Refusal(f"tools.{at}: the fake knows custom tools alone, not {tool['type']}")
        if not _TOOL_NAME.fullmatch(str(tool.get("name", ""))):
            raise Refusal(f"tools.{at}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'")
        if not isinstance(tool.get("input_schema"), dict):
            raise Refusal(f"tools.{at}.custom.input_schema: Field required")
        if tool["input_schema"].get("type") != "object":
            raise Refusal(f"tools.{at}.custom.input_schema.type: Input should be 'object'")
    if len({tool["name"] for tool in tools}) < len(tools):
        raise Refusal("tools: Tool names must be unique.")


def _check_system(system: Any) -> None:
    if isinstance(system, str):
        return
    if not isinstance(system, list):
        raise Refusal("system: Input should be a valid array")
    for at, block in enumerate(system):
        if block.get("type") != "text":
            raise Refusal(f"system.{at}.type: Input should be 'text'")
        _check_text("system", block)


def _check_message(place: str, message: Any) -> None:
    if not isinstance(message, dict) or "role" not in message or "content" not in message:
        raise Refusal(f"{place}: Input should have a role and a content")
    role, content = message["role"], message["content"]
    if role not in ("user", "assistant"):
        raise Refusal(f"{place}.role: Input should be 'user' or 'assistant'")
    for field in message.keys() - {"role", "content"}:
        raise Refusal(f"{place}.{field}: Extra inputs are not permitted")
    if not isinstance(content, str | list):
        raise Refusal(f"{place}.content: Input should be a valid array")
    if not content:
        raise Refusal(
            f"{place}: all messages must have non-empty content except for the optional final assistant message"
        )
    if isinstance(content, str) and not content.strip():
        raise Refusal("messages: text content blocks must contain non-whitespace text")
    if isinstance(content, list):
        for at, block in enumerate(content):
            _check_block(f"{place}.content.{at}", block, role)


def _check_block(place: str, block: Any, where: str) -> None:
    kind = block.get("type") if isinstance(block, dict) else None
    if kind not in TYPES[where]:
        tags = ", ".join(f"'{tag}'" for tag in TYPES[where])
        raise Refusal(f"{place}: Input tag '{kind}' found using 'type' does not match any of the expected tags: {tags}")
    if kind == "text":
        _check_text("messages", block)
    elif kind == "image":
        _check_image(f"{place}.image", block)
    elif kind in THOUGHTS:
        _check_thought(place, kind, block)
    elif kind == "tool_use":
        _check_use(f"{place}.tool_use", block)
    elif kind == "tool_result":
        _check_result(f"{place}.tool_result", block)


def _check_text(where: str, block: Body) -> None:
    text = block.get("text")
    if not isinstance(text, str):
        raise Refusal(f"{where}: text: Field required")
    if not text and "cache_control" in block:
        raise Refusal(f"{where}: cache_control cannot be set for empty text blocks")
    if not text:
        raise Refusal(f"{where}: text content blocks must be non-empty")
    if not text.strip():
        raise Refusal(f"{where}: text content blocks must contain non-whitespace text")


def _check_image(place: str, block: Body) -> None:
    source = block.get("source") or {}
    if source.get("type") != "base64":
        raise Refusal(f"{place}.source: the fake takes images as base64 alone")
    claimed, text = source.get("media_type"), str(source.get("data"))
    if claimed not in ("image/jpeg", "image/png", "image/gif", "image/webp"):
        raise Refusal(
            f"{place}.source.base64.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'"
        )
    try:
        data = base64.b64decode(text, validate=True)
    except ValueError:
        raise Refusal(f"{place}.source.base64: invalid base64 data") from None
    if len(text) > IMAGE_BYTES_MAX:  # its text counts, not the bytes in it
        raise Refusal(f"{place}.source.base64: image exceeds 5 MB maximum: {len(text)} bytes > {IMAGE_BYTES_MAX} bytes")
    if not (true := media_type(data)):
        raise Refusal("Could not process image")
    if true != claimed:
        raise Refusal(
            f"{place}.source.base64.data: The image was specified using the {claimed} media type, but the image "
            f"appears to be a {true} image"
        )


def _check_thought(place: str, kind: str, block: Body) -> None:
    for field in ("thinking", "signature") if kind == "thinking" else ("data",):
        if not isinstance(block.get(field), str):
            raise Refusal(f"{place}.{kind}.{field}: Field required")
    if "cache_control" in block:
        raise Refusal(f"{place}.{kind}.cache_control: Extra inputs are not permitted")


def _check_use(place: str, block: Body) -> None:
    if not _CALL_ID.fullmatch(str(block.get("id", ""))):
        raise Refusal(f"{place}.id: String should match pattern '^[a-zA-Z0-9_-]+$'")
    if not _TOOL_NAME.fullmatch(str(block.get("name", ""))):
        raise Refusal(f"{place}.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'")
    if not isinstance(block.get("input"), dict):
        raise Refusal(f"{place}.input: Input should be a valid dictionary")


def _check_result(place: str, block: Body) -> None:
    if not isinstance(block.get("tool_use_id"), str):
        raise Refusal(f"{place}.tool_use_id: Field required")
    content = block.get("content", "")
    if not isinstance(content, str | list):
        raise Refusal(f"{place}.content: Input should be a valid array")
    for at, part in enumerate(content if isinstance(content, list) else []):
        _check_block(f"{place}.content.{at}", part, "tool_result")


def _check_pairs(messages: Sequence[Body]) -> None:
    """Each call has its result at the beginning of what the user says next, and each result its call before it."""
    wanted: list[str] = []
    seen: set[str] = set()
    asker = 0
    for at, role, content in turns(messages):
        answered = _leading_results(content) if role == "user" else []
        if missing := [call for call in wanted if call not in answered]:
            raise Refusal(
                f"messages.{asker}: `tool_use` ids were found without `tool_result` blocks immediately after: "
                f"{', '.join(missing)}. Each `tool_use` block must have a corresponding `tool_result` block in the "
                "next message."
            )
        for place, block in enumerate(content):
            if block["type"] == "tool_result" and block["tool_use_id"] not in wanted:
                raise Refusal(
                    f"messages.{at}.content.{place}: unexpected `tool_use_id` found in `tool_result` blocks: "
                    f"{block['tool_use_id']}. Each `tool_result` block must have a corresponding `tool_use` block in "
                    "the previous message."
                )
        if len(set(answered)) < len(answered):
            raise Refusal(f"messages.{at}.content: each tool_use must have a single result. Found multiple.")
        wanted = [block["id"] for block in content if block["type"] == "tool_use"]
        if len(set(wanted)) < len(wanted) or seen & set(wanted):
            raise Refusal(f"messages.{at}.content: `tool_use` ids must be unique")
        seen.update(wanted)
        asker = at
    if wanted:
        raise Refusal(
            f"messages.{asker}: `tool_use` ids were found without `tool_result` blocks immediately after: "
            f"{', '.join(wanted)}. Each `tool_use` block must have a corresponding `tool_result` block in the next "
            "message."
        )


def _leading_results(content: Sequence[Body]) -> list[str]:
    found = []
    for block in content:
        if block["type"] != "tool_result":
            break
        found.append(block["tool_use_id"])
    return found


def _check_thought_first(body: Body, messages: Sequence[Body]) -> None:
    """With a budget, the assistant's last turn begins with a thought where it goes on after tools' results."""
    if (body.get("thinking") or {}).get("type") != "enabled":
        return
    rows = list(turns(messages))
    if len(rows) < 2 or rows[-1][1] != "user" or not any(block["type"] == "tool_result" for block in rows[-1][2]):
        return
    at, _, content = rows[-2]
    if content[0]["type"] not in THOUGHTS:
        raise Refusal(
            f"messages.{at}.content.0.type: Expected `thinking` or `redacted_thinking`, but found "
            f"`{content[0]['type']}`. When `thinking` is enabled, a final `assistant` message must start with a "
            "thinking block."
        )


def _check_marks(body: Body) -> None:
    count = 0
    for place, block in marked(body):
        if (mark := block.get("cache_control")) is None:
            continue
        count += 1
        if not isinstance(mark, dict) or mark.get("type") != "ephemeral":
            raise Refusal(f"{place}.cache_control.type: Input should be 'ephemeral'")
        if mark.get("ttl", "5m") != "5m":
            raise Refusal(f"{place}.cache_control.ttl: the fake knows entries of 5m alone")
    if count > 4:
        raise Refusal(f"A maximum of 4 blocks with cache_control may be provided. Found {count}.")
