"""Where the tools work: a folder, from which paths are meant, and what a change would do there."""

import os
from contextlib import suppress
from pathlib import Path

from eukhe.limits import TOOL_FILE_BYTES_MAX
from eukhe.model.edit import NoEdit, diff, edit
from eukhe.model.tool_input import Edit, Write
from eukhe.world.tools.files import whole_text


class RealPlace:
    """Implements `Place` for a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, named: str) -> Path:
        """The whole path of a file as a model names it: `~` is the home; links are left as they are."""
        path = Path(named)
        with suppress(RuntimeError):  # nobody has that home
            path = path.expanduser()
        return self.folder / path

    def resolve(self, path: str) -> str:
        return os.path.realpath(self.path(path))

    def change(self, given: Write | Edit) -> str:
        path = self.resolve(given.path)
        try:
            before, _ = whole_text(Path(path), TOOL_FILE_BYTES_MAX)
        except FileNotFoundError:
            return diff(path, None, given.text) if isinstance(given, Write) else f"{path} is not there"
        except OSError as error:
            return f"{path}: {error.strerror or error}"
        if isinstance(given, Write):
            return diff(path, before, given.text)
        made = edit(before, given.old, given.new, everywhere=given.all)
        return f"{path}: {made.why}" if isinstance(made, NoEdit) else diff(path, before, made.text)
