"""Memory: bounded by the longest line, whatever the number of lines and files. Measured in a process of its own."""

import subprocess
import sys
from pathlib import Path

from transcript_kit import Session

MIB = 1 << 20
MEASURE = """
import resource, sys
from pathlib import Path
from eukhe.world.transcripts import plan, read
from eukhe.world.transcripts import catalog
catalog.CATALOG_CACHE_KIB = 512  # a small cache, so that few records fill it
def peak_kib(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
warm = Path(sys.argv[1])
with plan([warm]) as planned:
    list(read(planned))
before = peak_kib()
with plan([Path(sys.argv[2])]) as planned:
    messages = sum(1 for _ in read(planned))
print(messages, peak_kib() - before)
"""


def measured(warm: Path, path: Path) -> tuple[int, int]:
    """The messages of a file, and the KiB that the process grew beyond what it had after another one."""
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, str(warm), str(path)], capture_output=True, text=True, check=True
    )
    messages, kib = map(int, done.stdout.split())
    return messages, kib


def test_a_long_line_takes_no_more_than_four_times_its_length(tmp_path: Path) -> None:
    warm = Session().user("a").write(tmp_path / "warm.jsonl")
    session = Session().user("a").result("c", "MARK").talk("b")
    head, tail = session.lines[1].split(b"MARK")
    session.lines[1] = head + b"a line of it\\n" * (32 * MIB // 14) + tail
    messages, kib = measured(warm, session.write(tmp_path / "long.jsonl"))
    assert 3 == messages
    assert kib < 4 * 32 * 1_024


def test_many_records_take_no_more_than_few(tmp_path: Path) -> None:
    def written(records: int) -> Path:
        session = Session()
        for n in range(records // 2):
            session.user(f"u{n}", sessionId=f"session {n // 50}").talk(f"t{n}", sessionId=f"session {n // 50}")
            session.queue("enqueue", f"q{n}").attached(f"a{n}")
        return session.write(tmp_path / f"{records}.jsonl")

    messages, kib = measured(written(4_000), written(24_000))
    assert 36_000 == messages
    assert kib < 3 * 1_024


FULL = """
import resource, signal, sys
from pathlib import Path
from eukhe.errors import ImportFailedError
from eukhe.world.transcripts import catalog, plan
catalog.CATALOG_CACHE_KIB = 64
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (65_536, 65_536))
try:
    plan([Path(sys.argv[1])])
except ImportFailedError as error:
    print(error)
"""


def test_a_full_disk_is_said_in_a_line(tmp_path: Path) -> None:
    session = Session()
    for n in range(2_000):
        session.user(f"u{n}")
    path = session.write(tmp_path / "a.jsonl")
    done = subprocess.run([sys.executable, "-c", FULL, str(path)], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("the temporary folder: ")
    assert done.stdout.endswith("an import needs some room there\n")
