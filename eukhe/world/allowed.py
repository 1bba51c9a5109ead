"""What the user has allowed tools in a chat, "always", besides what the settings allow: `<home>/chat/allowed.json`.

A rule holds in the folder in which it was given: `make test` runs something else elsewhere. Only the home's file
counts, which lies where no tool of a project puts one.
"""

from pathlib import Path
from typing import Final

import orjson

from eukhe.errors import StoreError
from eukhe.limits import ALLOWED_BYTES_MAX
from eukhe.model.permission import is_rule
from eukhe.world.disk import RealDisk
from eukhe.world.home import alone, chat_path

FILE_NAME: Final = "allowed.json"


def allowed_in(home: Path, folder: Path) -> tuple[str, ...]:
    """The rules that hold in a folder. A file that is damaged allows nothing."""
    return tuple(_read(home).get(str(folder.resolve()), ()))


def allow_in(home: Path, folder: Path, rule: str) -> None:
    """Remembers a rule. StoreError, HomeError."""
    assert is_rule(rule), rule
    with alone(home):
        rules = _read(home)
        there = rules.setdefault(str(folder.resolve()), [])
        if rule not in there:
            there.append(rule)
            data = orjson.dumps(rules, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
            RealDisk(chat_path(home)).replace(FILE_NAME, data, sync=True)


def _read(home: Path) -> dict[str, list[str]]:
    disk = RealDisk(chat_path(home))
    try:
        found = orjson.loads(disk.read(FILE_NAME, length=ALLOWED_BYTES_MAX))
    except (StoreError, orjson.JSONDecodeError):  # there is none, or it is damaged
        return {}
    if not isinstance(found, dict):
        return {}
    return {folder: list(filter(is_rule, rules)) for folder, rules in found.items() if isinstance(rules, list)}
