"""The sessions that `eukhe demo` imports: this project's own, about building this very agent."""

from pathlib import Path
from typing import NamedTuple

import orjson

_HERE = Path(__file__).parent


class Question(NamedTuple):
    """Something that was said in the sessions, and a piece of the message that answers it."""

    question: str
    answer: str


def sessions() -> Path:
    """The folder that holds them, one JSONL file a session, their names in the order of their dates."""
    return _HERE


def questions() -> list[Question]:
    """Questions to be answered from the memory."""
    return [Question(**fields) for fields in orjson.loads((_HERE / "questions.json").read_bytes())]
