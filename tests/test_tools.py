"""The gate's own checks: each breach, planted in a tree of its own, is found at its line; the project has none."""

from pathlib import Path

import check_files
import check_imports
import check_numbers
import check_words
import pytest
from gate_kit import ROOT, exit_code, plant

# --- who imports whom ---


def imports_found(root: Path, name: str, line: str) -> list[str]:
    """What is found in a file of one line, among a few other files, as `line: rule`."""
    for module in ("world/disk.py", "sim/disk.py", "model/part.py"):
        plant(root, f"eukhe/{module}", "")
    plant(root, name, f"{line}\n")
    return [f"{breach.line}: {breach.rule}" for breach in check_imports.breaches(root) if name == breach.path]


@pytest.mark.parametrize(
    ("name", "line", "layers", "module"),
    [
        ("limits.py", "import eukhe.model.part", "base model", "eukhe.model.part"),
        ("model/view.py", "from eukhe.actors.ports import Disk", "model words", "eukhe.actors.ports"),
        ("model/view.py", "from eukhe.world.disk import RealDisk", "model world", "eukhe.world.disk"),
        ("model/view.py", "from eukhe.world import disk", "model world", "eukhe.world.disk"),
        ("model/view.py", "from ..world import disk", "model world", "eukhe.world.disk"),
        ("model/view.py", "from .. import world", "model world", "eukhe.world"),
        ("actors/ports.py", "import eukhe.actors.planner", "words behaviours", "eukhe.actors.planner"),
        ("actors/planner.py", "import eukhe.world.disk", "behaviours world", "eukhe.world.disk"),
        ("actors/planner.py", "import eukhe.sim.disk", "behaviours sim", "eukhe.sim.disk"),
        ("actors/planner.py", "import eukhe.actors.host", "behaviours hosts", "eukhe.actors.host"),
        ("actors/store.py", "import eukhe.cli.owner", "behaviours root", "eukhe.cli.owner"),
        ("actors/archive.py", "import eukhe.actors.store", "readers behaviours", "eukhe.actors.store"),
        ("actors/host.py", "import eukhe.world.disk", "hosts world", "eukhe.world.disk"),
        ("world/disk.py", "import eukhe.sim.disk", "world sim", "eukhe.sim.disk"),
        ("world/disk.py", "import eukhe.actors.store", "world behaviours", "eukhe.actors.store"),
        ("sim/disk.py", "import eukhe.world.disk", "sim world", "eukhe.world.disk"),
        ("sim/disk.py", "import eukhe.cli.main", "sim cli", "eukhe.cli.main"),
        ("cli/status.py", "import eukhe.actors.threads", "cli hosts", "eukhe.actors.threads"),
        ("cli/status.py", "import eukhe.actors.planner", "cli behaviours", "eukhe.actors.planner"),
    ],
)
def test_an_import_against_the_directions_is_found(
    tmp_path: Path, name: str, line: str, layers: str, module: str
) -> None:
    importer, imported = layers.split()
    expected = f"1: {importer} may not import {imported} ({module})"
    assert [expected] == imports_found(tmp_path, f"eukhe/{name}", line)


@pytest.mark.parametrize(
    "module",
    [
        "time",
        "os",
        "os.path",
        "sys",
        "io",
        "socket",
        "threading",
        "random",
        "uuid",
        "pathlib",
        "subprocess",
    ],
)
def test_a_pure_module_that_can_know_the_world_is_found(tmp_path: Path, module: str) -> None:
    line = f"def now():\n    import {module}"
    assert [f"2: a pure module may not import {module}"] == imports_found(tmp_path, "eukhe/model/view.py", line)


def test_a_pure_module_that_calls_the_world_is_found(tmp_path: Path) -> None:
    assert ["1: a pure module may not call open()"] == imports_found(tmp_path, "eukhe/model/view.py", "x = open('x')")


@pytest.mark.parametrize("call", ["datetime.now()", "date.today()", "datetime(2026, 10, 5).astimezone()"])
def test_a_pure_module_may_reckon_with_dates_and_not_ask_the_machine_for_one(tmp_path: Path, call: str) -> None:
    line = "from datetime import date, datetime"
    assert [] == imports_found(tmp_path, "eukhe/model/view.py", line)
    method = call.rpartition(".")[2]
    found = imports_found(tmp_path, "eukhe/model/view.py", f"{line}\nx = {call}")
    assert [f"2: a pure module may not call .{method}"] == found


