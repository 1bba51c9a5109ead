"""The tools `read`, `write` and `edit`."""

import os
import socket
import stat
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from eukhe.actors.ports import ToolEnded
from eukhe.limits import (
    IMAGE_BYTES_MAX,
    IMAGE_SIDE_PIXELS_MAX,
    TOOL_FILE_BYTES_MAX,
    TOOL_FOLDER_NAMES_MAX,
    TOOL_READ_LINE_CHARS_MAX,
    TOOL_READ_LINES,
    TOOL_RESULT_CHARS_MAX,
)
from eukhe.model.text import clip
from eukhe.model.tool_input import Edit, Write
from tests.secret_kit import KEYS, pem
from tests.tools_kit import Bench, at_work

ROOT = Path(__file__).resolve().parents[2]
NOBODY = 65_534
AS_NOBODY = f"""
import os, sys
from pathlib import Path
from tests.tools_kit import at_work
os.setuid({NOBODY})
with at_work(Path(sys.argv[1])) as bench:
    for ended in bench.run("write", path="kept", text="z"), bench.run("edit", path="kept", old="kept", new="z"):
        print(ended.failed, ended.text)
"""
BINARY = b"\x7fELF\0\0\1" * 100


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    with at_work(tmp_path) as bench:
        yield bench


def png(width: int, height: int, more: bytes = b"") -> bytes:
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", width, height) + bytes(9) + more


def numbers(count: int) -> str:
    return "".join(f"line {number}\n" for number in range(1, count + 1))


# --- read: texts ---


def test_a_text_comes_as_it_is(bench: Bench) -> None:
    (bench.folder / "a.txt").write_text("one\n  two\té\n\nlast")
    assert "one\n  two\té\n\nlast" == bench.text("read", path="a.txt")
    assert "one\n  two\té\n\nlast" == bench.text("read", path=str(bench.folder / "a.txt"))


def test_a_home_and_a_way_back_are_followed(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(bench.folder / "sub"))
    (bench.folder / "sub").mkdir()
    (bench.folder / "sub" / "a").write_text("x")
    assert "x" == bench.text("read", path="~/a") == bench.text("read", path="sub/../sub/a")
    assert "No such file" in bench.why("read", path="~nobody-has-this-name/a")


def test_a_long_text_comes_in_parts_that_say_how_much_is_left(bench: Bench) -> None:
    (bench.folder / "a").write_text(numbers(3_000))
    first = bench.text("read", path="a").split("\n")
    assert ["line 1", f"line {TOOL_READ_LINES}"] == [first[0], first[-2]]
    assert "[lines 1-2000; 1,000 are left, from offset 2001 on]" == first[-1]
    assert "line 2001\nline 2002\n[lines 2001-2002; 998 are left, from offset 2003 on]" == bench.text(
        "read", path="a", offset=2_001, limit=2
    )
    assert "line 3000\n[lines 3000-3000, the last]" == bench.text("read", path="a", offset=3_000)
    assert "[the file has 3,000 lines]" == bench.why("read", path="a", offset=3_001)
    (bench.folder / "empty").touch()
    assert "[the file is empty]" == bench.text("read", path="empty")


def test_what_is_read_fits_into_a_result_and_its_parts_are_all_of_it(bench: Bench) -> None:
    lines = [f"{number} " + "x" * (number * 37 % 500) for number in range(1_000)]
    (bench.folder / "a").write_text("\n".join(lines) + "\n")
    got: list[str] = []
    while len(got) < len(lines):
        text = bench.text("read", path="a", offset=len(got) + 1)
        assert len(text) <= TOOL_RESULT_CHARS_MAX
        got += text.split("\n")[: -1 if text.endswith("]") else None]
    assert lines == got


def test_a_line_of_20_mb_and_a_file_of_many_are_read_in_bounds(bench: Bench) -> None:
    with (bench.folder / "line").open("w") as file:
        for _ in range(20):
            file.write("x" * 1_000_000)
        file.write("\nnext\n")
    assert f"{clip('x' * 20_000_000, TOOL_READ_LINE_CHARS_MAX)}\nnext" == bench.text("read", path="line")
    (bench.folder / "lines").write_text("a line of some length\n" * 300_000)
    text = bench.text("read", path="lines", offset=100, limit=1)
    assert text.startswith("a line of some length\n[lines 100-100; more than ")


def test_newlines_of_windows_and_a_mark_of_the_encoding_are_not_shown(bench: Bench) -> None:
    (bench.folder / "a").write_bytes(b"\xef\xbb\xbfone\r\ntwo\r\n")
    assert "one\ntwo" == bench.text("read", path="a")
    (bench.folder / "a").write_bytes("\ufeffönes\r\ntwo".encode("utf-16-le"))
    assert "önes\ntwo" == bench.text("read", path="a")
    (bench.folder / "a").write_bytes("größer\n".encode("latin-1"))
    assert "größer" == bench.text("read", path="a")


