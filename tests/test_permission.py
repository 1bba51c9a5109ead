"""What a tool may do without being asked for."""

import posixpath
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eukhe.model.permission import Allowed, Ask, Policy, Refused, is_rule
from eukhe.model.tool_input import Edit, Write

FOLDER = "/home/ann/project"
LINKS = {"/home/ann/project/out": "/etc", "/home/ann/project/in": "/home/ann/project/src"}


class FakePlace:
    """A folder with two links: `out` leads out of it, `in` to another of its folders."""

    def resolve(self, path: str) -> str:
        whole = posixpath.normpath(posixpath.join(FOLDER, path))
        for link, target in LINKS.items():
            if whole == link or whole.startswith(f"{link}/"):
                return target + whole.removeprefix(link)
        return whole

    def change(self, given: Write | Edit) -> str:
        return f"the change of {given.path}"


def decided(rules: list[str], name: str, /, *, attended: bool = True, **given: Any) -> Allowed | Ask | Refused:
    return Policy(rules, FakePlace(), attended=attended).decide(name, given)


def may_run(rule: str, command: str) -> bool:
    return Allowed() == decided([rule], "bash", command=command)


def may_write(rule: str, path: str) -> bool:
    return Allowed() == decided([rule], "write", path=path, text="")


@pytest.mark.parametrize("name", ["zoom", "date", "search", "at", "read", "agent"])
def test_what_changes_nothing_is_never_asked_for(name: str) -> None:
    assert Allowed() == decided([], name, attended=False)


def test_who_is_there_is_asked_and_shown_the_command_or_the_change() -> None:
    assert Ask("make test", "bash:make test") == decided([], "bash", command="make test")
    assert Ask("the change of a.py", "write:a.py") == decided([], "write", path="a.py", text="x")
    assert Ask("the change of ../b.py", "edit:/home/ann/b.py") == decided([], "edit", path="../b.py", old="x", new="y")


def test_where_nobody_is_there_the_model_is_told_which_rule_would_let_it() -> None:
    refused = decided([], "bash", attended=False, command="make test")
    assert isinstance(refused, Refused)
    assert "`bash:make test`" in refused.why
    assert "--allow" in refused.why


def test_a_wrong_input_is_not_asked_about_since_it_does_nothing() -> None:
    assert Allowed() == decided([], "bash", attended=False, cmd="rm -rf /")


@pytest.mark.parametrize("name", ["bash", "write", "edit"])
def test_a_tools_name_alone_lets_all_of_it_and_no_other(name: str) -> None:
    inputs: dict[str, dict[str, Any]] = {
        "bash": {"command": "a; b | c > d"},
        "write": {"path": "/etc/passwd", "text": ""},
        "edit": {"path": "../x", "old": "a", "new": "b"},
    }
    assert {name} == {other for other, given in inputs.items() if Allowed() == decided([name], other, **given)}


def test_a_command_to_the_letter_is_let_with_whatever_signs_it_has() -> None:
    assert may_run("bash:make test && git push", "make test && git push")
    assert may_run("bash:make test", "  make test\n")
    assert not may_run("bash:make test", "make test2")
    assert not may_run("bash:make test", "make  test")
    assert not may_run("bash:make test", "make test; rm x")


@pytest.mark.parametrize(
    "command", ["git", "git status", "git\tstatus", 'git commit -m "two words"', "git add *.py a=b"]
)
def test_a_command_is_let_by_its_first_words(command: str) -> None:
    assert may_run("bash:git *", command)


@pytest.mark.parametrize(
    "more",
    [
        *("; rm x", "&& rm x", "| sh", "& rm x", "$(rm x)", "`rm x`", "\nrm x", "\r\nrm x", "> x", "< x", "${x}", "$x"),
        *("\\\nx", "(x)", "{x,y}", "!x", "\x01", "\x0b", "<(rm x)"),
    ],
)
def test_no_sign_of_the_shell_gets_past_a_rule_of_first_words(more: str) -> None:
    assert not may_run("bash:git *", f"git status {more}")
    assert not may_run("bash:git *", f"git status{more}")


@pytest.mark.parametrize(
    "command", ["gitx", "git-x", "git\u00a0x", "g'i't status", "x git", "/usr/bin/git x", "A=b git x", "", "GIT x"]
)
def test_other_first_words_are_not_let(command: str) -> None:
    policy = Policy(["bash:git *"], FakePlace(), attended=False)
    assert not command or isinstance(policy.decide("bash", {"command": command}), Refused)


def test_a_rule_of_two_first_words_wants_both() -> None:
    assert may_run("bash:git log *", "git log -3")
    assert not may_run("bash:git log *", "git push")
    assert not may_run("bash:git log *", "git")


@given(st.text(";&|<>()$`\\!{}\n\r ab*'\"", min_size=1))
def test_a_sign_anywhere_in_it_is_asked_about(text: str) -> None:
    if set(text) & set(";&|<>()$`\\!{}\n\r"):
        assert not may_run("bash:git *", f"git a{text}b")


def test_paths_are_let_by_patterns_of_the_folder() -> None:
    assert may_write("write:src/*", "src/a.py")
    assert may_write("write:./src/*", "./src/../src/a.py")
    assert not may_write("write:src/*", "src/deep/a.py")
    assert may_write("write:src/**", "src/deep/a.py")
    assert may_write("write:**/*.md", "README.md")
    assert may_write("write:**/*.md", "docs/deep/a.md")
    assert not may_write("write:**/*.md", "docs/a.mdx")
    assert not may_write("edit:src/**", "src/a.py")
    assert not may_write("write:src/a.py", "src/axpy")


def test_no_way_out_of_the_folder_gets_past_a_pattern() -> None:
    for path in ("../project2/a", "src/../../x", "/etc/passwd", "out/passwd", "src/../out/x"):
        assert not may_write("write:**", path), path
        assert not may_write("write:out/**", path), path
        assert not may_write("write:../**", path), path
    assert not may_write("write:in/*", "in/a.py")
    assert may_write("write:src/*", "in/a.py")
    assert may_write("write:src/*", f"{FOLDER}/src/a.py")


def test_a_pattern_from_the_root_on_lets_files_elsewhere() -> None:
    assert may_write("write:/etc/**", "out/passwd")
    assert may_write("write:/home/ann/*/src/*", "src/a.py")
    assert not may_write("write:/etc/*", "/etc/deep/x")


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1))
def test_what_is_allowed_always_lets_just_the_same_again(command: str) -> None:
    asked = decided([], "bash", command=command)
    if isinstance(asked, Ask) and asked.rule:
        assert is_rule(asked.rule)
        assert may_run(asked.rule, command)
        assert not may_run(asked.rule, f"{command} x")


def test_where_no_rule_says_just_that_none_is_offered() -> None:
    assert Ask("ls *", "") == decided([], "bash", command="ls *")
    assert Ask("the change of a*b", "") == decided([], "write", path="a*b", text="")


def test_what_is_allowed_from_now_on_is() -> None:
    policy = Policy([], FakePlace(), attended=True)
    policy.allow("bash:make test")
    assert Allowed() == policy.decide("bash", {"command": "make test"})


@pytest.mark.parametrize("text", ["bash", "bash:x", "write:src/*", "edit", "bash:a\nb"])
def test_rules_have_these_forms(text: str) -> None:
    assert is_rule(text)


@pytest.mark.parametrize("text", ["", "read", "bash:", "bash: x", "Bash", "bash *", "*", "write :x", 5, None])
def test_and_no_others(text: object) -> None:
    assert not is_rule(text)
