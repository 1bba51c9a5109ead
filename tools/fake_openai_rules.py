"""What the chat completions API refuses, in its words, as far as its form is used: `check` raises a Refusal."""

import base64
import re
from collections.abc import Sequence
from typing import Any

from fake_form import Body, Refusal, media_type
from fake_models import OPENAI_EFFORTS, Model

FIELDS = {
    *("model", "messages", "tools", "tool_choice", "stream", "stream_options", "max_tokens", "max_completion_tokens"),
    *("reasoning_effort", "temperature", "top_p", "stop", "user", "n", "seed", "parallel_tool_calls", "store"),
    *("prompt_cache_key", "metadata", "response_format"),
}
PARTS = {"system": ("text",), "developer": ("text",), "tool": ("text",), "user": ("text", "image_url")}
IMAGE_BYTES_MAX = 20 * 1024 * 1024
_TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_DATA_URL = re.compile(r"data:(image/[a-z]+);base64,(.*)", re.DOTALL)


def check(body: Body, model: Model) -> None:
    """Nothing, for a request that is right."""
    for field in body.keys() - FIELDS:
        raise Refusal(f"Unrecognized request argument supplied: {field}")
    if body.get("stream_options") is not None and not body.get("stream"):
        raise Refusal("The 'stream_options' parameter is only allowed when 'stream' is enabled.")
    tokens = body.get("max_completion_tokens", body.get("max_tokens"))
    if tokens is not None and (not isinstance(tokens, int) or tokens < 1):
        raise Refusal(f"Invalid 'max_tokens': integer below minimum value. Expected a value >= 1, but got {tokens}.")
    if tokens is not None and tokens > model.output_tokens:
        raise Refusal(f"max_tokens is too large: {tokens}. This model supports at most {model.output_tokens}.")
    effort = body.get("reasoning_effort")
    if effort is not None and effort not in OPENAI_EFFORTS:
        raise Refusal(f"Invalid value: '{effort}'. Supported values are: {', '.join(map(repr, OPENAI_EFFORTS))}.")
    _check_tools(body.get("tools"))
    messages = body.get("messages")
    if not isinstance(messages, list):
        raise Refusal("Missing required parameter: 'messages'.")
    if not messages:
        raise Refusal("Invalid 'messages': empty array. Expected an array with minimum length 1.")
    for at, message in enumerate(messages):
        _check_message(f"messages[{at}]", message)
    _check_pairs(messages)


def image_of(url: str) -> tuple[str, str]:
    """The media type and the base64 of a data URL; empty where it is none."""
    found = _DATA_URL.fullmatch(url)
    return (found[1], found[2]) if found else ("", "")


def _check_tools(tools: Any) -> None:
    if tools is None:
        return
    if not tools:
        raise Refusal("Invalid 'tools': empty array. Expected an array with minimum length 1.")
    for at, tool in enumerate(tools):
        function = tool.get("function")
        if tool.get("type") != "function" or not isinstance(function, dict):
            raise Refusal(f"Missing required parameter: 'tools[{at}].function'.")
        if not _TOOL_NAME.fullmatch(str(function.get("name", ""))):
            raise Refusal(f"Invalid 'tools[{at}].function.name': string does not match pattern.")
        if function.get("parameters", {"type": "object"}).get("type") != "object":
            raise Refusal(f"Invalid schema for function '{function['name']}': schema must have type 'object'.")


def _check_message(place: str, message: Any) -> None:
    role = message.get("role") if isinstance(message, dict) else None
    if role not in (*PARTS, "assistant"):
        raise Refusal(f"Invalid value: '{role}'. Supported values are: 'system', 'assistant', 'user', and 'tool'.")
    content, calls = message.get("content"), message.get("tool_calls")
    if role == "assistant":
        if calls is not None:
            _check_calls(place, calls)
        elif content is None:
            raise Refusal(f"Invalid value for 'content': expected a string, got null. ({place})")
        return
    if role == "tool" and not isinstance(message.get("tool_call_id"), str):
        raise Refusal(f"Missing parameter 'tool_call_id': messages with role 'tool' must have one. ({place})")
    if not isinstance(content, str | list):
        raise Refusal(f"Invalid value for 'content': expected a string or an array. ({place})")
    for at, part in enumerate(content if isinstance(content, list) else []):
        kind = part.get("type")
        if kind not in PARTS[role]:
            raise Refusal(f"Invalid value: '{kind}'. Supported values are: {', '.join(map(repr, PARTS[role]))}.")
        if kind == "image_url":
            _check_image(f"{place}.content[{at}]", part)


def _check_calls(place: str, calls: Any) -> None:
    if not calls:
        raise Refusal(f"Invalid '{place}.tool_calls': empty array. Expected an array with minimum length 1.")
    for at, call in enumerate(calls):
        function = call.get("function") or {}
        named = isinstance(call.get("id"), str) and _TOOL_NAME.fullmatch(str(function.get("name", "")))
        if not named or not isinstance(function.get("arguments"), str):
            raise Refusal(f"Missing required parameter in '{place}.tool_calls[{at}]'.")


def _check_image(place: str, part: Body) -> None:
    claimed, text = image_of(str((part.get("image_url") or {}).get("url", "")))
    if not claimed:
        raise Refusal(f"Invalid '{place}.image_url.url': the fake takes data URLs of base64 alone.")
    try:
        data = base64.b64decode(text, validate=True)
    except ValueError:
        raise Refusal("Invalid base64 image_url.") from None
    if len(data) > IMAGE_BYTES_MAX:
        raise Refusal("Invalid image: it exceeds the maximum size of 20 MB.")
    if media_type(data) != claimed:
        raise Refusal(
            "You uploaded an unsupported image. Please make sure your image has of one the following formats: "
            "['png', 'jpeg', 'gif', 'webp']."
        )


def _check_pairs(messages: Sequence[Body]) -> None:
    """Each call is answered by a message of role `tool` right after it, and each of those answers a call."""
    waiting: list[str] = []
    for message in [*messages, {"role": "end"}]:
        if message["role"] == "tool":
            if message["tool_call_id"] not in waiting:
                raise Refusal("messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.")
            waiting.remove(message["tool_call_id"])
            continue
        if waiting:
            raise Refusal(
                "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
                f"'tool_call_id'. The following tool_call_ids did not have response messages: {', '.join(waiting)}"
            )
        waiting = [call["id"] for call in message.get("tool_calls") or []]
