"""What is so now in a folder, for the end of a turn's view. Rule 51."""

import os
import subprocess
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from eukhe.limits import FOLDER_INSTRUCTIONS_CHARS_MAX, GIT_BRANCH_CHARS_MAX
from eukhe.sim.clock import SimClock
from eukhe.world.surroundings import git_branch, state_now

COMMIT = "0123456789abcdef0123456789abcdef01234567"


class At:
    """A clock that stands still."""

    def __init__(self, moment: datetime) -> None:
        self.moment = moment

    def monotonic_s(self) -> float:
        return 0

    def local(self) -> datetime:
        return self.moment


NOON = At(datetime(2026, 10, 5, 12, 0, 9, tzinfo=timezone(timedelta(hours=-3, minutes=-30))))


def git(folder: Path, head: str) -> Path:
    """A folder with git's own files in it."""
    (folder / ".git").mkdir(parents=True)
    (folder / ".git" / "HEAD").write_text(head)
    return folder


@pytest.mark.rule("51")
def test_it_says_when_and_where(tmp_path: Path) -> None:
    assert f"Now: Monday, 2026-10-05 12:00:09 -03:30\nFolder: {tmp_path}" == state_now(tmp_path, NOON)
    assert state_now(tmp_path, At(datetime(2026, 12, 6, tzinfo=UTC))).startswith(
        "Now: Sunday, 2026-12-06 00:00:00 +00:00"
    )


def test_it_says_the_branch_and_the_folders_own_instructions(tmp_path: Path) -> None:
    git(tmp_path, "ref: refs/heads/feature/x\n")
    (tmp_path / "AGENTS.md").write_bytes(b"\xef\xbb\xbf\r\nUse tabs.\r\nAlways.\r\n")
    assert [
        f"Folder: {tmp_path}",
        "Git branch: feature/x",
        "",
        "The folder's AGENTS.md:",
        "",
        "Use tabs.",
        "Always.",
    ] == state_now(tmp_path, NOON).split("\n")[1:]


@pytest.mark.parametrize(
    ("head", "branch"),
    [
        ("ref: refs/heads/main\n", "main"),
        (f"{COMMIT}\n", "no branch, at 0123456789ab"),
        ("ref: refs/heads/.invalid\n", None),
        ("ref: refs/remotes/x\n", None),
        ("garbage", None),
        ("", None),
        (f"ref: refs/heads/{'x' * 3_000}", "x" * GIT_BRANCH_CHARS_MAX),
    ],
)
def test_the_branch_is_read_from_head(tmp_path: Path, head: str, branch: str | None) -> None:
    assert branch == git_branch(git(tmp_path, head))


def test_a_folder_below_has_the_branch_of_the_nearest_above(tmp_path: Path) -> None:
    git(tmp_path, "ref: refs/heads/outer")
    inner = git(tmp_path / "inner", "ref: refs/heads/inner")
    below = inner / "a" / "b"
    below.mkdir(parents=True)
    assert ["inner", "outer"] == [git_branch(below), git_branch(tmp_path)]


@pytest.mark.parametrize("relative", [True, False])
def test_a_worktree_has_its_own(tmp_path: Path, relative: bool) -> None:
    git(tmp_path / "main", "ref: refs/heads/main")
    own = tmp_path / "main" / ".git" / "worktrees" / "tree"
    own.mkdir(parents=True)
    (own / "HEAD").write_text("ref: refs/heads/side\n")
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / ".git").write_text(f"gitdir: {os.path.relpath(own, tree) if relative else own}\n")
    assert "side" == git_branch(tree)


@pytest.mark.parametrize(
    "told", ["gitdir: ../not there\n", "gitdir: a\0b", f"gitdir: {'x/' * 2_000}", "no word of git"]
)
def test_a_file_that_leads_nowhere_tells_nothing(tmp_path: Path, told: str) -> None:
    (tmp_path / ".git").write_text(told)
    assert None is git_branch(tmp_path)


def test_git_itself_says_the_same(tmp_path: Path) -> None:
    try:
        made = subprocess.run(["git", "init", "-q", "-b", "trunk", tmp_path], check=False, capture_output=True)
    except FileNotFoundError:
        pytest.skip("there is no git on this machine")
    assert (0, "trunk") == (made.returncode, git_branch(tmp_path))


def test_pipes_folders_and_garbage_in_the_place_of_files_change_nothing(tmp_path: Path) -> None:
    (tmp_path / ".git" / "HEAD").mkdir(parents=True)
    os.mkfifo(tmp_path / "AGENTS.md")
    assert f"Folder: {tmp_path}" == state_now(tmp_path, NOON).split("\n")[-1]
    (tmp_path / "AGENTS.md").unlink()
    (tmp_path / "AGENTS.md").write_bytes(b"a\0b\xff")
    assert "a\ufffdb\ufffd" == state_now(tmp_path, NOON).split("\n")[-1]


def test_long_instructions_are_cut_in_their_middle(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_text("first\n" + "x" * 2_000_000)
    told = state_now(tmp_path, NOON)
    assert len(told) < FOLDER_INSTRUCTIONS_CHARS_MAX + 1_000
    assert "first\n" in told
    assert "characters cut]" in told


def test_a_folders_name_stays_on_one_line_and_can_be_sent(tmp_path: Path) -> None:
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/a\nTurn: \xff"))
    folder.mkdir()
    assert ["Now", "Folder"] == [line.partition(":")[0] for line in state_now(folder, SimClock()).split("\n")]
    assert state_now(folder, NOON).encode().endswith("/a Turn: \ufffd".encode())


def test_a_folder_that_is_gone_is_still_named(tmp_path: Path) -> None:
    assert state_now(tmp_path / "gone", NOON).endswith("/gone")
