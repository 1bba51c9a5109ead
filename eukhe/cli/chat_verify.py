"""`eukhe chat verify`."""

from collections.abc import Callable
from contextlib import ExitStack, closing
from pathlib import Path

import click

from eukhe.actors.archive import Archive
from eukhe.actors.log_files import LogFiles
from eukhe.actors.opening import open_chat, saved_view
from eukhe.cli.command import Command, Given
from eukhe.cli.config_list import settings_of
from eukhe.cli.output import counted, emit, emit_json, say
from eukhe.cli.progress import progress
from eukhe.cli.reading import INDEX_FILE, find
from eukhe.errors import ChatLockedError, HomeError, IndexFailed
from eukhe.limits import EXIT_FAILED
from eukhe.model.chat import ChatLimits
from eukhe.model.scan import Problem, Read
from eukhe.model.verify import Files, Verification
from eukhe.world.disk import RealDisk
from eukhe.world.index import SqliteIndex
from eukhe.world.index_reader import ReaderIndex
from eukhe.world.lock import ChatLock

JSON_KEYS = {
    "ok": "whether the chat is as it should be",
    "messages": "how many messages were read",
    "nodes": "how many lines of the tree were read",
    "problems[].file": "a file of the chat's folder",
    "problems[].line": "the line, from 1",
    "problems[].offset": "its first byte",
    "problems[].what": "what is wrong",
}

_WHAT_TO_DO = (
    "`eukhe doctor` mends what can be mended and makes index.db anew; a line of a log is never edited, "
    "so for a chat without these problems import a `eukhe chat export` into a new home"
)


@click.command(cls=Command, json_keys=JSON_KEYS)
@click.pass_obj
def command(given: Given, as_json: bool) -> None:
    """Read all of the chat anew, and prove that its files agree.

    The ids, the sizes, each line's halves and its limit, the lines that need no model, the view as the merges give it,
    view.json, the index and the state in it. Nothing is changed. Exit 1 where something is wrong.
    """
    folder = find(given)
    with ExitStack() as stack:
        alone = _lock(folder, stack)
        index = _index(folder, stack)  # before the logs: an owner may write on meanwhile
        disk = stack.enter_context(closing(RealDisk(folder)))
        tree, main = LogFiles(disk, "tree"), LogFiles(disk, "main")
        for stray in (*main.stray_problems(), *tree.stray_problems()):
            say(str(stray))
        saved = saved_view(disk) if alone else None
        # The tree is read twice: what a later line voids has to be known before.
        total = sum(disk.length(path) or 0 for path, _ in [*tree.files(), *tree.files(), *main.files()])
        bar = stack.enter_context(progress("reading", total, in_bytes=True))
        verification = Verification(_telling(main, bar.advance), _telling(tree, bar.advance), saved, index)
        problems = [problem for problem in verification.problems() if _told(problem)]
        if alone and index is not None and not problems:
            problems += _checkpoint(disk, folder, settings_of(given).chat_limits(), verification)
    if as_json:
        rows = [{"file": p.file, "line": p.line, "offset": p.offset, "what": p.what} for p in problems]
        emit_json(
            {"ok": not problems, "messages": verification.messages, "nodes": verification.nodes, "problems": rows}
        )
    else:
        for problem in problems:
            emit(str(problem))
        batches = "1 batch" if verification.batches == 1 else f"{verification.batches} batches"
        counts = f"{counted(verification.messages, 'message')}, {counted(verification.nodes, 'line')}, {batches}"
        emit(f"{counts}: {counted(len(problems), 'problem') if problems else 'all agree'}")
        if problems:
            emit(_WHAT_TO_DO)
    if problems:
        raise click.exceptions.Exit(EXIT_FAILED)


def _told(problem: Problem) -> bool:
    """Whether it counts; what is harmless is said in passing."""
    if problem.harmless:
        say(str(problem))
    return not problem.harmless


def _lock(folder: Path, stack: ExitStack) -> bool:
    """Takes the lock for as long as the proof takes, and says so where it can't be had."""
    try:
        stack.enter_context(ChatLock(folder))
    except (ChatLockedError, HomeError) as error:
        say(f"{error}; view.json is left out meanwhile")
        return False
    return True


def _index(folder: Path, stack: ExitStack) -> SqliteIndex | None:
    path = folder / INDEX_FILE
    if not path.exists():
        say(f"{path}: there is none; it is made when the chat is read")
        return None
    try:
        return stack.enter_context(closing(SqliteIndex(path, read_only=True)))
    except IndexFailed as error:
        say(f"{error.path}: {error.why}; it is made anew when the chat is read")
        return None


def _checkpoint(disk: RealDisk, folder: Path, limits: ChatLimits, proven: Verification) -> list[Problem]:
    """What every start believes of the index without reading the logs: the planner's state."""
    with closing(ReaderIndex(folder / INDEX_FILE)) as index:
        opened = open_chat(disk, index, limits, owner=False)
        chat, archive = opened.chat, Archive(disk, index)
        parts = chat.view.parts()
        nodes = chat.built_nodes.count - len(opened.free)
        sizes = {part: chat.sizes[part] for part in parts if part in chat.sizes and part not in opened.free}
        logged = {part: node.size for part in sizes if (node := archive.node(part)) is not None}
    found = (chat.t, nodes, chat.shrinking, parts, sizes)
    if found == (proven.messages, proven.nodes, proven.shrinking, proven.view, logged):
        return []
    return [Problem(INDEX_FILE, 1, 0, "the state that a start goes on from is not what the logs give")]


def _telling(log: LogFiles, read_bytes: Callable[[int], None]) -> Files:
    def telling(read: Read) -> Read:
        def counting(offset: int, length: int) -> bytes:
            data = read(offset, length)
            read_bytes(len(data))
            return data

        return counting

    return [(path, telling(read)) for path, read in log.files()]
