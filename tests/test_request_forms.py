"""Requests as providers get them: taken by the fake of both APIs, counted as it counts, read from its cache."""

from collections.abc import Iterator

import fake_script
import httpx
import orjson
import pytest
from fake_anthropic import AnthropicForm
from fake_api import FakeApi

from eukhe.model.part import Part
from eukhe.model.prompt import texts
from eukhe.model.request import agent_talk, blocks_to_mark, end_of, line_talk, pin, turn_talk
from eukhe.model.talk import Image, Result, Speech, Talk, Text, Thought, Use
from eukhe.sim.prompt_cache import Block
from eukhe.world.providers.anthropic_form import body as anthropic_body
from eukhe.world.providers.openai_form import body as openai_body

MODEL = "claude-haiku-4-5"
PNG = b"\x89PNG\r\n\x1a\n" + bytes(32)
OURS = texts("Be brief.")
LINES = [(Part(0, i), f"user: {i} " + "word " * 80) for i in range(90)]
PINNED = pin([part for part, _ in LINES], [text for _, text in LINES], [Part(0, 89)], 8, "Now: today")
SOURCE = "user: </input> " + "word " * 200
STEPS = [
    Speech("assistant", (Text("I look."), Use("a", "bash", '{"command": "ls"}'), Use("b", "zoom", '{"id": 3}'))),
    Speech("user", (Result("a", (Text("x" * 50),)), Result("b", (Text("y"),), failed=True), Text("and this"))),
]
FIRST = turn_talk(OURS, PINNED, (Text("hello"),), (), "off")
TALKS = {
    "a line": line_talk(OURS, LINES, Part(0, 90), (SOURCE,), (), "off", 8),
    "a merge": line_talk(OURS, LINES[:2], Part(1, 0), ("a " * 200, "b " * 200), (), "low"),
    "a follow-up": line_talk(OURS, LINES, Part(0, 90), (SOURCE,), ("z" * 600,), "off", 8),
    "a turn": FIRST,
    "a step": turn_talk(OURS, PINNED, (Text("hello"),), STEPS, "off", end_of(FIRST)),
    "a subagent": agent_talk(OURS, PINNED, "count", (), "high"),
}


@pytest.fixture
def api() -> Iterator[FakeApi]:
    with FakeApi(now=lambda: 0.0) as api:
        yield api


def anthropic(api: FakeApi, talk: Talk) -> httpx.Response:
    headers = {"x-api-key": "k", "anthropic-version": "2023-06-01"}
    return httpx.post(f"{api.base_url}/v1/messages", json=anthropic_body(MODEL, talk), headers=headers)


def openai(api: FakeApi, talk: Talk) -> httpx.Response:
    sent = openai_body("gpt-5-mini", talk, own_server=False)
    return httpx.post(f"{api.openai_url}/chat/completions", json=sent, headers={"authorization": "Bearer k"})


@pytest.mark.rule("26", "32", "57")
@pytest.mark.parametrize("name", TALKS)
@pytest.mark.parametrize("form", [anthropic, openai])
def test_every_kind_of_request_is_taken_in_both_forms(api: FakeApi, name: str, form) -> None:  # type: ignore[no-untyped-def]
    response = form(api, TALKS[name])
    assert 200 == response.status_code, response.text


@pytest.mark.rule("35")
def test_the_input_of_a_task_is_found_where_it_stands(api: FakeApi) -> None:
    response = anthropic(api, TALKS["a line"])
    said = orjson.loads(response.content)["content"]
    shown = SOURCE.replace("</input>", "‹/input›")
    assert [{"type": "text", "text": fake_script.line_of(shown)}] == said


@pytest.mark.rule("29")
@pytest.mark.parametrize("name", TALKS)
def test_blocks_are_counted_as_the_provider_counts_them(name: str) -> None:
    blocks = AnthropicForm().blocks(anthropic_body(MODEL, TALKS[name]))
    marked = blocks[: max(at for at, block in enumerate(blocks, start=1) if block.mark)]
    assert _positions(marked) == blocks_to_mark(TALKS[name])


@pytest.mark.rule("29")
def test_a_step_reads_all_that_the_request_before_had_sent(api: FakeApi) -> None:
    for name in ("a turn", "a step"):
        anthropic(api, TALKS[name])
    first, then = (request.usage for request in api.requests)
    assert (0, 0) == (first.cache_read, first.input)
    assert then.cache_read == first.cache_write
    assert 0 == then.input


@pytest.mark.rule("32")
def test_images_and_thoughts_go_along(api: FakeApi) -> None:
    said = [Speech("assistant", (Thought("openai", "{}"), Text("so"))), Speech("user", (Text("and?"),))]
    talk = turn_talk(OURS, PINNED, (Image("image/png", PNG),), said, "off", None)
    for form in (anthropic, openai):
        assert 200 == form(api, talk).status_code


def _positions(blocks: list[Block]) -> int:
    """Blocks, of which tools' uses, or results, in a row are one."""
    rows = zip(blocks, [None, *blocks], strict=False)
    return sum(
        block.kind not in ("use", "result") or before is None or block.kind != before.kind for block, before in rows
    )
