"""A known bug, and how it is planted while a run lasts."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

Right = Callable[..., Any]
"""In whose place a broken one stands."""


class Canary(NamedTuple):
    """`what`: the bug. `checks`: those that are about it. `broken` stands in the place of `name` of `owner`, and is
    given the right one before the arguments.
    """

    what: str
    checks: tuple[str, ...]
    owner: object
    name: str
    broken: Callable[..., Any]

    @contextmanager
    def planted(self) -> Iterator[None]:
        """The bug is there."""
        right = getattr(self.owner, self.name)
        setattr(self.owner, self.name, lambda *arguments, **named: self.broken(right, *arguments, **named))
        try:
            yield
        finally:
            setattr(self.owner, self.name, right)