@pytest.mark.parametrize(
    ("name", "package", "users"),
    [
        ("cli/status.py", "pykka", "eukhe.actors.host, eukhe.actors.threads, eukhe.sim.runtime"),
        ("sim/disk.py", "pykka", "eukhe.actors.host, eukhe.actors.threads, eukhe.sim.runtime"),
        ("world/disk.py", "rich.progress", "eukhe.cli"),
        ("cli/status.py", "httpx", "eukhe.world.providers, eukhe.worker"),
        ("actors/index.py", "sqlite3", "eukhe.world, eukhe.sim"),
    ],
)
def test_a_package_in_the_wrong_place_is_found(tmp_path: Path, name: str, package: str, users: str) -> None:
    expected = f"1: only {users} may import {package.partition('.')[0]}"
    assert [expected] == imports_found(tmp_path, f"eukhe/{name}", f"from {package} import x")


def test_a_module_of_no_layer_is_found(tmp_path: Path) -> None:
    expected = "1: eukhe.stray has no layer: give it one in tools/check_imports.py"
    assert [expected] == imports_found(tmp_path, "eukhe/stray.py", "")


@pytest.mark.parametrize("package", ["rich", "httpx", "anthropic", "prompt_toolkit", "pykka", "orjson", "msgspec"])
def test_what_the_version_would_load_through_others_is_found(tmp_path: Path, package: str) -> None:
    plant(tmp_path, "eukhe/cli/main.py", "from eukhe.cli.output import say\n")
    plant(tmp_path, "eukhe/cli/output.py", f"import os\nimport {package}\n")
    rule = f"eukhe.cli.main loads eukhe.cli.output, so it may import {package} only in a function"
    found = [breach for breach in check_imports.breaches(tmp_path) if "only in a function" in breach.rule]
    assert [check_imports.Breach("eukhe/cli/output.py", 2, rule)] == found


def test_a_package_loaded_on_the_way_counts_as_loaded(tmp_path: Path) -> None:
    plant(tmp_path, "eukhe/cli/main.py", "from eukhe.cli.output import say\n")
    plant(tmp_path, "eukhe/cli/__init__.py", "import rich\n")
    plant(tmp_path, "eukhe/cli/output.py", "")
    assert ["eukhe/cli/__init__.py"] == [breach.path for breach in check_imports.breaches(tmp_path)]


def test_an_import_in_a_function_or_for_types_alone_loads_nothing(tmp_path: Path) -> None:
    text = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import rich\ndef bar():\n    import rich\n"
    plant(tmp_path, "eukhe/cli/main.py", text)
    assert [] == check_imports.breaches(tmp_path)


def test_the_check_of_imports_prints_file_and_line_and_fails(tmp_path: Path) -> None:
    assert (0, "") == exit_code("check_imports.py", tmp_path)
    plant(tmp_path, "eukhe/model/view.py", "import time\n")
    expected = "eukhe/model/view.py:1: a pure module may not import time\n"
    assert (1, expected) == exit_code("check_imports.py", tmp_path)


def test_every_layer_may_only_import_layers_that_are_there() -> None:
    layers = set(check_imports.LAYER_OF.values())
    assert layers == set(check_imports.MAY_IMPORT)
    assert set() == set().union(*check_imports.MAY_IMPORT.values()) - layers


def test_no_two_layers_may_import_each_other_but_the_commands_and_their_root() -> None:
    both_ways = {
        frozenset((a, b))
        for a, others in check_imports.MAY_IMPORT.items()
        for b in others
        if a in check_imports.MAY_IMPORT[b]
    }
    assert {frozenset(("cli", "root"))} == both_ways