@pytest.mark.rule("D16")
def test_secrets_of_a_file_are_hidden_before_it_is_cut(bench: Bench) -> None:
    (bench.folder / "a").write_text(f"{pem()}\nkey {KEYS['npm_token']}\n{'x' * (TOOL_READ_LINE_CHARS_MAX // 2 - 20)} ")
    with (bench.folder / "a").open("a") as file:
        file.write(f"{KEYS['aws_key']} {'x' * 3_000}\n")
    text = bench.text("read", path="a")
    assert ["[secret private_key", "key [secret npm_token"] == [
        line.rpartition(" ")[0] for line in text.split("\n")[:2]
    ]
    assert KEYS["aws_key"][:8] not in text


# --- read: what is no text ---


def test_a_folder_is_listed(bench: Bench) -> None:
    (bench.folder / "b").mkdir()
    (bench.folder / "a").touch()
    assert "a\nb/" == bench.text("read", path=".")
    assert "[the folder is empty]" == bench.text("read", path="b")
    for number in range(TOOL_FOLDER_NAMES_MAX + 3):
        (bench.folder / "b" / f"{number:05}").touch()
    assert bench.text("read", path="b").endswith("00999\n[and 3 more]")


def test_what_is_no_text_is_said_with_its_size(bench: Bench) -> None:
    (bench.folder / "a").write_bytes(BINARY)
    assert "is no text, but 700 bytes" in bench.why("read", path="a")
    assert "No such file or directory" in bench.why("read", path="none")


@pytest.mark.parametrize("path", ["/dev/zero", "/dev/null", "/dev/tty"])
def test_a_device_is_not_read(bench: Bench, path: str) -> None:
    assert "it is a device" in bench.why("read", path=path)
    assert "it is a device" in bench.why("write", path=path, text="x")


def test_a_pipe_and_a_socket_are_not_waited_for(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(bench.folder)
    os.mkfifo("pipe")
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind("socket")
        for name in ("read", "write", "edit"):
            more = {"read": {}, "write": {"text": "x"}, "edit": {"old": "a", "new": "b"}}[name]
            assert "it is a pipe" in bench.why(name, path="pipe", **more)
            assert "it is a socket" in bench.why(name, path="socket", **more)


@pytest.mark.skipif(sys.platform != "linux", reason="there is no /proc")
def test_a_file_of_the_system_without_a_size_is_read(bench: Bench) -> None:
    assert "MemTotal" in bench.text("read", path="/proc/meminfo")


# --- read: images ---


def test_an_image_comes_as_one_whatever_its_name(bench: Bench) -> None:
    data = png(3, 2)
    (bench.folder / "a.txt").write_bytes(data)
    assert ToolEnded("An image: png, 3 x 2 pixels, 33 bytes.", (data,)) == bench.run("read", path="a.txt")


def test_an_image_that_no_model_takes_is_said_and_not_shown(bench: Bench) -> None:
    (bench.folder / "wide").write_bytes(png(IMAGE_SIDE_PIXELS_MAX + 1, 1))
    assert "too large to be shown" in bench.why("read", path="wide")
    with (bench.folder / "large").open("wb") as file:
        file.write(png(3, 2))
        file.truncate(IMAGE_BYTES_MAX + 1)
    assert "larger than 20,000,000 bytes" in bench.why("read", path="large")
    (bench.folder / "short").write_bytes(png(3, 2)[:20])
    assert "but is none" in bench.why("read", path="short")


# --- write ---


def test_a_file_is_written_with_the_folders_that_it_needs(bench: Bench) -> None:
    assert f"Wrote 3 bytes to {bench.folder}/a/b/c; it is new." == bench.text("write", path="a/b/c", text="é\n")
    assert "é\n" == (bench.folder / "a/b/c").read_text()
    assert f"Wrote 0 bytes to {bench.folder}/a/b/c; it had 3." == bench.text("write", path="a/b/c", text="")
    assert "can't be its folder" in bench.why("write", path="a/b/c/d", text="")
    assert "it is a folder" in bench.why("write", path="a", text="")
    assert [bench.folder / "a/b/c"] == list((bench.folder / "a/b").iterdir())


def test_mode_and_link_of_a_file_that_is_written_stay(bench: Bench) -> None:
    real, link = bench.folder / "real", bench.folder / "link"
    real.write_text("#!/bin/sh\n")
    real.chmod(0o754)
    link.symlink_to("real")
    bench.text("write", path="link", text="new")
    bench.text("edit", path="link", old="new", new="newer")
    assert link.is_symlink()
    assert ("newer", 0o754) == (real.read_text(), stat.S_IMODE(real.stat().st_mode))
    (bench.folder / "dangling").symlink_to("made")
    bench.text("write", path="dangling", text="x")
    assert "x" == (bench.folder / "made").read_text()
    assert 0o644 == stat.S_IMODE((bench.folder / "made").stat().st_mode)
    (bench.folder / "round").symlink_to("round")
    assert "symbolic links" in bench.why("write", path="round", text="x")


def test_a_file_that_can_not_be_written_stays_as_it_was_and_nothing_is_left(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    (bench.folder / "a").write_text("before")
    monkeypatch.setattr("os.fsync", _no_space)
    assert "No space left on device" in bench.why("write", path="a", text="after")
    assert "before" == (bench.folder / "a").read_text()
    assert [bench.folder / "a"] == list(bench.folder.iterdir())


def _no_space(fd: int) -> None:
    raise OSError(28, "No space left on device")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give a file away, and become another user")
def test_the_owner_stays_and_who_may_not_write_does_not(bench: Bench) -> None:
    theirs, kept = bench.folder / "theirs", bench.folder / "kept"
    theirs.write_text("x")
    os.chown(theirs, NOBODY, NOBODY)
    bench.text("write", path="theirs", text="y")
    assert (NOBODY, NOBODY) == (theirs.stat().st_uid, theirs.stat().st_gid)
    kept.write_text("kept")
    for path in (bench.folder, *bench.folder.parents[:2]):
        path.chmod(0o777)
    kept.chmod(0o444)
    said = subprocess.run(
        [sys.executable, "-c", AS_NOBODY, bench.folder], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    assert 2 * "True kept: Permission denied.\n" == said
    assert "kept" == kept.read_text()


# --- edit ---


def test_a_passage_is_changed_in_its_one_place(bench: Bench) -> None:
    (bench.folder / "a").write_text("one\ntwo\ntwo\n")
    assert f"Changed 1 place in {bench.folder}/a." == bench.text("edit", path="a", old="one\ntwo", new="1\n2")
    assert "1\n2\ntwo\n" == (bench.folder / "a").read_text()
    assert "stands in it 3 times" in bench.why("edit", path="a", old="\n", new="x")
    assert "does not stand in it" in bench.why("edit", path="a", old="three", new="3")
    assert f"Changed 3 places in {bench.folder}/a." == bench.text("edit", path="a", old="\n", new="", all=True)
    assert "12two" == (bench.folder / "a").read_text()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"\xef\xbb\xbfold\r\nx\r\n", b"\xef\xbb\xbfn\xc3\xa9w\r\nline\r\nx\r\n"),
        ("\ufeffold\nx".encode("utf-16-le"), "\ufeffnéw\nline\nx".encode("utf-16-le")),
        ("\ufeffold\nx".encode("utf-16-be"), "\ufeffnéw\nline\nx".encode("utf-16-be")),
        ("größer old".encode("latin-1"), "größer néw\nline".encode("latin-1")),
        (b"old\xc3", b"n\xe9w\nline\xc3"),
    ],
)
def test_encoding_and_newlines_of_a_file_stay(bench: Bench, before: bytes, after: bytes) -> None:
    (bench.folder / "a").write_bytes(before)
    bench.text("edit", path="a", old="old", new="néw\nline")
    assert after == (bench.folder / "a").read_bytes()


