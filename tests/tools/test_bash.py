"""The tool `bash`: what a command prints and how it ends."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from eukhe.actors.ports import ToolEnded, ToolSaid
from eukhe.limits import BASH_TIMEOUT_S_MAX, TOOL_SAID_CHARS_MAX
from eukhe.model.secrets import Secrets
from eukhe.model.text import clip
from tests.leaks import environment, no_leaks
from tests.secret_kit import KEYS, pem
from tests.tools_kit import Bench, at_work

__all__ = ["no_leaks"]  # a fixture

pytestmark = [
    pytest.mark.usefixtures("no_leaks"),
    pytest.mark.skipif(sys.platform != "linux", reason="processes are looked at in /proc"),
]


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    with at_work(tmp_path) as bench:
        yield bench


# --- what comes back ---


def test_output_and_errors_come_together_and_in_their_order(bench: Bench) -> None:
    assert "a\nb\nc\n" == bench.text("bash", command="echo a; echo b >&2; echo c")


def test_a_command_runs_in_the_folder_and_reads_nothing(bench: Bench) -> None:
    assert f"{bench.folder}\n" == bench.text("bash", command="pwd; cat")


def test_of_an_exit_code_and_of_a_signal_is_said(bench: Bench) -> None:
    assert ToolEnded("a\n[exit code 3]\n", failed=True) == bench.run("bash", command="echo a; exit 3")
    assert "a\n[exit code 3]\n" == bench.why("bash", command="printf a; exit 3")
    assert "[ended by SIGSEGV]\n" == bench.why("bash", command="kill -SEGV $$")
    assert "[exit code 137, as after SIGKILL]\n" in bench.why("bash", command="sh -c 'kill -9 $$'; exit $?")
    assert "" == bench.text("bash", command="true")


def test_what_is_printed_is_heard_while_it_runs(bench: Bench) -> None:
    (bench.folder / "gate").touch()
    _, ear = bench.begin("bash", command="echo first; tail -f gate | head -1; echo last")
    ear.hears("first")
    with (bench.folder / "gate").open("a") as gate:
        gate.write("go\n")
    assert "first\ngo\nlast\n" == ear.end().text
    assert "first\ngo\nlast\n" == ear.said


@pytest.mark.rule("9")
def test_of_100_mb_head_and_tail_come_back_and_the_middle_is_counted(bench: Bench) -> None:
    _, ear = bench.begin("bash", command="echo begin; head -c 100000000 /dev/zero | tr '\\0' x; echo end")
    text = ear.end().text
    assert clip("begin\n" + "x" * 100_000_000 + "end\n") == text


def test_what_is_shown_of_a_flood_is_bounded(bench: Bench) -> None:
    _, ear = bench.begin("bash", command="yes", timeout_s=0.3)
    pieces = []
    while isinstance(event := ear.events.get(timeout=30), ToolSaid):
        pieces.append(len(event.text))
    assert event.text.endswith("\n[ended after 0.3 s, its time limit]\n")
    assert max(pieces) <= TOOL_SAID_CHARS_MAX
    assert 30_000 == len(event.text)


def test_bytes_that_are_no_text_are_shown_as_such(bench: Bench) -> None:
    assert "\ufffdx\ufffd\ufffdé\ufffd" == bench.text("bash", command=r"printf '\xffx\0\x80\xc3\xa9\xc3'")
    assert bench.text("bash", command="head -c 200000 /dev/urandom").encode()


def test_a_character_that_comes_in_two_pieces_is_one(bench: Bench) -> None:
    _, ear = bench.begin("bash", command=r"printf 'x \xc3'; sleep 0.05; printf '\xa9'")
    assert "x é" == ear.end().text
    assert "x é" == ear.said


def test_a_bar_of_progress_is_one_line(bench: Bench) -> None:
    assert "100%\n" == bench.text("bash", command=r"for i in $(seq 100); do printf '\r%s%%' $i; done; echo")


# --- inputs ---


@pytest.mark.parametrize(
    ("given", "word"),
    [
        ({}, "`command`"),
        ({"command": 5}, "`command`"),
        ({"command": " "}, "`command`"),
        ({"command": "a\0b"}, "`command`"),
        ({"command": "true", "timeout_s": "1"}, "`timeout_s`"),
        ({"command": "true", "timeout_s": 0}, "`timeout_s`"),
        ({"command": "true", "timeout_s": BASH_TIMEOUT_S_MAX + 1}, "`timeout_s`"),
        ({"command": "true", "cwd": "/"}, "`cwd`"),
    ],
)
def test_a_wrong_input_is_answered_with_the_fields_name(bench: Bench, given: dict[str, object], word: str) -> None:
    assert word in bench.why("bash", **given)


def test_a_command_that_can_not_be_started_says_why(bench: Bench, tmp_path: Path) -> None:
    assert "Argument list too long" in bench.why("bash", command="echo " + "x" * 3_000_000)
    with at_work(tmp_path / "gone") as nowhere:
        assert "No such file or directory" in nowhere.why("bash", command="true")


def test_where_there_is_no_bash_sh_runs_it(tmp_path: Path) -> None:
    with at_work(tmp_path, {"PATH": str(tmp_path)}) as bench:
        assert "no bash\n" == bench.text("bash", command='echo "${BASH_VERSION:-no bash}"')


# --- what it has of ours ---


def test_a_command_has_no_handle_of_ours_and_no_key_in_its_environment(tmp_path: Path) -> None:
    key = KEYS["anthropic_key"]
    given = {
        "ANTHROPIC_API_KEY": key,
        "COPY": f"x{key}",
        "UNKNOWN": "local-server-key-17",
        "MY_PASSWORD": "tr0ub4dor&3",
        "SAME": "tr0ub4dor&3",
        "GIT_AUTHOR_NAME": "Ann Other",
        "SSH_AUTH_SOCK": "/run/agent.1",
        "PLAIN": "plain",
    }
    handle = (tmp_path / "inheritable").open("w")
    os.set_inheritable(handle.fileno(), True)
    with handle, at_work(tmp_path, given, "local-server-key-17") as bench:
        _, ear = bench.begin("bash", command="echo $$; ls -l /proc/$$/fd; sleep 1000; true")
        ear.hears("2 -> ")
        pid = int(ear.said.split("\n")[0])
        kept = environment(pid)
        handles = [str(handle.readlink()) for handle in Path(f"/proc/{pid}/fd").iterdir()]
    assert {"GIT_AUTHOR_NAME", "SSH_AUTH_SOCK", "PLAIN"} == {name for name in given if name in kept}
    assert key not in str(kept)
    assert ["/dev/null"] == [name for name in handles if not name.startswith("pipe:")]
    assert 3 == len(handles)


@pytest.mark.rule("D16")
def test_secrets_in_what_is_printed_are_hidden_also_across_what_is_cut(tmp_path: Path) -> None:
    key = KEYS["github_token"]
    with at_work(tmp_path, {"DB_PASSWORD": "tr0ub4dor&3"}) as bench:
        (tmp_path / "key.pem").write_text(pem())
        (tmp_path / "long").write_text(f"{'x' * 14_970} {key} {'x' * 20_000}")
        _, ear = bench.begin("bash", command="cat key.pem; echo; printf tr0ub; sleep 0.1; echo '4dor&3'")
        assert ear.end().text.startswith("[secret private_key ")
        assert "\n[secret DB_PASSWORD " in ear.said
        text = bench.text("bash", command="cat long")
        assert clip((tmp_path / "long").read_text().replace(key, Secrets({}).hide(key))) == text
        assert key[:20] not in text
