"""The most memory an import takes: of a large session beside a small one."""

from pathlib import Path

from eukhe.demo import sessions
from measure.command import eukhe, peak_bytes
from measure.figures import Figure, Sizes
from measure.made_sessions import copies

MB = 1_000_000


def measure(of: Sizes, folder: Path) -> list[Figure]:
    demo_mb = sum(file.stat().st_size for file in sessions().glob("*.jsonl")) / MB
    count = max(1, round(of.memory_mb / demo_mb))
    large = _one_session(copies(sessions(), folder / "copies", count), folder / "large.jsonl")
    small = min(sessions().glob("*.jsonl"), key=lambda file: file.stat().st_size)
    return [
        Figure(
            f"memory of an import, a session of {large.stat().st_size / MB:.1f} MB",
            _peak_mb(large, folder / "large"),
            "MB",
            f"a session of {small.stat().st_size / MB:.2f} MB",
            _peak_mb(small, folder / "small"),
        )
    ]


def _one_session(folder: Path, to: Path) -> Path:
    """All in one file."""
    with to.open("wb") as out:
        for file in sorted(folder.iterdir()):
            out.write(file.read_bytes())
    return to


def _peak_mb(session: Path, home: Path) -> float:
    return peak_bytes(eukhe("--home", home, "chat", "import", "sessions", session)) / MB
