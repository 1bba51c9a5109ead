"""A memory that answers the chat's own tools, for tests of builtin/recall: lines by builtin/extract, all built.

A stand-in for the owner's index: zoom and search as the tools are documented.
"""

import re
import sqlite3
from collections.abc import Sequence

import orjson

from eukhe.limits import NODE_BYTES_MAX
from eukhe.model.chat import Chat, ChatLimits
from eukhe.model.extract import extract
from eukhe.model.part import Part, part_of
from eukhe.model.recall import recall
from eukhe.model.render import line, render
from eukhe.model.talk import Reply, Result, Speech, Talk, Text, Tool, Use
from eukhe.model.text import flatten, size

ZOOM = Tool("zoom", "Opens a line.", "{}")
SEARCH = Tool("search", "Finds words.", "{}")
LOOKS_MAX = 100


class Memory:
    """Messages as `kind: text`."""

    def __init__(self, labels: Sequence[str], limits: ChatLimits | None = None) -> None:
        self.labels = labels
        self._lines: dict[Part, str] = {}
        chat = Chat(limits or ChatLimits())
        for label in labels:
            chat.logged(size(label))
            while parts := chat.queue():
                for part in parts:
                    chat.built(part, size(self.line(part)))
                    chat.free_above(part)
        chat.take()
        self.view = chat.view.parts()
        self._index = sqlite3.connect(":memory:")
        self._index.execute("CREATE VIRTUAL TABLE words USING fts5(text, tokenize='unicode61 remove_diacritics 2')")
        self._index.executemany("INSERT INTO words (rowid, text) VALUES (?, ?)", enumerate(labels))

    def line(self, part: Part) -> str:
        if part not in self._lines:
            sources = tuple(self.line(half) for half in part.halves) if part.level else (self.labels[part.i],)
            whole = "\n".join(sources)
            self._lines[part] = whole if size(whole) <= NODE_BYTES_MAX else extract(part, sources)
        return self._lines[part]

    def talk(self, question: str, tools: Sequence[Tool] = (ZOOM, SEARCH)) -> Talk:
        """A turn's first request."""
        said = (Text(render(self.view, self.line)), Text("Now: today"), Text("Turn: the new message follows."))
        return Talk("system", tuple(tools), (Speech("user", (*said, Text(question))),), "off", 1)

    def answer(self, talk: Talk) -> tuple[Reply, list[Use]]:
        """The final reply of a turn, and all the looks into the memory before it."""
        looks: list[Use] = []
        while (reply := recall(talk)).stop == "tools":
            looks += reply.uses
            assert LOOKS_MAX > len(looks), "it looks for ever"
            results = tuple(Result(use.id, (Text(self.tool(use)),)) for use in reply.uses)
            steps = (Speech("assistant", reply.blocks), Speech("user", results))
            talk = Talk(talk.system, talk.tools, (*talk.speeches, *steps), talk.effort, talk.tokens_max)
        return reply, looks

    def tool(self, use: Use) -> str:
        asked = orjson.loads(use.input)
        if use.name == "search":
            return self._search(asked["words"])
        assert "zoom" == use.name
        part = part_of(asked["id"], asked["n"])
        if part is None or part.end > len(self.labels):
            return f"No line {asked['id']}+{asked['n']}."
        if part.level == 0:
            return self.labels[part.i]
        return "\n".join(line(half, self.line(half)) for half in part.halves)

    def _search(self, words: str) -> str:
        quoted = " ".join(f'"{word}"' for word in re.findall(r"\w+", words))
        rows = self._index.execute(
            "SELECT rowid FROM words WHERE words MATCH ? ORDER BY bm25(words), rowid LIMIT 10", (quoted,)
        )
        hits = [f"{i}|2026-10-05 09:32:11 +02:00|{flatten(self.labels[i])[:200]}" for (i,) in rows]
        return "\n".join(hits) or "Nothing found."
