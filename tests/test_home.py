"""The home: made private, never another user's, of a known format; reading makes nothing."""

import os
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import orjson
import pytest

from eukhe.errors import FormatError, HomeError
from eukhe.limits import FORMAT_VERSION
from eukhe.world.clock import RealClock
from eukhe.world.home import INSTRUCTIONS, chat_path, find_chat, home_path, make_home

NOBODY = 65534
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can make files of another user")


def modes(root: Path) -> dict[str, int]:
    return {str(path.relative_to(root)): stat.S_IMODE(path.stat().st_mode) for path in root.rglob("*")}


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user may write in."""
    path = Path(tempfile.mkdtemp())
    path.chmod(0o777)
    yield path
    shutil.rmtree(path)


# It is another user only after all was imported: where this Python lies, others may not be let in.
AS_NOBODY = """
import os, sys
from pathlib import Path
from eukhe.errors import HomeError
from eukhe.world.home import find_chat, make_home
os.setgroups([])
os.setgid(int(sys.argv[2]))
os.setuid(int(sys.argv[2]))
for way in make_home, find_chat:
    try:
        print(way(Path(sys.argv[1])))
    except HomeError as error:
        print(error)
"""


def as_nobody(home: Path) -> list[str]:
    """What another user gets who opens a home for writing, then for reading."""
    command = [sys.executable, "-c", AS_NOBODY, str(home), str(NOBODY)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


def test_the_home_is_the_variables_else_a_folder_in_the_users() -> None:
    assert Path("/somewhere/else") == home_path({"EUKHE_HOME": "/somewhere/else"})
    assert Path("here").absolute() == home_path({"EUKHE_HOME": "here"})
    default = Path("~/.eukhe").expanduser()
    assert [default, default] == [home_path({}), home_path({"EUKHE_HOME": ""})]


def test_windows_is_told_that_it_is_not_supported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    with pytest.raises(HomeError, match="does not run on Windows"):
        home_path({})


@pytest.mark.rule("1")
@pytest.mark.parametrize("umask", [0o000, 0o022, 0o777])
def test_a_new_home_is_the_users_alone_whatever_the_umask(tmp_path: Path, umask: int) -> None:
    home = tmp_path / "new" / "home"
    before = os.umask(umask)
    try:
        chat = make_home(home)
    finally:
        os.umask(before)
    assert home / "chat" == chat
    folders = {
        "new",
        "new/home",
        *(f"new/home/chat{name}" for name in ("", "/main", "/tree", "/images", "/agents", "/calls")),
    }
    assert {**dict.fromkeys(folders, 0o700), "new/home/chat/format.json": 0o600} == modes(tmp_path)
    assert {"format": FORMAT_VERSION} == orjson.loads((chat / "format.json").read_bytes())


def test_a_home_that_is_there_stays_as_it_is_but_for_what_others_may(tmp_path: Path) -> None:
    make_home(tmp_path)
    log = tmp_path / "chat" / "main" / "2026-10-05.jsonl"
    log.write_bytes(b"line\n")
    for folder in (tmp_path, tmp_path / "chat"):
        folder.chmod(0o755)
    assert chat_path(tmp_path) == make_home(tmp_path)
    assert b"line\n" == log.read_bytes()
    assert [0o700, 0o700] == [stat.S_IMODE(folder.stat().st_mode) for folder in (tmp_path, tmp_path / "chat")]


def test_a_folder_that_holds_the_users_instructions_alone_becomes_his_home(tmp_path: Path) -> None:
    (tmp_path / INSTRUCTIONS).write_text("Answer in one line.")
    tmp_path.chmod(0o755)
    assert chat_path(tmp_path) == make_home(tmp_path)
    assert 0o700 == stat.S_IMODE(tmp_path.stat().st_mode)


def test_a_folder_with_other_files_that_others_may_look_into_is_no_home_and_stays_as_it_is(tmp_path: Path) -> None:
    """As /tmp, or the user's own folder, by a slip."""
    (tmp_path / "letter.txt").touch()
    tmp_path.chmod(0o1777)
    with pytest.raises(HomeError, match="no home of eukhe; name a folder of your own in EUKHE_HOME"):
        make_home(tmp_path)
    assert 0o1777 == stat.S_IMODE(tmp_path.stat().st_mode)
    assert ["letter.txt"] == [path.name for path in tmp_path.iterdir()]
    tmp_path.chmod(0o700)
    assert chat_path(tmp_path) == make_home(tmp_path)


