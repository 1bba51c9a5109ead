"""Import of sessions: read, logged, indexed, all lines built; beside it the reading alone."""

from pathlib import Path

from eukhe.cli.chat_import_sessions import import_sessions
from eukhe.cli.command import Given
from eukhe.cli.memory_build import build
from eukhe.cli.service import owner_of
from eukhe.demo import sessions
from eukhe.world.transcripts import Said, plan, read
from measure.figures import Figure, Sizes, seconds
from measure.made_sessions import copies

MB = 1_000_000


def measure(of: Sizes, folder: Path, real: Path) -> list[Figure]:
    """`real`: sessions of somebody else, measured as well where they are there."""
    demo = copies(sessions(), folder / "demo", of.import_copies)
    figures = _of("the demo's sessions", demo, folder / "home")
    return [*figures, *_of("real sessions", real, folder / "real")] if real.is_dir() else figures


def _of(name: str, sessions: Path, home: Path) -> list[Figure]:
    found = Import(sessions, home)
    read_s, import_s = seconds(found.read), seconds(found.whole)
    mb = found.bytes / MB
    return [
        Figure(f"import of {name}, {mb:.1f} MB", mb / import_s, "MB/s", "reading them alone", mb / read_s),
        Figure(
            f"import of {name}, {found.messages:,} messages",
            found.messages / import_s,
            "messages/s",
            "reading them alone",
            found.messages / read_s,
        ),
    ]


class Import:
    """The sessions in a folder, on their way into a home. `bytes`, `messages`: how much is said in them."""

    def __init__(self, sessions: Path, home: Path) -> None:
        self.sessions = sessions
        self.given = Given(str(home), no_service=True)
        self.bytes = sum(file.stat().st_size for file in sessions.rglob("*.jsonl"))
        self.messages = 0

    def read(self) -> None:
        with plan([self.sessions]) as planned:
            self.messages = sum(isinstance(item, Said) for item in read(planned))

    def whole(self) -> None:
        """With the lines that builtin/extract writes."""
        with plan([self.sessions]) as planned, owner_of(self.given) as owner:
            assert import_sessions(owner, planned).counts.logged
            assert not build(owner)["unsummarized"]
