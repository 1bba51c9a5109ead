"""Transcripts of a whole owner, in tests/scenarios/.

`pytest tests/test_scenarios.py --rewrite` writes their outcomes anew. They are read by a person when they change; a
wrong one is mended, never accepted.
"""

from pathlib import Path

import pytest

from eukhe.sim.transcript import TranscriptError, play, rules_of

ROOT = Path(__file__).resolve().parents[1]
FILES = sorted((ROOT / "tests" / "scenarios").glob("*.txt"))
SEEDS = range(3)
SHOWN = {
    *("6", "7", "22", "23", "24", "25", "28", "30", "34", "38", "39", "40", "41", "42", "47"),
    *("D1", "D5", "D7", "D8", "D10", "D12", "D13", "D14", "F1", "F2"),
}


def name_of(file: Path) -> str:
    return file.relative_to(ROOT).as_posix()


def marked(file: Path) -> object:
    return pytest.param(file, id=file.stem, marks=pytest.mark.rule(*rules_of(name_of(file), file.read_text())))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("file", [marked(file) for file in FILES])
def test_a_transcript_is_what_its_commands_give_in_any_order(
    file: Path, seed: int, request: pytest.FixtureRequest
) -> None:
    played = play(name_of(file), file.read_text(), seed)
    if request.config.getoption("rewrite") and seed == SEEDS[0]:
        file.write_text(played)
    assert file.read_text() == played


def test_each_rule_of_the_memory_in_motion_has_a_transcript() -> None:
    assert set() == SHOWN - {rule for file in FILES for rule in rules_of(name_of(file), file.read_text())}


START = "# rules: 1\n\nlimits jobs=2\n----\nan owner of 0 messages\n"
MESSAGE = "\nmessage hello\n----\nlogged 0\n0+1|user: hello\n"


def test_a_transcript_keeps_its_comments_and_empty_lines_and_gets_the_outcomes_that_it_lacks() -> None:
    assert START + "\n# Why.\n\n" + MESSAGE == play(
        "here", "# rules: 1\n\nlimits jobs=2\n\n# Why.\n\n\nmessage hello", 0
    )


def test_an_outcome_that_is_not_so_is_put_right() -> None:
    wrong = MESSAGE.replace("logged 0", "logged 7\nand more").replace("hello\n----", "hello\n----  ")
    assert START + MESSAGE == play("here", START + wrong, 0)


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("nonsense", "no such command"),
        ("limits jobs=2", "`limits` is the first command, and only that"),
        ("reply 4+3", "4+3 names no node; one is named like 8+4"),
        ("reply 0+1", "no call runs for 0+1"),
        ("reply", "nothing names no node; one is named like 8+4"),
        ("messages many of 600 bytes", "many is no whole number"),
        ("messages 3", "say how many, as in `messages 20 of 600 bytes`"),
        ("message 5 bytes", "-1 bytes are too few for message 0"),
        ("advance soon", "soon is no time like 10s, 5m, 2h or 1d"),
        ("advance 1s 2s", "give one word after it"),
        ("clock sideways 1h", "say where, as in `clock back 1h`"),
        ("take anna", "anna does not wait"),
        ("read anna", "anna has no view"),
        ("kill worker 3", "no worker runs call 3"),
        ("late reply 3", "no call 3 was stopped or has ended"),
        ("late", "say of which call, as in `late reply 3`"),
        ("client anna", "say who and what, as in `client anna append some words`"),
        ("restart", "there is an owner: `crash`, `power` or `end` first"),
        ("power melt", "melt is none of keep, drop, tear"),
        (
            "crash at noon",
            "noon is no operation; there are main write, main sync, tree write, tree sync, view write, view",
        ),
        ("disk breaks", "fails comes here"),
        ("remove all", "`view.json` or `index` can be removed"),
        ("resume now", "now: too many words"),
    ],
)
def test_a_command_that_is_none_is_named_with_file_line_and_why(command: str, says: str) -> None:
    with pytest.raises(TranscriptError) as caught:
        play("tests/scenarios/here.txt", f"{START}\n# Why.\n{command}\n", 0)
    assert f"tests/scenarios/here.txt:8: {command}: {says}" in str(caught.value)


@pytest.mark.parametrize("command", ["message hello", "view", "take anna", "crash"])
def test_without_an_owner_nothing_is_asked_of_it(command: str) -> None:
    with pytest.raises(TranscriptError, match="there is no owner: `restart`, or `take over`"):
        play("here", f"limits\n\ncrash\n\n{command}", 0)


@pytest.mark.parametrize(
    ("first", "says"),
    [
        ("message hello", "here:1: message hello: `limits` is the first command, and only that"),
        ("limits roof=5", "here:1: limits roof=5: no limit is named roof"),
        ("limits ceiling", "here:1: limits ceiling: nothing is no whole number"),
        ("----", "here:1: an outcome without its command"),
        ("limits\nlogged 3", "here:2: logged 3: after a command comes `----`, or an empty line"),
    ],
)
def test_a_file_that_is_no_transcript_is_named_with_its_line(first: str, says: str) -> None:
    with pytest.raises(TranscriptError) as caught:
        play("here", first, 0)
    assert says == str(caught.value)


@pytest.mark.parametrize("first", ["", "limits", "# rules:", "# rules 38"])
def test_a_transcript_says_which_rules_it_shows(first: str) -> None:
    with pytest.raises(TranscriptError, match="here:1: the first line names the rules"):
        rules_of("here", f"{first}\n\nlimits\n")
