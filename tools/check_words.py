"""Words that are not the project's: prints `file:line: what` for each.

Its text speaks of itself alone: no folder of one machine, no address beyond the few it needs, no number of somebody's
list of issues, no note to oneself. Tests get their folders from pytest.
"""

import argparse
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ENDINGS = {".py", ".md", ".toml", ".txt", ".jsonl", ".json", ".yml", ".yaml", ".cfg", ".sh", ".bend", ""}
NOT_OURS = {"__pycache__", "dist", "build", "node_modules"}
HOSTS = {"127.0.0.1", "localhost", "example.com", "example.org", "api.anthropic.com", "api.openai.com"}

_URL = re.compile(r"\bhttps?://(\[[0-9a-fA-F:]+\]|[\w.-]+)")
_FOLDER = re.compile(r"(?<![\w.~/-])/(?:work|root|tmp)/[\w.]")
_ISSUE = re.compile(r"\bissue\s+#?\d+", re.IGNORECASE)
_NOTE = re.compile(r"(?:#|<!--)\s*(?:TO" + r"DO|FIX" + r"ME|X" + r"XX)\b")


def words(name: str, text: str) -> Iterator[tuple[int, str]]:
    """The line and the word of each that is out of place in one file."""
    for number, line in enumerate(text.split("\n"), start=1):
        for host in set(_URL.findall(line)) - HOSTS:
            yield number, f"address {host}"
        for pattern, what in ((_FOLDER, "folder of a machine"), (_ISSUE, "issue number"), (_NOTE, "note to oneself")):
            if found := pattern.search(line):
                yield number, f"{what} {found.group().strip()}"


def files(root: Path) -> Iterator[Path]:
    """The project's text files; what stands in hidden folders is the tools' own, but for CI's."""
    for path in sorted(root.rglob("*")):
        parts = path.relative_to(root).parts
        if any(part in NOT_OURS or (part.startswith(".") and part not in (".ci", ".github")) for part in parts):
            continue
        if path.is_file() and path.suffix in ENDINGS:
            yield path


def main() -> int:
    parser = argparse.ArgumentParser(description="Check that the text speaks of the project alone.")
    parser.add_argument("--root", type=Path, default=ROOT)
    root = parser.parse_args().root
    found = 0
    for path in files(root):
        name = path.relative_to(root).as_posix()
        for line, what in words(name, path.read_text(errors="replace")):
            print(f"{name}:{line}: {what}")
            found += 1
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
