"""Paths: files, folders, and what else may lie there."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from transcript_kit import ONE, TWO, Session, bad, texts

from eukhe.errors import ImportFailedError
from eukhe.world.transcripts import plan

NOBODY = 65_534
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")


@contextmanager
def somebody_else() -> Iterator[None]:
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def open_path() -> Iterator[Path]:
    """A folder that every user may enter, as pytest's own are not."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name)
        path.chmod(0o755)
        yield path


def skipped(*paths: Path) -> dict[str, str]:
    with plan(paths) as planned:
        return {path.name: why for path, why in planned.skipped}


def test_a_missing_path_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ImportFailedError, match=r"nowhere: can't be read: No such file or directory"):
        plan([Session().user("a").write(tmp_path / "a.jsonl"), tmp_path / "nowhere"])


def test_a_folder_is_searched_to_its_depth_and_the_rest_is_listed(tmp_path: Path) -> None:
    Session().user("a").write(tmp_path / "x" / "y" / "z" / "a.jsonl")
    (tmp_path / "x" / "agent.meta.json").write_text('{"agentType":"x"}')
    (tmp_path / "empty.jsonl").touch()
    (tmp_path / "image.png").write_bytes(b"\x89PNG" + bytes(10_000))
    assert ["a"] == texts(tmp_path)
    unknown = "no session of a known format"
    assert {"agent.meta.json": unknown, "empty.jsonl": "empty", "image.png": unknown} == skipped(tmp_path)


def test_a_folder_without_sessions_says_so(tmp_path: Path) -> None:
    (tmp_path / "bare").mkdir()
    assert {"bare": "a folder without any session"} == skipped(tmp_path / "bare")
    with plan([tmp_path / "bare"]) as planned:
        assert (0, (), 0, 0) == (planned.sessions, planned.files, planned.bytes, planned.bytes_to_read)


def test_an_empty_file_says_nothing_and_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").touch()
    assert [] == texts(tmp_path / "a.jsonl")
    assert {"a.jsonl": "empty"} == skipped(tmp_path / "a.jsonl")


def test_no_paths_are_an_empty_plan() -> None:
    with plan([]) as planned:
        assert 0 == planned.sessions


def test_a_file_met_twice_is_read_once(tmp_path: Path) -> None:
    path = Session().user("a").write(tmp_path / "a.jsonl")
    (tmp_path / "link.jsonl").symlink_to(path)
    os.link(path, tmp_path / "hard.jsonl")
    with plan([path, tmp_path, path]) as planned:
        assert (path,) == planned.files


def test_links_to_files_are_followed_and_links_to_folders_are_named(tmp_path: Path) -> None:
    Session().user("a").write(tmp_path / "real" / "a.jsonl")
    Session(TWO).user("b").write(tmp_path / "else.jsonl")
    folder = tmp_path / "given"
    folder.mkdir()
    (folder / "file").symlink_to(tmp_path / "else.jsonl")
    (folder / "folder").symlink_to(tmp_path / "real")
    assert ["b"] == texts(folder)
    assert "a link to a folder" in skipped(folder)["folder"]
    assert ["a"] == texts(folder / "folder")


def test_loops_of_links_end(tmp_path: Path) -> None:
    Session().user("a").write(tmp_path / "in" / "a.jsonl")
    (tmp_path / "in" / "up").symlink_to(tmp_path)
    (tmp_path / "in" / "self").symlink_to("self")
    (tmp_path / "in" / "gone").symlink_to("nowhere")
    assert ["a"] == texts(tmp_path)
    found = skipped(tmp_path)
    assert {"up", "self", "gone"} == set(found)
    assert "symbolic links" in found["self"]
    with pytest.raises(ImportFailedError, match="symbolic links"):
        plan([tmp_path / "in" / "self"])


def test_pipes_sockets_and_devices_are_passed_over(tmp_path: Path) -> None:
    Session().user("a").write(tmp_path / "a.jsonl")
    os.mkfifo(tmp_path / "pipe.jsonl")
    (tmp_path / "null.jsonl").symlink_to("/dev/zero")
    assert ["a"] == texts(tmp_path)
    assert {"pipe.jsonl": "no regular file", "null.jsonl": "no regular file"} == skipped(tmp_path)
    for path in (tmp_path / "pipe.jsonl", Path("/dev/zero")):
        with pytest.raises(ImportFailedError, match="neither a file nor a folder"):
            plan([path])


def test_names_that_are_no_text_are_no_trouble(tmp_path: Path) -> None:
    name = os.fsdecode(b"s\xff\n.jsonl")
    Session().user("a").raw(b"torn").write(tmp_path / name)
    assert ["a"] == texts(tmp_path)
    assert [f"{tmp_path}/s\ufffd\n.jsonl"] == [fault.path for fault in bad(tmp_path)]


@as_root
def test_an_unreadable_file_is_an_error_when_named_and_listed_in_a_folder(open_path: Path) -> None:
    Session(ONE).user("a").write(open_path / "open.jsonl")
    shut = Session(TWO).user("b").write(open_path / "shut.jsonl")
    shut.chmod(0o600)
    with somebody_else():
        assert ["a"] == texts(open_path)
        assert {"shut.jsonl": "can't be read: Permission denied"} == skipped(open_path)
        with pytest.raises(ImportFailedError, match=r"shut\.jsonl: can't be read: Permission denied"):
            plan([shut])


@as_root
def test_an_unreadable_folder_is_an_error_when_named_and_listed_in_a_folder(open_path: Path) -> None:
    Session(ONE).user("a").write(open_path / "open" / "a.jsonl")
    Session(TWO).user("b").write(open_path / "shut" / "b.jsonl")
    (open_path / "shut").chmod(0o700)
    with somebody_else():
        assert ["a"] == texts(open_path)
        assert {"shut": "can't be read: Permission denied"} == skipped(open_path)
        with pytest.raises(ImportFailedError, match=r"shut: can't be read: Permission denied"):
            plan([open_path / "shut"])


def test_a_path_may_be_given_as_text(tmp_path: Path) -> None:
    path = Session().user("a").write(tmp_path / "a.jsonl")
    with plan([str(path)]) as planned:  # type: ignore[list-item]
        assert (path,) == planned.files
