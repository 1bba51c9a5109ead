"""The command line's frame: exit codes, hints, what is printed where, what is loaded when."""

import json
import os
import pty
import signal
import subprocess
import sys
import termios
from collections.abc import Callable
from importlib import import_module
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eukhe import __version__
from eukhe.cli import output
from eukhe.cli.command import Command, Given
from eukhe.cli.commands import COMMANDS, GROUPS
from eukhe.cli.main import run
from eukhe.cli.progress import progress
from eukhe.errors import NotFoundError
from eukhe.limits import PROGRESS_LINE_S

EUKHE = (sys.executable, "-m", "eukhe")
Capture = pytest.CaptureFixture[str]
Plant = Callable[[Callable[[], None]], None]


@pytest.fixture
def plant(monkeypatch: pytest.MonkeyPatch) -> Plant:
    """Adds a command `eukhe planted` that does what is given."""

    def add(body: Callable[[], None]) -> None:
        command = Command("planted", callback=body, help="Planted.")
        monkeypatch.setitem(sys.modules, "planted_command", SimpleNamespace(command=command))
        monkeypatch.setitem(COMMANDS, "planted", ("planted_command", "Planted."))

    return add


def raising(error: BaseException) -> Callable[[], None]:
    def body() -> None:
        raise error

    return body


# --- the table of commands ---


@pytest.mark.parametrize("path", COMMANDS)
def test_every_command_of_the_table_is_there_with_help(path: str, capsys: Capture) -> None:
    command = import_module(COMMANDS[path][0]).command
    assert isinstance(command, Command)
    assert command.help
    assert 0 == run([*path.split(), "-h"])
    assert f"Usage: eukhe {path} " in capsys.readouterr().out


def test_every_group_has_a_line_and_every_line_a_period() -> None:
    groups = {path.rpartition(" ")[0] for path in COMMANDS} - {""}
    assert groups <= GROUPS.keys()
    lines = [*GROUPS.values(), *(about for _module, about in COMMANDS.values())]
    assert [] == [line for line in lines if not line.endswith(".")]


def test_the_help_of_a_group_lists_its_commands_and_imports_none(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(COMMANDS, "config planted", ("no.such.module", "Planted."))
    assert 0 == run(["config", "--help"])
    printed = " ".join(capsys.readouterr().out.split())
    for path in ("config list", "config get", "config set", "config planted"):
        assert COMMANDS[path][1] in printed


def test_without_a_command_the_help_is_printed(capsys: Capture) -> None:
    assert 0 == run([])
    assert "Usage: eukhe " in capsys.readouterr().out


def test_a_group_without_a_command_is_wrong_usage() -> None:
    assert 2 == run(["config"])


# --- mistakes ---


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (("confg",), "Did you mean 'config'?"),
        (("config", "lst"), "Did you mean 'list'?"),
        (("config", "list", "--jsn"), "Did you mean '--json'?"),
        (("lists",), "Did you mean 'eukhe config list'?"),
    ],
)
def test_a_typing_mistake_gets_a_hint_and_exit_2(words: tuple[str, ...], hint: str, capsys: Capture) -> None:
    assert 2 == run(words)
    printed = capsys.readouterr()
    assert "" == printed.out
    assert hint in printed.err


def test_a_word_like_none_gets_no_hint(capsys: Capture) -> None:
    assert 2 == run(["zzzzzz"])
    assert "Error: No such command 'zzzzzz'.\n" in capsys.readouterr().err


# --- how it ends ---


def test_an_expected_error_is_one_line_and_exit_1(plant: Plant, capsys: Capture) -> None:
    plant(raising(NotFoundError("No line\n8+4.\x1b[2J")))
    assert 1 == run(["planted"])
    printed = capsys.readouterr()
    assert ("", "eukhe: No line 8+4.\n") == (printed.out, printed.err)


def test_a_fault_of_ours_is_one_line_that_says_how_to_see_more(plant: Plant, capsys: Capture) -> None:
    plant(raising(ValueError("odd")))
    assert 1 == run(["planted"])
    assert "eukhe: a fault of eukhe: ValueError: odd (EUKHE_DEBUG=1 shows where)\n" == capsys.readouterr().err


