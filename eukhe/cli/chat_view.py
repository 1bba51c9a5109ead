"""`eukhe chat view`."""

import click

from eukhe.cli.command import Command, Given
from eukhe.cli.lines import LINE_KEYS, line_json
from eukhe.cli.output import emit, emit_json
from eukhe.cli.reading import Memory, reading, tell_problems
from eukhe.model.part import Part
from eukhe.model.render import deadline_texts, line, render

JSON_KEYS = {"t": "how many messages the chat has", **LINE_KEYS}


@click.command(cls=Command, json_keys=JSON_KEYS)
@click.option("--as-turn", is_flag=True, help="As a turn that waits no longer would get it now.")
@click.pass_obj
def command(given: Given, as_turn: bool, as_json: bool) -> None:
    """Print every line of the view, oldest first.

    A turn's view is merged first where that is due, and shows messages in the place of lines that are not written yet.
    """
    with reading(given) as memory:
        tell_problems(memory.opened)
        if as_turn:
            memory.chat.take()  # this command's own copy
        parts = memory.chat.view.parts()
        texts: dict[Part, str | None] = {part: memory.text(part) for part in parts}
        built = {part for part, text in texts.items() if text is not None}
        if as_turn:
            texts.update(deadline_texts(parts, texts.get, lambda part: _message(memory, part)))
        if as_json:
            rows = [{**line_json(part, texts[part]), "built": part in built} for part in parts]
            emit_json({"t": memory.chat.t, "lines": rows})
        elif as_turn:
            emit(render(parts, texts.get))
        else:
            for part in parts:
                emit(line(part, texts[part]))


def _message(memory: Memory, part: Part) -> str:
    return "\n".join(memory.archive.source(part) or ())
