"""What a turn must know of permissions: whether a tool may run, must be asked for, or is refused."""

from typing import Any, NamedTuple, Protocol


class Allowed(NamedTuple):
    """It may run."""


class Ask(NamedTuple):
    """The user is to be asked: this is shown. `rule`: what would allow all like it."""

    shown: str
    rule: str


class Refused(NamedTuple):
    """It may not; this is said to the model."""

    why: str


class Policy(Protocol):
    """Whoever decides."""

    def decide(self, name: str, given: dict[str, Any]) -> Allowed | Ask | Refused:
        """Whether a tool may run with this input."""
        ...

    def allow(self, rule: str) -> None:
        """What this rule allows runs from now on without being asked for."""
        ...