def test_with_debug_a_fault_shows_where(plant: Plant, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EUKHE_DEBUG", "1")
    plant(raising(ValueError("odd")))
    with pytest.raises(ValueError, match="odd"):
        run(["planted"])


@pytest.mark.parametrize("error", [KeyboardInterrupt(), click.Abort()])
def test_an_interrupt_is_exit_130(error: BaseException, plant: Plant, capsys: Capture) -> None:
    plant(raising(error))
    assert 130 == run(["planted"])
    assert "eukhe: interrupted\n" == capsys.readouterr().err


def test_a_real_ctrl_c_is_exit_130(plant: Plant) -> None:
    plant(lambda: signal.raise_signal(signal.SIGINT))
    assert 130 == run(["planted"])


def test_a_reader_that_goes_away_ends_it_quietly(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    ended = subprocess.run([*EUKHE, "config", "list"], stdout=writing, stderr=subprocess.PIPE, check=False)
    os.close(writing)
    assert (141, b"") == (ended.returncode, ended.stderr)


def test_a_mistake_that_nobody_hears_ends_quietly() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    ended = subprocess.run([*EUKHE, "nothing"], stdout=writing, stderr=writing, check=False)
    os.close(writing)
    assert 141 == ended.returncode


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this system")
def test_a_full_disk_behind_stdout_is_one_line() -> None:
    with Path("/dev/full").open("wb") as full:
        ended = subprocess.run([*EUKHE, "config", "list", "--json"], stdout=full, stderr=subprocess.PIPE, check=False)
    assert (1, b"eukhe: the output can't be written: No space left on device\n") == (ended.returncode, ended.stderr)


def test_closed_outputs_are_no_fault() -> None:
    ended = subprocess.run(["/bin/sh", "-c", 'exec "$@" >&- 2>&-', "sh", *EUKHE, "config", "list"], check=False)
    assert 0 == ended.returncode


# --- where things are ---


def test_the_home_is_the_flags_else_the_environments_else_the_users(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Path.home() / ".eukhe" == Given().home
    monkeypatch.setenv("EUKHE_HOME", "~/other")
    assert Path.home() / "other" == Given().home
    assert Path("/given") == Given("/given").home


def test_the_home_flag_may_stand_anywhere(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "settings.json").write_text('{"model": "openai/b"}')
    for words in (
        ("--home", str(tmp_path), "config", "get", "model"),
        ("config", "--home", str(tmp_path), "get", "model"),
        ("config", "get", "model", "--home", str(tmp_path)),
    ):
        assert 0 == run(words)
        assert "openai/b\n" == capsys.readouterr().out


def test_an_empty_home_is_wrong_usage_and_not_the_users_own(capsys: Capture) -> None:
    assert 2 == run(["--home", "", "chat", "status"])
    assert "Invalid value for '--home': an empty path" in capsys.readouterr().err


def test_keys_of_json_bring_the_option_with_them() -> None:
    assert "as_json" in {param.name for param in Command("c", json_keys={"a": "b"}).params}
    assert "as_json" not in {param.name for param in Command("c").params}


def test_completion_prints_a_script_for_each_shell(capsys: Capture) -> None:
    for shell in ("bash", "zsh", "fish"):
        assert 0 == run(["completion", shell])
        assert "_EUKHE_COMPLETE" in capsys.readouterr().out
    assert 2 == run(["completion", "tcsh"])


def test_completion_completes_commands_and_options() -> None:
    def complete(words: str) -> list[str]:
        environment = {**os.environ, "_EUKHE_COMPLETE": "zsh_complete", "COMP_WORDS": words}
        environment["COMP_CWORD"] = str(len(words.split()))
        done = subprocess.run(EUKHE, env=environment, capture_output=True, text=True, check=True)
        return done.stdout.split("\n")[1::3]

    assert ["list", "get", "set"] == complete("eukhe config")
    assert {"config", "completion"} <= set(complete("eukhe"))


# --- what is loaded ---


def test_the_version_is_printed_and_loads_nothing_heavy() -> None:
    code = (
        "import sys; from eukhe.cli.main import run; run(['--version']);"
        "print(sorted({name.partition('.')[0] for name in sys.modules}"
        " & {'anthropic','httpx','rich','prompt_toolkit','pykka','orjson','msgspec','sqlite3','asyncio'}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert f"eukhe {__version__}\n[]\n" == done.stdout


# --- what is shown ---


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain — ünï 漢字 👍", "plain — ünï 漢字 👍"),
        ("a\tb\nc", "a\tb\nc"),
        ("a\r\nb\rc", "a\nb\nc"),
        ("\x1b[31;1mred\x1b[0m", "red"),
        ("\x1b]0;title\x07x\x1b]8;;u\x1b\\link", "xlink"),
        ("\x1bPq#0\x1b\\x\x1b_hidden\x1b\\y", "xy"),
        ("\x1b]0;never ended", "]0;never ended"),
        ("\x1bcreset\x1b(Bset", "resetset"),
        ("\x9b31mred", "31mred"),
        ("one\u2028two\x85three\x0bfour", "one two three four"),
        ("a\u202eb\u2066c\u200fd", "abcd"),
        ("nul\x00 bell\x07 back\x08 del\x7f", "nul bell back del"),
        ("half \ud83d", "half "),
    ],
)
def test_what_a_terminal_could_take_for_an_order_is_not_shown(text: str, shown: str) -> None:
    assert shown == output.printable(text)


@given(st.text(st.sampled_from("a\x1b[]0;m\x07\\PX^_(\x9b\r\n\t\u2028\u202e\x00\ud800é"), max_size=40))
def test_nothing_shown_steers_a_terminal_and_showing_twice_changes_nothing(text: str) -> None:
    shown = output.printable(text)
    assert set() == {c for c in shown if not c.isprintable()} - {"\n", "\t"}
    assert shown == output.printable(shown)
    assert "\n" not in output.one_line(text)


def test_a_table_has_columns_of_the_widest_cell_and_numbers_to_the_right(capsys: Capture) -> None:
    output.emit_table([("a", 5, "x"), ("漢字", 1234, "one\ntwo")], ("name", "n", "what"))
    assert [
        "name  n     what",
        "a        5  x",
        "漢字  1234  one two",
    ] == capsys.readouterr().out.splitlines()


def test_a_table_of_nothing_prints_nothing(capsys: Capture) -> None:
    output.emit_table([])
    assert "" == capsys.readouterr().out


def test_json_is_one_line_in_the_order_given(capsys: Capture) -> None:
    output.emit_json({"z": 1, "a": ["\x1b", "é"]})
    assert '{"z":1,"a":["\\u001b","é"]}\n' == capsys.readouterr().out


def test_a_path_that_is_no_utf8_can_be_shown_and_sent(capsys: Capture) -> None:
    path = Path(os.fsdecode(b"/logs/\xff.jsonl"))
    output.emit_json({"path": output.path_text(path)})
    assert {"path": "/logs/\ufffd.jsonl"} == json.loads(capsys.readouterr().out)


def test_an_output_that_has_no_such_character_gets_its_code() -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    code = "from eukhe.cli.output import emit; emit('é')"
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, check=True)
    assert b"\\xe9\n" == done.stdout


# --- progress ---


def test_progress_without_a_terminal_is_a_line_now_and_then_and_a_last_one(capsys: Capture) -> None:
    now_s = 0.0
    with progress("reading", 10, now_s=lambda: now_s) as work:
        work.advance()
        now_s = PROGRESS_LINE_S
        work.advance(2)
        work.advance()
        now_s = 2 * PROGRESS_LINE_S
        work.advance()
        work.advance()
    assert ["reading: 3 of 10", "reading: 5 of 10", "reading: 6 of 10"] == capsys.readouterr().err.splitlines()


def test_progress_that_is_done_at_once_says_nothing(capsys: Capture) -> None:
    with progress("reading", now_s=lambda: 0.0) as work:
        work.advance()
    printed = capsys.readouterr()
    assert ("", "") == (printed.out, printed.err)


def test_progress_over_bytes_is_in_megabytes(capsys: Capture) -> None:
    with progress("reading", 3_000_000, in_bytes=True, now_s=count(0, PROGRESS_LINE_S).__next__) as work:
        work.advance(1_250_000)
    assert capsys.readouterr().err == "reading: 1.2 MB of 3.0 MB\n"


def on_terminal(code: str, columns: int, **environment: str) -> tuple[bytes, bytes]:
    """Runs Python with stderr on a terminal of so many columns. What stdout and the terminal got."""
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, columns))
    done = subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm", **environment},
    )
    os.close(theirs)
    seen = b""
    while chunk := _read_terminal(ours):
        seen += chunk
    os.close(ours)
    result = done.communicate()[0]
    assert 0 == done.returncode
    return result, seen


