"""The user's own texts for a model: instructions in the home, prompts in the folder that `memory.prompts` names.

They are read once, when a chat's owner starts: what calls begin with stays the same while it is open (rule 27). What
has the shape of a key is not sent with them (D16).
"""

import errno
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from eukhe.errors import SettingsError
from eukhe.limits import INSTRUCTIONS_BYTES_MAX, PROMPT_BYTES_MAX
from eukhe.model.prompt import PLACEHOLDERS, Texts, texts, wrong_with
from eukhe.model.secrets import Secrets
from eukhe.world.config import Settings
from eukhe.world.home import INSTRUCTIONS


class Prompts(NamedTuple):
    """The texts in force; their system prompt in its two parts; the file of each text that is the user's own.

    `files`: by `AGENTS.md`, and by names of `PLACEHOLDERS`.
    """

    texts: Texts
    system: str
    instructions: str
    files: Mapping[str, Path]


def load_prompts(home: Path, settings: Settings) -> Prompts:
    """Reads the user's texts. SettingsError for one that can't be used, naming its file."""
    files = {}
    instructions = read_text(home / INSTRUCTIONS, INSTRUCTIONS_BYTES_MAX)
    if instructions is not None:
        files[INSTRUCTIONS] = home / INSTRUCTIONS
    overrides = {}
    if folder := settings.text("memory.prompts"):
        overrides = _overrides(Path(folder))
        files |= {name: Path(folder) / name for name in overrides}
    search = settings.found["memory.search"].value is not False
    said = (instructions or "").strip()
    return Prompts(texts(said, overrides, search), texts("", overrides, search).system, said, files)


def read_text(path: Path, bytes_max: int) -> str | None:
    """A text file, its newlines as `\\n`, without secrets; None where there is none.

    SettingsError where it is no such file.
    """
    try:
        data = read_beginning(path, bytes_max + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise SettingsError(f"{path}: can't be read: {error.strerror}") from error
    if len(data) > bytes_max:
        raise SettingsError(f"{path}: larger than {bytes_max:,} bytes, which every call would carry; shorten it")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise SettingsError(f"{path}: no UTF-8 at byte {error.start}; save it as UTF-8") from None
    if "\0" in text:
        raise SettingsError(f"{path}: holds a NUL, so it is no text; save it as UTF-8")
    return Secrets({}).hide(with_newlines(text))


def read_beginning(path: Path, bytes_max: int) -> bytes:
    """The first bytes of a file. OSError, also for what is no file: nothing is waited for, as at a pipe."""
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise OSError(errno.EINVAL, "it is no file", str(path))
        with open(fd, "rb", closefd=False) as file:
            return file.read(bytes_max)
    finally:
        os.close(fd)


def with_newlines(text: str) -> str:
    """The text with `\\n` at each line's end."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _overrides(folder: Path) -> dict[str, str]:
    """The texts that a folder has in place of ours, by file."""
    if not folder.is_dir():
        raise SettingsError(f"{folder}: no folder; make it, or take memory.prompts back")
    found = {}
    for name in PLACEHOLDERS:
        text = read_text(folder / name, PROMPT_BYTES_MAX)
        if text is None:
            continue
        if wrong := wrong_with(name, text):
            raise SettingsError(f"{folder / name}: {wrong}")
        found[name] = text.strip("\n")
    return found
