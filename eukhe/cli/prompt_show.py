"""`eukhe prompt show`."""

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import NamedTuple

import click

from eukhe.cli.command import Command, Given
from eukhe.cli.config_list import settings_of
from eukhe.cli.output import emit, emit_json, path_text
from eukhe.errors import NotFoundError
from eukhe.world.home import INSTRUCTIONS
from eukhe.world.prompts import Prompts, load_prompts

JSON_KEYS = {
    "[].name": "`system` and `instructions`, which is its end; `turn`, `message`, `merge`, `too_long`; a tool's name",
    "[].source": "`ours`, or the file that it is from; null where there are no instructions",
    "[].text": "the text, with names in braces for what differs from call to call; of a tool its description",
    "[].schema": "of a tool: the JSON schema of its input; null for other texts",
}
OURS = "ours"


class Shown(NamedTuple):
    """A text in force. `source`: None where there is none; `schema`: of a tool's input."""

    name: str
    source: str | None
    text: str
    schema: str | None = None


@click.command(cls=Command, json_keys=JSON_KEYS)
@click.argument("name", required=False)
@click.pass_obj
def command(given: Given, name: str | None, as_json: bool) -> None:
    """Print the texts that a model is sent, each with its source; with NAME that one alone.

    AGENTS.md in the home is the user's own instructions. The setting memory.prompts names a folder whose files take
    the place of ours, each whole: system.md, message.md, merge.md, too_long.md, zoom.md, date.md. Names in braces stand
    for what differs from call to call; a file may use those that ours has. An owner that runs has the texts of its
    start.
    """
    shown = list(_shown(load_prompts(given.home, settings_of(given))))
    if name is not None:
        shown = [_named(shown, name)]
    if as_json:
        from orjson import loads

        emit_json([text._asdict() | {"schema": text.schema and loads(text.schema)} for text in shown])
    elif name is not None:
        emit(shown[0].text)
    else:
        emit("\n\n".join(_with_head(text) for text in shown))


def _shown(prompts: Prompts) -> Iterator[Shown]:
    texts, files = prompts.texts, prompts.files
    yield Shown("system", _source(files, "system"), prompts.system)
    own = files.get(INSTRUCTIONS)
    yield Shown("instructions", None if own is None else path_text(own), prompts.instructions)
    yield Shown("turn", OURS, texts.turn)
    for name, text in (("message", texts.message), ("merge", texts.merge), ("too_long", texts.too_long)):
        yield Shown(name, _source(files, name), text)
    for tool in texts.tools:
        yield Shown(tool.name, _source(files, tool.name), tool.description, tool.schema)


def _source(files: Mapping[str, Path], name: str) -> str:
    file = files.get(f"{name}.md")
    return OURS if file is None else path_text(file)


def _named(shown: list[Shown], name: str) -> Shown:
    """The text of a name, also of its file's. NotFoundError, with a hint."""
    by_name = {text.name: text for text in shown}
    wanted = "instructions" if name == INSTRUCTIONS else name.removesuffix(".md")
    if wanted in by_name:
        return by_name[wanted]
    near = get_close_matches(wanted, by_name, n=1)
    hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(by_name)}"
    raise NotFoundError(f"no text {name}; {hint}")


def _with_head(text: Shown) -> str:
    schema = "" if text.schema is None else f"\n\ninput: {text.schema}"
    return f"--- {text.name} ({text.source or 'none'}) ---\n\n{text.text}{schema}"
