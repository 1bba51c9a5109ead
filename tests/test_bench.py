"""The bench runs, and its table says what was measured. Nothing here asks how fast anything is."""

import json
import subprocess
import sys
from pathlib import Path

import orjson
import pytest
from measure import append, chat_size, importing, line, memory, owner, planner, socket, start, workers
from measure.figures import Aim, Figure, Sizes, percentile, table
from measure.machine import machine
from measure.made_chat import MESSAGES_A_DAY, MadeChat
from measure.made_sessions import copies

from eukhe.cli.reading import INDEX_FILE
from eukhe.demo import sessions
from eukhe.limits import REPEAT_CHARS_MIN
from eukhe.world.transcripts import Said, plan, read
from tests.chat_kit import eukhe, logs

BENCH = Path(__file__).resolve().parent.parent / "tools" / "bench.py"
TINY = Sizes(
    planner=2_000,
    planner_few=500,
    append_rounds=1,
    append_each=5,
    append_whole=20,
    chat_many=300,
    chat_few=100,
    chat_runs=1,
    zooms=10,
    import_copies=1,
    start_runs=1,
    line_rounds=1,
    worker_starts=1,
    worker_calls=1,
    worker_ends=1,
    memory_mb=1,
    idle_s=0.1,
    take_overs=1,
    repeats=1,
)


def units(figures: list[Figure]) -> list[str]:
    """Each figure's unit; all that was measured took time and room."""
    assert all(figure.value > 0 and figure.base > 0 for figure in figures)
    return [figure.unit for figure in figures]


# --- what is measured ---


def test_the_planner_is_measured_in_speed_and_memory() -> None:
    assert ["messages/s", "MB"] == units(planner.measure(TINY))


def test_the_planner_that_is_measured_is_never_late() -> None:
    chat = planner.run([600] * 1_000)
    assert (1_000, 0, set()) == (chat.t, len(chat.view.unbuilt), chat.ready)


def test_appends_are_measured_alone_and_many_at_a_time(tmp_path: Path) -> None:
    assert ["µs", "messages/s", "messages/s"] == units(append.measure(TINY, tmp_path))


def test_a_clients_appends_are_measured_over_the_socket(tmp_path: Path) -> None:
    assert ["µs", "messages/s"] == units(socket.measure(TINY, tmp_path))
    assert not (tmp_path / "socket").exists()


def test_the_bare_loop_writes_lines_of_the_store(tmp_path: Path) -> None:
    append.measure(TINY, tmp_path)
    written = (tmp_path / "store" / "bare").read_bytes()
    (log,) = (tmp_path / "store" / "main").iterdir()
    assert (5, True) == (written.count(b"\n"), log.read_bytes().startswith(written))


def test_commands_are_measured_on_both_chats_and_leave_nothing_large(tmp_path: Path) -> None:
    assert ["messages/s", *["ms"] * 4, *["µs"] * 4] == units(chat_size.measure(TINY, tmp_path))
    assert ["few"] == [folder.name for folder in tmp_path.iterdir()]


def test_an_owner_is_measured_idle_and_killed(no_leaks: None, tmp_path: Path) -> None:
    *idle, background, here = owner.measure(TINY, tmp_path)
    assert ["ms", "ms"] == units([background, here])
    assert ["ms"] * (sys.platform == "linux") == [figure.unit for figure in idle]  # which may cost nothing at all


@pytest.mark.skipif(sys.platform != "linux", reason="memory and ends of processes are looked at in /proc")
def test_workers_are_measured_from_their_start_to_their_end(no_leaks: None) -> None:
    assert ["ms", "MB", "ms", "ms"] == units(workers.measure(TINY))


def test_an_import_is_measured_on_real_sessions_too_where_there_are_any(tmp_path: Path) -> None:
    assert ["MB/s", "messages/s"] == units(importing.measure(TINY, tmp_path / "without", tmp_path / "nowhere"))
    assert 4 == len(units(importing.measure(TINY, tmp_path / "with", sessions())))


def test_the_start_of_the_program_is_measured() -> None:
    assert ["ms"] == units(start.measure(TINY))


def test_the_lines_of_messages_and_merges_are_measured(tmp_path: Path) -> None:
    assert ["µs", "µs"] == units(line.measure(TINY, tmp_path / "nowhere"))


def test_the_memory_of_an_import_is_measured(tmp_path: Path) -> None:
    assert ["MB"] == units(memory.measure(TINY, tmp_path))


# --- what it is measured on ---


