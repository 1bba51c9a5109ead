"""A measured number, the one it is held against, and the table of them all."""

import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

HEADER = ("what", "measured", "beside it, in the same run", "against it", "aim")


class Aim(NamedTuple):
    """A bound on a figure's value ("of" value), on its ratio to the other ("times"), or on what it is more ("more")."""

    of: str
    bound: float
    at_least: bool = False


class Figure(NamedTuple):
    """`value` and `base` are in `unit`; `beside` says what was measured as the base."""

    what: str
    value: float
    unit: str
    beside: str
    base: float
    aim: Aim | None = None

    @property
    def ratio(self) -> float:
        return self.value / self.base if self.base else float("inf")

    @property
    def reached(self) -> bool | None:
        """Whether the aim is reached; None where there is none."""
        if self.aim is None:
            return None
        held = {"value": self.value, "times": self.ratio, "more": self.value - self.base}[self.aim.of]
        return held >= self.aim.bound if self.aim.at_least else held <= self.aim.bound


class Sizes(NamedTuple):
    """How much is measured, and how often. Counts are of messages where nothing else is said."""

    planner: int = 1_000_000
    planner_few: int = 100_000
    append_rounds: int = 100
    append_each: int = 32  # of a round
    append_whole: int = 4_000
    chat_many: int = 1_000_000
    chat_few: int = 1_000
    chat_runs: int = 11  # of each command
    zooms: int = 2_000
    import_copies: int = 8  # of the demo's sessions
    start_runs: int = 20
    line_rounds: int = 5
    worker_starts: int = 50
    worker_calls: int = 1_000
    worker_ends: int = 11  # owners that are killed
    memory_mb: int = 50
    idle_s: float = 60
    take_overs: int = 10
    sim_runs: int = 60
    turn_runs: int = 11
    cache_messages: int = 3_000
    cache_long_messages: int = 22_900  # 2,020 turns and more
    repeats: int = 2


QUICK = Sizes(
    planner=100_000,
    planner_few=10_000,
    append_rounds=12,
    append_whole=500,
    chat_many=20_000,
    chat_runs=5,
    zooms=500,
    import_copies=1,
    start_runs=7,
    line_rounds=2,
    worker_starts=10,
    worker_calls=200,
    worker_ends=3,
    memory_mb=4,
    sim_runs=8,
    turn_runs=5,
    cache_messages=1_000,
    cache_long_messages=2_500,
    idle_s=10,
    take_overs=3,
    repeats=2,
)


def seconds(work: Callable[[], object]) -> float:
    """How long some work takes, once."""
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def medians(runs: int, *works: Callable[[], object]) -> list[float]:
    """The median seconds of each, all in turn, so that what else the machine does falls on all alike."""
    times: list[list[float]] = [[] for _ in works]
    for _ in range(runs):
        for work, took in zip(works, times, strict=True):
            took.append(seconds(work))
    return [statistics.median(took) for took in times]


def cpu_seconds(runs: int, *works: Callable[[], object]) -> list[float]:
    """The least seconds that this process spends on each, all in turn: of work that waits for nothing."""
    times: list[list[float]] = [[] for _ in works]
    for _ in range(runs):
        for work, took in zip(works, times, strict=True):
            begun = time.process_time()
            work()
            took.append(time.process_time() - begun)
    return [min(took) for took in times]


def percentile(values: Iterable[float], percent: int) -> float:
    """The value that `percent` of all are not above."""
    ordered = sorted(values)
    return ordered[min(len(ordered) * percent // 100, len(ordered) - 1)]


def table(figures: Sequence[Figure]) -> str:
    """A Markdown table."""
    rows = [HEADER, *(_row(figure) for figure in figures)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    rows.insert(1, tuple("-" * width for width in widths))
    return "\n".join(
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |" for row in rows
    )


def as_json(figure: Figure) -> dict[str, Any]:
    """The figure with all that the table shows."""
    aim = None if figure.aim is None else figure.aim._asdict()
    return {**figure._asdict(), "aim": aim, "ratio": figure.ratio, "reached": figure.reached}


def _row(figure: Figure) -> tuple[str, ...]:
    aim = figure.aim
    more = aim is not None and aim.of == "more"
    against = f"{figure.value - figure.base:+.0f} {figure.unit}" if more else f"{_number(figure.ratio)} times"
    return (
        figure.what,
        f"{_number(figure.value)} {figure.unit}",
        f"{_number(figure.base)} {figure.unit}: {figure.beside}",
        against,
        "" if aim is None else f"{_aim(aim, figure.unit)}: {'reached' if figure.reached else 'missed'}",
    )


def _aim(aim: Aim, unit: str) -> str:
    words = "at least" if aim.at_least else "at most"
    return f"{words} {_number(aim.bound)} {'times' if aim.of == 'times' else unit}{' more' if aim.of == 'more' else ''}"


def _number(value: float) -> str:
    """Three digits, as many as mean anything; whole numbers from 100 on, in groups of three."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.{1 if value >= 10 else 2}f}".rstrip("0").rstrip(".")
