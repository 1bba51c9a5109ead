"""The pages that tools write: what stands in them, and that drift is found."""

from pathlib import Path

import docs_cli
import pytest
import rules
from gate_kit import ROOT, exit_code, plant

TABLE = """
[[section]]
name = "The log"
[[section.rule]]
id = "1"
says = "One."
code = ["eukhe/store.py:Store.append"]
[[section.rule]]
id = "2"
says = "Two."
code = ["eukhe/store.py:LIMIT", "eukhe/store.py:Store"]
[[section.rule]]
id = "3"
says = "Three."
[[section.rule]]
id = "4"
says = "Four."
by = ["1", "2"]
[[section.rule]]
id = "5"
says = "Five."
code = ["eukhe/store.py:LIMIT"]
later = "the rest."
[[section.rule]]
id = "D1"
says = "Six."
absent = "Nothing of the kind is called."
"""
STORE = "LIMIT: int = 1\nclass Store:\n    def append(self): ...\n"
TESTS = """
import pytest
pytestmark = [pytest.mark.slow, pytest.mark.rule("D1")]
@pytest.mark.rule("1")
def test_a(): ...
class TestB:
    @pytest.mark.slow
    @pytest.mark.rule("1")
    def test_b(self): ...
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    plant(tmp_path, "docs/rules.toml", TABLE)
    plant(tmp_path, "eukhe/store.py", STORE)
    plant(tmp_path, "tests/test_a.py", TESTS)
    return tmp_path


def test_the_page_of_rules_names_code_tests_and_status(project: Path) -> None:
    assert (0, "") == exit_code("rules.py", project)
    page = (project / "docs/memory.md").read_text()
    assert "2 held, 1 in part, 2 code only, 1 not yet.\n" in page
    assert "**1** *(held)* One.\n- Code: `eukhe/store.py:Store.append`\n" in page
    assert "- Tests:\n  - `tests/test_a.py`: `test_a`, `test_b`\n" in page
    assert "**2** *(code only)* Two.\n" in page
    assert "**3** *(not yet)* Three.\n" in page
    assert "**4** *(code only)* Four.\n- Follows from 1, 2.\n" in page
    assert "**5** *(in part)* Five.\n- Still to come: the rest.\n" in page
    assert "**D1** *(held)* Six.\n- Nothing of the kind is called.\n- Tests:\n  - `tests/test_a.py`: all\n" in page


def test_a_mark_may_name_rules_that_several_tests_hold(project: Path) -> None:
    plant(project, "tests/test_b.py", 'RULES = ("2", "D1")\n@pytest.mark.rule("1", *RULES)\ndef test_c(): ...\n')
    marks = rules.marks_of(project)
    assert ["test_c"] * 3 == [marks[rule][-1].partition("::")[2] for rule in ("1", "2", "D1")]


def test_a_transcript_holds_the_rules_that_its_first_line_names(project: Path) -> None:
    plant(project, "tests/scenarios/late.txt", "# rules: 1 2\n\nlimits\n")
    plant(project, "tests/scenarios/none.txt", "# of no rule\n# rules: 5\n")
    assert (0, "") == exit_code("rules.py", project)
    page = (project / "docs/memory.md").read_text()
    assert "  - `tests/test_a.py`: `test_a`, `test_b`\n  - `tests/scenarios`: `late`\n" in page
    assert "**2** *(held)* Two.\n" in page
    assert "`none`" not in page


def test_a_page_as_it_would_be_written_is_no_drift(project: Path) -> None:
    assert 0 == exit_code("rules.py", project)[0]
    assert (0, "") == exit_code("rules.py", project, "--check")


@pytest.mark.parametrize(
    ("name", "old", "new", "problem"),
    [
        ("tests/test_a.py", 'rule("1")', 'rule("74")', "tests/test_a.py::test_a: marks 74, which is no rule"),
        ("tests/test_a.py", 'rule("1")', 'rule("3")', "rule 3 is held by tests/test_a.py::test_a, but no code is"),
        ("tests/test_a.py", "test_a", "test_other", "docs/memory.md: not as tools/rules.py writes it"),
        ("eukhe/store.py", "append", "add", "rule 1 is said to be kept by eukhe/store.py:Store.append, which is not"),
        ("eukhe/store.py", "LIMIT", "MOST", "rule 2 is said to be kept by eukhe/store.py:LIMIT, which is not there"),
        ("docs/rules.toml", "store.py:Store.", "gone.py:Store.", "eukhe/gone.py:Store.append, which is not there"),
        ("docs/rules.toml", 'by = ["1", "2"]', 'by = ["1", "9"]', "rule 4 is said to follow from 9, which is no"),
        ("docs/rules.toml", "Two.", "Too.", "docs/memory.md: not as tools/rules.py writes it"),
        ("docs/memory.md", "Two.", "Too.", "docs/memory.md: not as tools/rules.py writes it"),
    ],
)
def test_drift_of_the_rules_is_found(project: Path, name: str, old: str, new: str, problem: str) -> None:
    assert 0 == exit_code("rules.py", project)[0]
    file = project / name
    file.write_text(file.read_text().replace(old, new))
    code, printed = exit_code("rules.py", project, "--check")
    assert 1 == code
    assert problem in printed


def test_the_table_has_every_rule_once() -> None:
    ids = [rule.id for section in rules.sections_of(ROOT) for rule in section.rules]
    numbers = [str(number) for number in range(1, 72)]
    assert [*numbers, *(f"D{n}" for n in range(1, 17)), *(f"F{n}" for n in range(1, 4))] == ids


# --- the page of commands ---


def test_the_page_of_commands_is_checked_for_drift(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    assert 1 == exit_code("docs_cli.py", tmp_path, "--check")[0]
    assert (0, "") == exit_code("docs_cli.py", tmp_path)
    assert (0, "") == exit_code("docs_cli.py", tmp_path, "--check")
    page = tmp_path / "docs/cli.md"
    page.write_text(page.read_text().replace("config get", "config show"))
    assert 1 == exit_code("docs_cli.py", tmp_path, "--check")[0]


def test_the_page_of_commands_has_options_keys_and_settings() -> None:
    page = docs_cli.page()
    assert "## `eukhe config set`\n\n    eukhe config set [OPTIONS] KEY [VALUE]\n" in page
    assert "| `--unset` | Take the setting out of the file. |" in page
    assert "| `[].source` | `default`, `file`, `environment NAME` or `flag --NAME` |" in page
    assert "| `memory.search` |" in page