def _read_terminal(fd: int) -> bytes:
    try:
        return os.read(fd, 4096)
    except OSError:  # Linux's way to say that the other side is closed
        return b""


WORK = """
from eukhe.cli.output import emit
from eukhe.cli.progress import progress
with progress("work", 3) as p:
    for k in range(3):
        p.advance()
        emit(f"result {k}")
"""


@pytest.mark.parametrize("columns", [1, 80])
def test_a_bar_on_a_terminal_leaves_results_alone_and_the_cursor_visible(columns: int) -> None:
    result, seen = on_terminal(WORK, columns)
    assert b"result 0\nresult 1\nresult 2\n" == result
    assert seen.rfind(b"\x1b[?25h") > seen.rfind(b"\x1b[?25l") >= 0
    assert columns == 1 or b"3/3" in seen


def test_no_color_draws_no_colours() -> None:
    _result, seen = on_terminal(WORK, 80, NO_COLOR="1")
    assert b"3/3" in seen
    assert b"\x1b[38;5" not in seen
    assert b"\x1b[3" not in seen


def test_a_dumb_terminal_gets_no_bar() -> None:
    result, seen = on_terminal(WORK, 80, TERM="dumb")
    assert b"result 0\nresult 1\nresult 2\n" == result
    assert b"" == seen


def test_a_one_column_terminal_can_show_help() -> None:
    code = "from eukhe.cli.main import run; run(['config', 'list', '--help'])"
    assert on_terminal(code, 1)[0].startswith(b"Usage: eukhe config list")
