"""A run written down, to be played again: its options, and of a shrunk one the injections that it keeps."""

from pathlib import Path

import msgspec

from eukhe.errors import ExpectedError
from eukhe.sim.faults import FAULTS
from eukhe.sim.options import VIEWS, Options


class TapeError(ExpectedError):
    """A tape that can't be read or written."""

    def __init__(self, path: Path, why: str) -> None:
        super().__init__(f"{path}: {why}")


class Tape(msgspec.Struct, frozen=True):
    """`check`: what failed in the run, None where nothing did."""

    options: Options
    check: str | None = None


def write(path: Path, tape: Tape) -> None:
    try:
        path.write_bytes(msgspec.json.format(msgspec.json.encode(tape)) + b"\n")
    except OSError as error:
        raise TapeError(path, error.strerror or str(error)) from None


def read(path: Path) -> Tape:
    try:
        tape = msgspec.json.decode(path.read_bytes(), type=Tape)
    except OSError as error:
        raise TapeError(path, error.strerror or str(error)) from None
    except msgspec.DecodeError as error:
        raise TapeError(path, f"is no tape: {error}") from None
    options = tape.options
    if unknown := sorted(options.odds.keys() - FAULTS.keys()):
        raise TapeError(path, f"names faults that there are not: {', '.join(unknown)}")
    if not (0 <= options.view < len(VIEWS) and options.jobs > 0 and min(options.odds.values(), default=1) > 0):
        raise TapeError(path, "names a view, jobs or odds that there are not")
    return tape