def test_looking_for_a_chat_makes_and_changes_nothing(tmp_path: Path) -> None:
    assert None is find_chat(tmp_path / "none")
    assert None is find_chat(tmp_path)
    chat = tmp_path / "chat"
    chat.mkdir(0o755)
    before = modes(tmp_path)
    assert chat == find_chat(tmp_path)
    assert before == modes(tmp_path)


def test_a_chat_without_its_format_is_of_the_first_and_gets_it_when_opened_to_write(tmp_path: Path) -> None:
    (tmp_path / "chat" / "main").mkdir(parents=True)
    chat = find_chat(tmp_path)
    assert chat is not None
    assert not (chat / "format.json").exists()
    make_home(tmp_path)
    assert (chat / "format.json").exists()


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b'{"format":2}', "has format 2, this version of eukhe knows format 1"),
        (b"", "names no format"),
        (b"[1]", "names no format"),
        (b'{"a":1}', "names no format"),
    ],
)
def test_a_chat_of_another_format_is_not_touched(tmp_path: Path, content: bytes, says: str) -> None:
    (tmp_path / "chat").mkdir()
    (tmp_path / "chat" / "format.json").write_bytes(content)
    for way in (make_home, find_chat):
        with pytest.raises(FormatError, match=says):
            way(tmp_path)
    assert ["format.json"] == [path.name for path in (tmp_path / "chat").iterdir()]


def test_a_home_that_is_no_folder_says_what_to_do(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    for way in (make_home, find_chat):
        with pytest.raises(HomeError, match="no folder; move it away, or name a folder of your own in EUKHE_HOME"):
            way(file)
    with pytest.raises(HomeError, match="Not a directory; name a folder"):
        make_home(file / "home")
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "nowhere")
    with pytest.raises(HomeError, match="a link to nowhere"):
        make_home(link)


def test_a_link_of_ones_own_is_followed(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    (tmp_path / "home").symlink_to(tmp_path / "disk")
    assert tmp_path / "home" / "chat" == make_home(tmp_path / "home")
    assert (tmp_path / "disk" / "chat" / "main").is_dir()


@as_root
@pytest.mark.parametrize("planted", ["", "chat", "chat/main"])
def test_a_folder_of_another_user_is_refused(tmp_path: Path, planted: str) -> None:
    home = tmp_path / "home"
    make_home(home)
    os.chown(home / planted, NOBODY, NOBODY)
    for way in (make_home, find_chat):
        with pytest.raises(HomeError, match=r"this folder belongs to another user \(uid 65534\); name a folder"):
            way(home)


@as_root
def test_a_link_of_another_user_is_refused(tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    make_home(mine)
    home = tmp_path / "home"
    home.symlink_to(mine)
    os.chown(home, NOBODY, NOBODY, follow_symlinks=False)
    for way in (make_home, find_chat):
        with pytest.raises(HomeError, match="this link belongs to another user"):
            way(home)


@as_root
def test_a_home_where_one_may_not_write_says_so(open_folder: Path) -> None:
    (open_folder / "roots").mkdir(mode=0o755)
    home = open_folder / "roots" / "home"
    assert [f"{home}: Permission denied; name a folder of your own in EUKHE_HOME", "None"] == as_nobody(home)


@as_root
def test_a_home_one_made_read_only_is_read_and_not_written(open_folder: Path) -> None:
    home = open_folder / "home"
    make_home(home)
    for path in (home, *home.rglob("*")):
        os.chown(path, NOBODY, NOBODY)
    (home / "chat").chmod(0o500)
    made, found = as_nobody(home)
    assert f"{home}/chat: you may not write here; `chmod u+rwx` it, or name a folder of your own in EUKHE_HOME" == made
    assert f"{home}/chat" == found


@as_root
def test_the_home_of_root_is_refused_to_another_user(open_folder: Path) -> None:
    home = open_folder / "home"
    make_home(home)
    home.chmod(0o755)
    made, found = as_nobody(home)
    assert made == found
    assert f"{home}: this folder belongs to another user (uid 0); name a folder of your own in EUKHE_HOME" == made


def test_the_clock_knows_its_offset_and_never_goes_back() -> None:
    clock = RealClock()
    assert None is not clock.local().utcoffset()
    first = clock.monotonic_s()
    assert clock.monotonic_s() >= first


def test_two_first_starts_at_a_time_both_make_the_home(tmp_path: Path) -> None:
    for n in range(30):
        home = tmp_path / str(n)
        with ThreadPoolExecutor(4) as starts:
            made = list(starts.map(make_home, [home] * 4))
        assert [home / "chat"] * 4 == made
        assert b'{"format":1}\n' == (home / "chat" / "format.json").read_bytes()
