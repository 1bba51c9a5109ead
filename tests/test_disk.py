"""The disk: what is appended and replaced, how it is synced, with which modes, and what fails how."""

import errno
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from eukhe.errors import StoreError
from eukhe.world import disk as disk_module
from eukhe.world.disk import RealDisk

LOG = "main/2026-10-05.jsonl"


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[RealDisk]:
    (tmp_path / "main").mkdir()
    real = RealDisk(tmp_path)
    yield real
    real.close()


@pytest.fixture
def synced(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of all that is synced, as it is synced."""
    names: list[str] = []
    sync = disk_module._sync

    def record(fd: int) -> None:
        names.append(Path(f"/proc/self/fd/{fd}").readlink().name)
        sync(fd)

    monkeypatch.setattr(disk_module, "_sync", record)
    return names


def modes(root: Path) -> set[int]:
    return {stat.S_IMODE(path.stat().st_mode) for path in root.rglob("*") if path.is_file()}


def test_what_is_appended_stands_at_the_end(disk: RealDisk) -> None:
    disk.append(LOG, b"one\n")
    disk.append(LOG, b"two\n")
    assert b"one\ntwo\n" == disk.read(LOG)
    assert 8 == disk.length(LOG)


def test_a_log_that_is_there_is_gone_on_with(disk: RealDisk, tmp_path: Path) -> None:
    (tmp_path / LOG).write_bytes(b"one\n")
    disk.append(LOG, b"two\n")
    assert b"one\ntwo\n" == disk.read(LOG)


@pytest.mark.parametrize(
    ("offset", "length", "expected"), [(0, -1, b"abcdef"), (2, 3, b"cde"), (4, 9, b"ef"), (9, -1, b"")]
)
def test_a_part_of_a_file_is_read(disk: RealDisk, offset: int, length: int, expected: bytes) -> None:
    disk.append(LOG, b"abcdef")
    assert expected == disk.read(LOG, offset, length)


def test_the_names_in_a_folder_are_sorted_and_there_are_none_where_there_is_no_folder(disk: RealDisk) -> None:
    for name in ("main/b", "main/a"):
        disk.append(name, b"")
    assert ["a", "b"] == disk.names("main")
    assert [] == disk.names("tree")
    assert None is disk.length("tree/x")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="names file descriptors by /proc")
@pytest.mark.rule("6")
def test_an_append_is_one_fsync_and_one_more_for_the_folder_of_a_file_that_is_new_here(
    disk: RealDisk, synced: list[str]
) -> None:
    disk.append(LOG, b"one\n")
    assert ["2026-10-05.jsonl", "main"] == synced
    disk.append(LOG, b"two\n")
    assert ["2026-10-05.jsonl"] == synced[2:]
    disk.append("main/2026-10-06.jsonl", b"three\n")
    assert ["2026-10-06.jsonl", "main"] == synced[3:]
    # The owner before may have made it and died before the folder was synced.
    again = RealDisk(disk.root)
    again.append(LOG, b"four\n")
    again.close()
    assert ["2026-10-05.jsonl", "main"] == synced[5:]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="names file descriptors by /proc")
@pytest.mark.rule("6")
def test_a_replaced_file_is_synced_with_its_folder_only_where_that_is_wanted(disk: RealDisk, synced: list[str]) -> None:
    disk.replace("main/view.json", b"[]", sync=False)
    assert [] == synced
    disk.replace("main/view.json", b"[1]", sync=True)
    assert ["view.json.new", "main"] == synced
    assert b"[1]" == disk.read("main/view.json")
    assert ["view.json"] == disk.names("main")


def test_a_replace_goes_on_over_what_a_crash_left_half_written(disk: RealDisk, tmp_path: Path) -> None:
    (tmp_path / "view.json.new").write_bytes(b"a long half of a file")
    disk.replace("view.json", b"[]", sync=False)
    assert b"[]" == disk.read("view.json")


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o277, 0o777])
def test_every_file_is_for_its_user_alone_whatever_the_umask(disk: RealDisk, tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        disk.append(LOG, b"one\n")
        disk.replace("view.json", b"[]", sync=False)
    finally:
        os.umask(before)
    assert {0o600} == modes(tmp_path)


def test_a_log_that_others_could_read_is_closed_to_them(disk: RealDisk, tmp_path: Path) -> None:
    (tmp_path / LOG).touch(0o644)
    disk.append(LOG, b"one\n")
    assert {0o600} == modes(tmp_path)


@pytest.mark.rule("6")
def test_short_writes_go_on_until_all_is_written(disk: RealDisk, monkeypatch: pytest.MonkeyPatch) -> None:
    write = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: write(fd, bytes(data[:3])))
    disk.append(LOG, b"abcdefgh\n")
    assert b"abcdefgh\n" == disk.read(LOG)


def test_a_failure_names_file_and_errno(disk: RealDisk, tmp_path: Path) -> None:
    (tmp_path / "main" / "folder").mkdir()
    attempts = [
        (lambda: disk.append("none/x", b"a"), "none/x", errno.ENOENT),
        (lambda: disk.append("main/folder", b"a"), "main/folder", errno.EISDIR),
        (lambda: disk.replace("none/x", b"a", sync=False), "none/x", errno.ENOENT),
        (lambda: disk.replace("main/folder", b"a", sync=True), "main/folder", errno.EISDIR),
        (lambda: disk.read("none"), "none", errno.ENOENT),
        (lambda: disk.names("main/folder/x\0"), None, None),
    ]
    for attempt, path, number in attempts[:-1]:
        with pytest.raises(StoreError) as raised:
            attempt()
        assert (str(tmp_path / str(path)), number) == (raised.value.path, raised.value.errno)
        assert f"{tmp_path / str(path)}: {os.strerror(number or 0)} (errno {number})" in str(raised.value)
    assert [] == [path.name for path in tmp_path.rglob("*.new")], "half a file is not left lying"


def test_a_child_that_is_executed_inherits_no_log(disk: RealDisk) -> None:
    disk.append(LOG, b"one\n")
    listed = subprocess.run(
        [
            sys.executable,
            "-c",
            "import os; print([os.readlink(f'/dev/fd/{f}') for f in (3, 4, 5, 6, 7, 8, 9)"
            " if os.path.lexists(f'/dev/fd/{f}')])",
        ],
        close_fds=False,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert "jsonl" not in listed


STRACE = """
import sys
from pathlib import Path
from eukhe.errors import StoreError
from eukhe.world.disk import RealDisk
disk = RealDisk(Path(sys.argv[1]))
disk.append("main/x.jsonl", b"one\\n")
for line in (b"two\\n", b"three\\n"):
    try:
        disk.append("main/x.jsonl", line)
    except StoreError as error:
        print(error.path, error.errno)
"""


@pytest.mark.skipif(not shutil.which("strace"), reason="needs strace")
@pytest.mark.rule("6")
@pytest.mark.parametrize(("call", "when"), [("write", 2), ("fsync", 3)], ids=["a write", "an fsync"])
def test_an_io_error_is_told_and_the_call_is_not_tried_again(tmp_path: Path, call: str, when: int) -> None:
    (tmp_path / "main").mkdir()
    log = tmp_path / "main" / "x.jsonl"
    log.touch()
    done = subprocess.run(
        [
            "strace",
            "-o",
            str(tmp_path / "trace"),
            "-e",
            f"trace={call}",
            "-P",
            str(log),
            "-P",
            str(log.parent),
            "-e",
            f"inject={call}:error=EIO:when={when}",
            sys.executable,
            "-c",
            STRACE,
            str(tmp_path),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    if "ptrace" in done.stderr.lower():
        pytest.skip(f"no tracing here: {done.stderr.splitlines()[0]}")
    assert f"{log} {errno.EIO}\n" == done.stdout
    calls = [line for line in (tmp_path / "trace").read_text().splitlines() if line.startswith(call)]
    assert (1, 3 if call == "write" else 4) == (sum("INJECTED" in line for line in calls), len(calls))