def test_a_made_chat_is_proved_by_verify(tmp_path: Path) -> None:
    MadeChat(tmp_path, 600).write(MESSAGES_A_DAY + 1)
    eukhe(tmp_path, "chat", "status")
    assert (tmp_path / "chat" / INDEX_FILE).exists()
    found = eukhe(tmp_path, "chat", "verify", "--json").json
    assert {"ok": True, "messages": MESSAGES_A_DAY + 1, "problems": []} == {
        key: found[key] for key in ("ok", "messages", "problems")
    }
    assert 2 == len(list((tmp_path / "chat" / "main").iterdir()))


def test_a_made_chat_has_lines_of_models_and_batches(tmp_path: Path) -> None:
    MadeChat(tmp_path, 600).write(1_000)
    tree = [orjson.loads(row) for row in logs(tmp_path, "tree").splitlines()]
    merged = [parent for record in tree for parent in record.get("merge", ())]
    assert (1_000, True) == (len([1 for record in tree if record.get("l") == 0]), len(merged) > 100)


def test_a_chat_is_made_the_same_each_time(tmp_path: Path) -> None:
    for name in ("a", "b"):
        MadeChat(tmp_path / name, 300).write(500)
    for folder in ("main", "tree"):
        assert logs(tmp_path / "a", folder) == logs(tmp_path / "b", folder)


def test_every_message_of_a_copied_session_comes_in(tmp_path: Path) -> None:
    said = []
    for folder in (sessions(), copies(sessions(), tmp_path / "copies", 2)):
        with plan(sorted(folder.glob("*.jsonl"))) as planned:
            said.append([item for item in read(planned) if isinstance(item, Said)])
    one, two = said
    assert 2 * len(one) == len(two) == len({item.key for item in two})
    longs = [len({item.text for item in items if len(item.text) >= REPEAT_CHARS_MIN}) for items in said]
    assert [longs[0], 2 * longs[0]] == longs


# --- how it is told ---


@pytest.mark.parametrize(
    ("value", "base", "aim", "reached"),
    [
        (10, 5, None, None),
        (10, 5, Aim("value", 10), True),
        (11, 5, Aim("value", 10), False),
        (10, 5, Aim("value", 10, at_least=True), True),
        (9, 5, Aim("value", 10, at_least=True), False),
        (10, 5, Aim("times", 2), True),
        (11, 5, Aim("times", 2), False),
        (9, 5, Aim("times", 2, at_least=True), False),
        (10, 5, Aim("more", 5), True),
        (11, 5, Aim("more", 5), False),
    ],
)
def test_an_aim_is_of_the_value_the_ratio_or_the_difference(
    value: float, base: float, aim: Aim | None, reached: bool | None
) -> None:
    assert reached is Figure("", value, "ms", "", base, aim).reached


def test_the_table_is_markdown() -> None:
    figures = [
        Figure("start", 61.25, "ms", "nothing", 20, Aim("more", 80)),
        Figure("append", 91_234.5, "messages/s", "bare", 4_000, Aim("times", 30, at_least=True)),
        Figure("zoom", 0.257, "ms", "few", 1),
    ]
    rows = [[cell.strip() for cell in row.strip("|").split("|")] for row in table(figures).splitlines()]
    assert [
        ["what", "measured", "beside it, in the same run", "against it", "aim"],
        ["start", "61.2 ms", "20 ms: nothing", "+41 ms", "at most 80 ms more: reached"],
        ["append", "91,234 messages/s", "4,000 messages/s: bare", "22.8 times", "at least 30 times: missed"],
        ["zoom", "0.26 ms", "1 ms: few", "0.26 times", ""],
    ] == [rows[0], *rows[2:]]


def test_a_percentile_is_one_of_the_values() -> None:
    assert [1, 51, 100, 100] == [percentile(range(1, 101), percent) for percent in (0, 50, 99, 100)]


def test_the_machine_is_named(tmp_path: Path) -> None:
    found = machine(tmp_path)
    assert {"cpu", "cores", "python", "system", "filesystem", "load"} == set(found)
    assert all(str(value) for value in found.values())


def test_the_tool_prints_what_was_asked_for(tmp_path: Path) -> None:
    done = bench("start", "--quick", "--json", "--folder", str(tmp_path))
    found = json.loads(done.stdout)
    assert (["eukhe --version"], "bench: start\n") == ([figure["what"] for figure in found["figures"]], done.stderr)
    assert [] == list(tmp_path.iterdir())
    shown = bench("start", "--quick", "--folder", str(tmp_path)).stdout
    assert ("| what", True) == (shown[:6], found["machine"]["python"] in shown)


def test_a_measurement_that_is_none_is_wrong_usage() -> None:
    done = bench("plannner")
    assert (2, True) == (done.returncode, "nothing is named plannner; there are planner, append," in done.stderr)


def bench(*args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, BENCH, *args], capture_output=True, text=True, check=False)
