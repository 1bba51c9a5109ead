"""How much of what was said can be found again: python tools/recall.py [--data FOLDER] [--json] [--each]

Imports real sessions, builds the whole tree in memory, makes the view, and asks questions whose answers are known
(recall_questions.toml): how many answers stand in the view, and how many are shown within 1, 2, 4 and 8 zooms chosen by
the words of the question alone. Asked of three writers of lines: builtin/extract; each line cut at 512 bytes; a merge
cut to even halves. At the default view and at smaller ones, in which lines stand for more messages.

The questions are in two halves by a fixed seed: `dev`, to improve writer and policy on, and `held`, to believe.
"""

import argparse
import json
import random
import sys
import tomllib
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from eukhe.limits import MERGE_HALF_BYTES_MAX, NODE_BYTES_MAX, REPEAT_CHARS_MIN, VIEW_CEILING_BYTES
from eukhe.model.chat import Chat, ChatLimits
from eukhe.model.extract import extract
from eukhe.model.part import Part
from eukhe.model.seek import Seeker
from eukhe.model.text import cut, flatten, label, size, split
from eukhe.world.transcripts import Said, plan, read

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT.parent / "shared" / "data" / "claude-code"
QUESTIONS = Path(__file__).with_name("recall_questions.toml")
MERGED_BYTES = (VIEW_CEILING_BYTES >> 1, 32_000, 16_000, 8_000)
ZOOMS = (0, 1, 2, 4, 8)
SEED = 20_261_008

Writer = Callable[[Part, tuple[str, ...]], str]


class Question(NamedTuple):
    session: str
    kind: str
    ask: str
    answer: str


def cut_at_512(part: Part, sources: tuple[str, ...]) -> str:
    """The plainest line: the beginning of what there is."""
    return cut("\n".join(sources))


def cut_to_halves(part: Part, sources: tuple[str, ...]) -> str:
    """A node that failed too often (D5): a message cut, a merge of both halves cut."""
    if len(sources) == 1:
        return cut(sources[0])
    return "\n".join(cut(source, MERGE_HALF_BYTES_MAX) for source in sources)


WRITERS: dict[str, Writer] = {"extract": extract, "cut at 512": cut_at_512, "cut halves": cut_to_halves}


class Row(NamedTuple):
    """A line of the report: how many answers were shown within so many zooms."""

    view: str
    writer: str
    questions: str
    of: int
    within: dict[int, int]


class Tree:
    """Every line of a chat by one writer; free nodes are verbatim."""

    def __init__(self, labels: Sequence[str], write: Writer) -> None:
        self.labels = labels
        self._write = write
        self._lines: dict[Part, str] = {}

    def line(self, part: Part) -> str:
        line = self._lines.get(part)
        if line is None:
            sources = tuple(self.line(half) for half in part.halves) if part.level else (self.labels[part.i],)
            line = "\n".join(sources)
            if size(line) > NODE_BYTES_MAX:
                line = self._write(part, sources)
            assert 1 <= size(line) <= NODE_BYTES_MAX, f"{part.name}: {size(line)} bytes"
            self._lines[part] = line
        return line

    def view(self, ceiling: int, just_merged: bool = False) -> list[Part]:
        """The view of a chat whose lines were never late: what is due is built before the next message.

        `just_merged`: as a batch leaves it, half as large as its ceiling, wherever the last batch was.
        """
        chat = Chat(ChatLimits(ceiling, ceiling >> 1, ceiling >> 2, ceiling >> 3))
        for message in self.labels:
            chat.logged(size(message))
            while parts := chat.queue():
                for part in parts:
                    chat.built(part, size(self.line(part)))
                    chat.free_above(part)
        chat.take()
        if just_merged:
            chat.view.fit(chat.t, chat.limits.floor)
        return chat.view.parts()

    def views(self) -> dict[str, list[Part]]:
        """The default view, which each writer's lines fill differently; and views of the same bytes for all."""
        views = {"default": self.view(VIEW_CEILING_BYTES)}
        return views | {f"{floor} bytes": self.view(floor << 1, just_merged=True) for floor in MERGED_BYTES}


# --- zooming by a question's words ---


