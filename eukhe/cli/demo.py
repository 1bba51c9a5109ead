"""`eukhe demo`."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp

import click

from eukhe.cli.chat_import_sessions import import_sessions, tell_import
from eukhe.cli.command import Command, Given
from eukhe.cli.memory_build import build, tell_build
from eukhe.cli.output import emit, fit_width, say
from eukhe.cli.reading import Memory, reading
from eukhe.cli.service import owner_of
from eukhe.demo import Question, questions, sessions
from eukhe.limits import DEMO_ZOOMS_MAX
from eukhe.model.part import Part
from eukhe.model.render import line
from eukhe.model.seek import Seeker
from eukhe.world.config import store
from eukhe.world.providers.registry import EXTRACT
from eukhe.world.transcripts import plan


@click.command(cls=Command)
@click.option("--keep", is_flag=True, help="Keep the home, to look into it with the other commands.")
def command(keep: bool) -> None:
    """Build a memory out of this project's own sessions, offline, in a home that is thrown away.

    Prints the view, zooms from its oldest line down to a message, and finds the answers to questions by zooming.
    """
    with _home(keep) as home:
        store(home, "memory.model", EXTRACT)
        given = Given(str(home), no_service=True)
        with plan(sorted(sessions().glob("*.jsonl"))) as planned, owner_of(given) as owner:
            tell_import(import_sessions(owner, planned))
            tell_build(build(owner), EXTRACT)
        with reading(given) as memory:
            _view(memory)
            _zoom(memory, memory.chat.view.parts()[0])
            for asked in questions():
                _answer(memory, asked)
        if keep:
            emit(f"\nThe home is kept. Go on with:\n  export EUKHE_HOME={home}\n  eukhe chat status\n  eukhe chat view")


@contextmanager
def _home(keep: bool) -> Iterator[Path]:
    home = Path(mkdtemp(prefix="eukhe-demo-"))
    try:
        yield home
    except KeyboardInterrupt:  # what an import would say is not so here: the next demo begins anew
        raise KeyboardInterrupt from None
    finally:
        if keep:
            say(f"kept: {home}")
        else:
            shutil.rmtree(home)


def _view(memory: Memory) -> None:
    parts = memory.chat.view.parts()
    size, messages = memory.chat.view.size, memory.chat.t
    emit(f"\nThe view: {len(parts)} lines, {size} bytes, for {messages} messages; the oldest lines stand for many.")
    emit("`id+n` is a line's first message and how many it covers. Each is cut here to the terminal's width.\n")
    for part in parts:
        emit(fit_width(line(part, memory.text(part))))


def _zoom(memory: Memory, part: Part) -> None:
    """From a line down to its first message."""
    emit(f"\nFrom the oldest line down to a message, the first half each time:\n\n{line(part, memory.text(part))}")
    while part.level:
        emit(f"\n$ eukhe chat zoom {part.start} {part.messages}")
        for half in part.halves:
            emit(line(half, memory.text(half)))
        part = part.halves[0]
    emit(f"\n$ eukhe chat zoom {part.start} 1")
    record = memory.archive.message(part.i)
    assert record is not None
    emit(record.label)


def _answer(memory: Memory, asked: Question) -> None:
    """Zooms by the question's words until the answer stands on the screen."""
    seeker = Seeker(memory.chat.view.parts(), lambda part: memory.text(part) or "", asked.question)
    emit(f"\nA question, and zooms chosen by its words alone:\n\n? {asked.question}")
    for _ in range(DEMO_ZOOMS_MAX):
        part = seeker.next()
        if part is None:
            break
        emit(f"\n$ eukhe chat zoom {part.start} {part.messages}")
        for text in _shown(memory, part):
            if asked.answer in text:
                emit(_around(text, asked.answer))
                return
            emit(fit_width(text))
    emit(f"\nnot found within {DEMO_ZOOMS_MAX} zooms")


def _shown(memory: Memory, part: Part) -> list[str]:
    """What a zoom shows."""
    if part.level:
        return [line(half, memory.text(half)) for half in part.halves]
    record = memory.archive.message(part.i)
    return [] if record is None else [record.label]


def _around(text: str, answer: str) -> str:
    """The line of a text that has the answer, the answer marked."""
    found = next(line for line in text.splitlines() if answer in line)
    return found.replace(answer, f">>> {answer} <<<")