def test_what_is_no_text_too_large_or_not_in_its_encoding_is_not_changed(bench: Bench) -> None:
    (bench.folder / "a").write_bytes(BINARY)
    assert "it is no text" in bench.why("edit", path="a", old="ELF", new="x")
    (bench.folder / "b").write_bytes(b"gr\xf6\xdfer")
    assert "'€' can't be written" in bench.why("edit", path="b", old="er", new="€")
    with (bench.folder / "c").open("wb") as file:
        file.truncate(TOOL_FILE_BYTES_MAX + 1)
    assert "larger than" in bench.why("edit", path="c", old="a", new="b")
    assert b"gr\xf6\xdfer" == (bench.folder / "b").read_bytes()


def test_of_two_changes_at_once_none_is_lost(bench: Bench) -> None:
    (bench.folder / "a").write_text("".join(f"<{number}>\n" for number in range(60)))
    ears = [bench.begin("edit", path="a", old=f"<{number}>", new=f"[{number}]")[1] for number in range(60)]
    assert not any(ear.end().failed for ear in ears)
    assert "".join(f"[{number}]\n" for number in range(60)) == (bench.folder / "a").read_text()


# --- what permissions ask of a place ---


def test_a_place_follows_links_and_ways_back(bench: Bench) -> None:
    place = bench.tools.place
    (bench.folder / "out").symlink_to("/etc")
    assert str(bench.folder.resolve() / "x") == place.resolve("sub/../x")
    assert "/etc/passwd" == place.resolve("out/passwd")


def test_a_change_is_shown_before_it_is_made(bench: Bench) -> None:
    place, path = bench.tools.place, bench.folder / "a"
    path.write_text("one\ntwo\n")
    change = f"--- {path}\n+++ {path}\n@@ -1,2 +1,2 @@\n one\n-two\n+2"
    assert change == place.change(Edit("a", "two", "2")) == place.change(Write("a", "one\n2\n"))
    assert f"--- no file\n+++ {path}2\n@@ -1,0 +1,1 @@\n+x" == place.change(Write("a2", "x\n"))
    assert "does not stand in it" in place.change(Edit("a", "three", "3"))
    assert "is not there" in place.change(Edit("a2", "three", "3"))
    path.write_bytes(BINARY)
    assert "it is no text" in place.change(Write("a", "x"))