# --- numbers ---


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("x = 512", ["512"]),
        ("x = -3", ["3"]),
        ("x = 0.5", ["0.5"]),
        ("x = 0x1F", ["0x1F"]),
        ("x = 1_000", ["1_000"]),
        ("x = text[:512]", ["512"]),
        ("x = table[size(512)]", ["512"]),
        ("x = 10 ** 6", ["10"]),
        ("x = 4 if y > 5 else 6", ["4", "5", "6"]),
        ("x = f'{y:>20}{z + 7}'", ["7"]),
        ("x = 0 + 1 - 1 + 2 - 2 + 0.0 + 1.0", []),
        ("x = parts[3] + parts[-3]", []),
        ("x = 1 << 20", []),
        ("x = y >> 8", []),
        ("x = 2**64", []),
        ("x = True", []),
        ("x = 'port 8080'", []),
        ("x = 0xFF  # number: a byte's mask", []),
        ("x = 0xFF  # number:", ["0xFF"]),
        ("x = '# number: why', 3", ["3"]),
    ],
)
def test_a_number_without_a_name_is_found(code: str, found: list[str]) -> None:
    assert [(1, text) for text in found] == sorted(check_numbers.numbers(code + "\n"))


def test_only_limits_may_hold_numbers(tmp_path: Path) -> None:
    plant(tmp_path, "eukhe/limits.py", "X = 512\n")
    assert (0, "") == exit_code("check_numbers.py", tmp_path)
    plant(tmp_path, "eukhe/model/view.py", "\nX = 512\n")
    code, printed = exit_code("check_numbers.py", tmp_path)
    assert (1, True) == (code, printed.startswith("eukhe/model/view.py:2: 512 has no name"))


# --- the form of files ---


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("eukhe/a.py", '"""A."""\n' + "x = 1\n" * 398, []),
        ("eukhe/a.py", '"""A."""\n' + "x = 1\n" * 399, ["400: 400 lines are more than one responsibility: split it"]),
        ("eukhe/limits.py", '"""A."""\n' + "x = 1\n" * 399, []),
        ("eukhe/a.py", "x = 1\n", ["1: says nothing about itself: begin with a docstring"]),
        ("eukhe/a.py", "", []),
        ("eukhe/model/a.py", '"""A. Pure: no clock, disk or threads."""\n', []),
        (
            "eukhe/model/a.py",
            '"""A.\n\nPure: no clock, disk or threads."""\n',
            ["1: a pure file says so on its first line: Pure: no clock, disk or threads."],
        ),
    ],
)
def test_a_file_of_the_wrong_form_is_found(name: str, text: str, found: list[str]) -> None:
    assert found == list(check_files.problems(name, text))


def test_the_check_of_files_looks_at_tests_and_tools_too(tmp_path: Path) -> None:
    for folder in ("eukhe", "tests", "tools"):
        plant(tmp_path, f"{folder}/a.py", "x = 1\n")
    code, printed = exit_code("check_files.py", tmp_path)
    assert (1, 3) == (code, printed.count("says nothing about itself"))


# --- words ---

# In two halves, since this file is checked like any other.
NOT_OURS = [
    "see /wo" + "rk/x",
    "'/ro" + "ot/.cache'",
    "open(/tm" + "p/chat)",
    "https" + "://registry.invalid/simple",
    "as issu" + "e 12 says",
    "# TO" + "DO: later",
]


@pytest.mark.parametrize("line", NOT_OURS)
def test_a_word_that_is_not_the_projects_is_found(line: str) -> None:
    ((number, what),) = check_words.words("README.md", f"fine\n{line}\n")
    assert (2, True) == (number, what.split()[-1] in line)


def test_folders_that_are_no_machines_are_fine() -> None:
    text = "../shared/data, src/root/x, ~/.eukhe, http://127.0.0.1:8000/x, https://example.com/a, the root/work split\n"
    assert [] == list(check_words.words("README.md", text))


def test_what_is_not_the_projects_text_is_not_read(tmp_path: Path) -> None:
    line = NOT_OURS[0]
    for name in (".venv/a.py", ".git/config", "eukhe/__pycache__/a.py", "a.png"):
        plant(tmp_path, name, line)
    assert (0, "") == exit_code("check_words.py", tmp_path)
    plant(tmp_path, ".ci/run", line)
    plant(tmp_path, "Makefile", line)
    code, printed = exit_code("check_words.py", tmp_path)
    assert (1, [".ci/run:1", "Makefile:1"]) == (code, [line.partition(": ")[0] for line in printed.splitlines()])


# --- the project ---


def test_every_name_of_a_tool_the_makefile_calls_is_there() -> None:
    words = (ROOT / "Makefile").read_text().split()
    tools = {word for word in words if word.startswith("tools/")}
    assert {"tools/check_imports.py", "tools/rules.py"} <= tools
    assert set() == {tool for tool in tools if not (ROOT / tool).is_file()}
