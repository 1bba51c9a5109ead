"""The sessions that `eukhe demo` imports: this project's own, about building this very agent."""

from pathlib import Path


def sessions() -> Path:
    """The folder that holds them, one JSONL file a session, their names in the order of their dates."""
    return Path(__file__).parent
