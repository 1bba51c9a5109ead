"""What it costs to look into a chat of a million messages, beside one of a thousand."""

import random
import shutil
from contextlib import closing
from functools import partial
from pathlib import Path

import orjson

from eukhe.actors.opening import open_chat
from eukhe.cli.command import Given
from eukhe.cli.reading import INDEX_FILE, reading
from eukhe.model.part import Part
from eukhe.world.disk import RealDisk
from eukhe.world.index import SqliteIndex
from measure.command import eukhe, run
from measure.figures import Aim, Figure, Sizes, medians, percentile, seconds
from measure.made import SEED
from measure.made_chat import MadeChat

CHARS = 250  # a message on the average
LINE_LEVEL = 4
MS, US = 1_000, 1_000_000


def measure(of: Sizes, folder: Path) -> list[Figure]:
    many, few = Home(folder / "many", of.chat_many), Home(folder / "few", of.chat_few)
    few.feed()
    index_s = seconds(many.feed)
    json_s = seconds(many.parse)
    count, beside = f"{of.chat_many:,} messages", f"{of.chat_few:,} messages"
    figures = [
        Figure(
            f"the index made anew, {count}",
            of.chat_many / index_s,
            "messages/s",
            "the lines of its logs as JSON, no more",
            of.chat_many / json_s,
        )
    ]
    line = str(1 << LINE_LEVEL)
    for name, args, aim in (
        (f"chat status, {count}", ("status",), Aim("times", 1.3)),
        (f"chat zoom, a message of {count}", ("zoom", line), None),
        (f"chat zoom, a line of {count}", ("zoom", line, line), None),
        (f"opening a chat of {count}", (), None),
    ):
        many_s, few_s = medians(of.chat_runs, *(partial(home.look, *args) for home in (many, few)))
        figures.append(Figure(name, many_s * MS, "ms", beside, few_s * MS, aim))
    for name, level in (("a message", 0), ("a line's two halves", LINE_LEVEL)):
        times = [home.zoom_s(level, of.zooms) for home in (many, few)]
        for percent in (50, 99):
            value, base = [percentile(each, percent) * US for each in times]
            figures.append(Figure(f"{name} read among {count}, p{percent}", value, "µs", beside, base))
    shutil.rmtree(many.home)
    return figures


class Home:
    """A home with a chat of `count` messages, without an index."""

    def __init__(self, home: Path, count: int) -> None:
        self.home = home
        self.count = count
        made = MadeChat(home, CHARS)
        made.write(count)
        self.chat = made.folder

    def feed(self) -> None:
        """The first opening."""
        with closing(RealDisk(self.chat)) as disk, closing(SqliteIndex(self.chat / INDEX_FILE)) as index:
            opened = open_chat(disk, index, owner=True)
        assert (self.count, ()) == (opened.chat.t, opened.problems)

    def parse(self) -> None:
        """The least that reading the logs can cost."""
        for folder in ("main", "tree"):
            for log in sorted((self.chat / folder).iterdir()):
                with log.open("rb") as lines:
                    for line in lines:
                        orjson.loads(line)

    def look(self, *args: str) -> None:
        """A command on the chat; without any, what each of them begins with, in this process."""
        if args:
            run(eukhe("--home", self.home, "chat", *args))
            return
        with reading(Given(str(self.home))) as memory:
            assert self.count == memory.chat.t

    def zoom_s(self, level: int, times: int) -> list[float]:
        """Seconds of each of some zooms anywhere in the chat, at one level."""
        chance = random.Random(SEED)
        with reading(Given(str(self.home))) as memory:
            parts = [Part(level, chance.randrange(self.count >> level)) for _ in range(times)]
            return [seconds(partial(memory.archive.source, part)) for part in parts]