def zooms_needed(tree: Tree, view: Sequence[Part], question: Question, zooms_max: int) -> int | None:
    """How many zooms show the answer; 0: it stands in the view; None: more than `zooms_max`."""
    if any(question.answer in flatten(tree.line(part)) for part in view):
        return 0
    seeker = Seeker(view, tree.line, question.ask)
    for zooms in range(1, zooms_max + 1):
        part = seeker.next()
        if part is None:
            return None
        shown = map(tree.line, part.halves) if part.level else [tree.labels[part.i]]
        if any(question.answer in flatten(text) for text in shown):
            return zooms
    return None


# --- the report ---


def read_questions(path: Path = QUESTIONS) -> list[Question]:
    return [Question(**fields) for fields in tomllib.loads(path.read_text(encoding="utf-8"))["question"]]


def halves(count: int) -> tuple[list[int], list[int]]:
    """The questions of the two halves, by their numbers."""
    dev = sorted(random.Random(SEED).sample(range(count), count >> 1))
    return dev, [number for number in range(count) if number not in dev]


def check(questions: Iterable[Question], labels: Sequence[str]) -> Iterator[str]:
    """What is wrong with the questions: each answer must stand in a message of its kind."""
    flat = [flatten(label) for label in labels]
    for question in questions:
        kinds = {label.partition(": ")[0] for label in flat if question.answer in label}
        if question.kind not in kinds:
            yield f"{question.session}: no {question.kind} message says {question.answer!r}, but {sorted(kinds)}"


def measure(labels: Sequence[str], questions: Sequence[Question], writer: str) -> dict[str, list[int | None]]:
    """For each view, how many zooms each question needs."""
    tree = Tree(labels, WRITERS[writer])
    return {
        name: [zooms_needed(tree, view, question, ZOOMS[-1]) for question in questions]
        for name, view in tree.views().items()
    }


def within(needed: Iterable[int | None], zooms: int) -> int:
    return sum(count is not None and count <= zooms for count in needed)


def load(data: Path) -> list[str]:
    """Everything said in the sessions under a folder, as `kind: text`, in the order and the pieces of an import."""
    labels = []
    long: set[str] = set()
    with plan([data]) as planned:
        for said in read(planned):
            if not isinstance(said, Said):
                continue
            if len(said.text) >= REPEAT_CHARS_MIN:
                if said.text in long:
                    continue
                long.add(said.text)
            labels += [label(said.kind, piece) for piece in split(said.text)]
    return labels


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA, help="folder of Claude Code sessions")
    parser.add_argument("--json", action="store_true", help="print the counts as JSON")
    parser.add_argument("--each", action="store_true", help="print how many zooms each question needs")
    options = parser.parse_args()
    return report(load(options.data), options.json, options.each)


def report(labels: Sequence[str], as_json: bool, each: bool) -> int:
    questions = read_questions()
    wrong = list(check(questions, labels))
    for line in wrong:
        print(line, file=sys.stderr)
    if wrong:
        return 1
    dev, held = halves(len(questions))
    parts = {"all": range(len(questions)), "dev": dev, "held": held}
    rows = []
    for writer in WRITERS:
        for view, needed in measure(labels, questions, writer).items():
            for name, numbers in parts.items():
                counts = {zooms: within((needed[number] for number in numbers), zooms) for zooms in ZOOMS}
                rows.append(Row(view, writer, name, len(numbers), counts))
            if each and writer == "extract":
                for number, question in enumerate(questions):
                    zooms = "-" if needed[number] is None else needed[number]
                    print(f"{view:<12} {'dev ' if number in dev else 'held'} {zooms:>2}  {question.ask}")
    if as_json:
        print(json.dumps([row._asdict() for row in rows], indent=2))
        return 0
    print(f"{len(labels)} messages, {len(questions)} questions; answers shown in the view, and within so many zooms")
    print(f"{'view':<13}{'writer':<12}{'questions':<11}" + "".join(f"{zooms or 'view':>5}" for zooms in ZOOMS))
    order = list(dict.fromkeys(row.view for row in rows))
    for row in sorted(rows, key=lambda row: order.index(row.view)):
        counted = "".join(f"{count:>5}" for count in row.within.values())
        print(f"{row.view:<13}{row.writer:<12}{row.questions:<5}{row.of:<6}{counted}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
