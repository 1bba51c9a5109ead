"""The planner: messages a second, and what it keeps in memory, while compactors are never late."""

import tracemalloc
from collections.abc import Iterable

from eukhe.model.chat import Chat
from measure.figures import Aim, Figure, Sizes, cpu_seconds
from measure.made import line_sizes, sizes

MB = 1_000_000


def measure(of: Sizes) -> list[Figure]:
    few, many = list(sizes(of.planner_few)), list(sizes(of.planner))
    many_s, few_s = cpu_seconds(of.repeats, lambda: run(many), lambda: run(few))
    return [
        Figure(
            f"planner, {of.planner:,} messages",
            of.planner / many_s,
            "messages/s",
            f"the first {of.planner_few:,}",
            of.planner_few / few_s,
            Aim("value", 50_000, at_least=True),
        ),
        Figure(
            f"its memory, {of.planner:,} messages",
            _peak_mb(of.planner),
            "MB",
            f"the first {of.planner_few:,}",
            _peak_mb(of.planner_few),
            Aim("value", 10),
        ),
    ]


def run(messages: Iterable[int]) -> Chat:
    """Logs messages of these sizes; all lines that can be built are built before the next."""
    chat = Chat()
    lines = line_sizes()
    for size in messages:
        chat.logged(size)
        while parts := chat.queue():
            for part in parts:
                chat.start(part)
            for part in parts:
                if chat.built(part, next(lines)):
                    chat.free_above(part)
    return chat


def _peak_mb(count: int) -> float:
    tracemalloc.start()
    run(sizes(count))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak / MB
