"""`eukhe -p` as programs run it: in a pipe, with stdin, as JSON, without a key; how it fails, how it is ended."""

import json
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from eukhe.cli.ask import EVENT_KEYS, JSON_KEYS
from tests.ask_kit import Played, events, played
from tests.chat_kit import eukhe, messages
from tests.leaks import comes_true

__all__ = ["played"]
PNG = b"\x89PNG\r\n\x1a\n..."


def said(home: Path) -> list[tuple[str, str]]:
    return [(message["kind"], message["text"]) for message in messages(home)]


# --- what is printed ---


@pytest.mark.rule("48")
def test_the_reply_goes_to_stdout_and_the_turn_is_in_the_log(played: Played) -> None:
    played.play("say It is done.")
    assert (0, "It is done.\n", "") == played.says("-p", "Do it.")
    assert [("user", "Do it."), ("eukhe", "It is done.")] == said(played.home)
    assert 0 == eukhe(played.home, "chat", "verify").code


def test_json_is_one_object_with_the_keys_that_are_documented(played: Played) -> None:
    played.play("say It is done.")
    ran = played.says("-p", "Do it.", "--output-format", "json")
    assert list(JSON_KEYS) == list(ran.json)
    assert ("It is done.", [0, 1], "scripted/model", 0) == tuple(
        ran.json[key] for key in ("reply", "ids", "model", "placeholders")
    )
    assert {"input", "output", "cacheRead", "cacheWrite"} == ran.json["usage"].keys()
    assert (0, "") == (ran.code, ran.err)


def test_a_stream_is_a_line_an_event_each_of_a_type_that_is_documented(played: Played) -> None:
    played.play('use bash {"command":"echo one"}', "say It is one.")
    ran = played.says("-p", "What is it?", "--output-format", "stream-json", "--allow", "bash:echo *")
    told = events(ran.out)
    assert {event["type"] for event in told} <= EVENT_KEYS.keys()
    types = [event["type"] for event in told if event["type"] != "said"]
    assert ["began", "logged", "logged", "tool", "printed", "result", "logged", "logged", "over"] == types
    for event in told:
        documented = EVENT_KEYS[event["type"]]
        assert all(f"`{key}`" in documented for key in event if key not in ("type", *JSON_KEYS)), event
    assert "It is one." == "".join(event["text"] for event in told if event["type"] == "said")
    assert ("one\n", False) == next((event["text"], event["failed"]) for event in told if event["type"] == "result")
    assert ("It is one.", False, "") == tuple(told[-1][key] for key in ("reply", "stopped", "why"))


def test_what_a_terminal_could_take_for_an_order_is_left_out_of_text_and_kept_in_json(played: Played) -> None:
    played.play("say red\x1b[31m!")
    assert "red!\n" == played.says("-p", "Colour?").out
    assert "red\x1b[31m!" == played.says("-p", "Colour?", "--output-format", "json").json["reply"]


# --- what is said ---


def test_stdin_comes_behind_the_text_in_a_fence(played: Played) -> None:
    played.says("-p", "Explain.", stdin=b"one\ntwo\n")
    assert ("user", "Explain.\n\n```\none\ntwo\n```") == said(played.home)[0]


def test_a_fence_is_longer_than_any_in_it(played: Played) -> None:
    played.says("-p", "Explain.", stdin=b"```\ncode\n````\n")
    assert ("user", "Explain.\n\n`````\n```\ncode\n````\n`````") == said(played.home)[0]


@pytest.mark.parametrize("stdin", [b"", b" \n", None])
def test_an_empty_stdin_changes_nothing(stdin: bytes | None, played: Played) -> None:
    played.says("-p", "Explain.", stdin=stdin)
    assert ("user", "Explain.") == said(played.home)[0]


def test_a_dash_takes_all_of_stdin_for_the_text(played: Played) -> None:
    played.says("-p", "-", stdin=b"Explain this.\n")
    assert ("user", "Explain this.\n") == said(played.home)[0]


def test_bytes_that_are_no_text_are_replaced(played: Played) -> None:
    assert 0 == played.says("-p", "Explain.", stdin=b"a\xff\x00b").code
    assert ("user", "Explain.\n\n```\na��b\n```") == said(played.home)[0]


def test_a_closed_stdin_is_none(played: Played) -> None:
    done = subprocess.run(
        played.line("-p", "Explain."),
        env=played.surroundings(),
        preexec_fn=lambda: os.close(0),
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert (0, b"You said: Explain.\n", b"") == (done.returncode, done.stdout, done.stderr)


def test_an_image_goes_with_the_text(played: Played, tmp_path: Path) -> None:
    image = tmp_path / "picture.dat"
    image.write_bytes(PNG)
    assert 0 == played.says("-p", "Look.", "--image", image).code
    (message, _) = messages(played.home)
    (name,) = message["images"]
    assert f"Look.\n[image {name[:12]}]" == message["text"]
    assert PNG == (played.home / "chat" / "images" / name).read_bytes()


@pytest.mark.parametrize(
    ("args", "code", "word"),
    [
        (("-p", ""), 2, "nothing to say"),
        (("-p", "-"), 2, "nothing to say"),
        (("-p", "x", "--allow", "fly"), 2, "no such rule"),
        (("-p", "x", "--output-format", "xml"), 2, "xml"),
        (("-p", "x", "chat", "status"), 2, "-p is a turn"),
        (("--allow", "bash"), 2, "go with -p"),
        (("-p", "x", "--image", "/nowhere/at.png"), 1, "/nowhere/at.png: can't be read"),
        (("-p", "x", "--image", "/dev/null"), 1, "no PNG"),
        (("-p", "x", "--model", "nobody/x"), 1, "nobody/x"),
        (("-p", "--help"), 2, "--help is an option"),
        (("-p", "--output-format", "json", "hello"), 2, "--output-format is an option"),
        (("-p", "--allow=bash"), 2, "is an option"),
    ],
)
def test_what_can_t_be_done_is_said_before_anything_is(
    args: tuple[str, ...], code: int, word: str, played: Played
) -> None:
    ran = played.says(*args)
    assert (code, "") == (ran.code, ran.out)
    assert word in ran.err
    assert not (played.home / "chat" / "main").exists() or [] == messages(played.home)


# --- tools ---


def test_what_is_not_allowed_is_refused_with_a_word_to_the_model(played: Played) -> None:
    played.play('use bash {"command":"touch here"}', "say Then not.")
    assert "Then not.\n" == played.says("-p", "Do it.").out
    assert not (played.folder / "here").exists()
    (echo,) = [text for kind, text in said(played.home) if kind == "echo"]
    assert "--allow" in echo


def test_what_is_allowed_is_done_in_the_folder_and_what_it_printed_is_logged(played: Played) -> None:
    played.play('use bash {"command":"touch here && ls here"}', "say Done.")
    assert "Done.\n" == played.says("-p", "Do it.", "--allow", "bash").out
    assert (played.folder / "here").exists()
    assert "here" in next(text for kind, text in said(played.home) if kind == "echo")


@pytest.mark.rule("52")
def test_the_memory_can_be_looked_into(played: Played) -> None:
    played.says("-p", "The answer is forty-two, said once and for all.")
    played.play('use zoom {"id":0,"n":1}', 'use search {"words":"answer"}', "say Seen.")
    played.says("-p", "What is it?")
    echoes = [text for kind, text in said(played.home) if kind == "echo"]
    assert "user: The answer is forty-two, said once and for all." == echoes[0]
    assert "forty-two" in echoes[1]


@pytest.mark.rule("D16")
def test_a_secret_of_the_environment_is_in_no_log(played: Played) -> None:
    played.play('use bash {"command":"echo $STAPLE_TOKEN$OTHER"}', "say Done.")
    secret = {"STAPLE_TOKEN": "correct-horse-7-battery", "OTHER": "correct-horse-7-battery"}
    ran = played.says(
        "-p", "Say correct-horse-7-battery.", "--allow", "bash", "--output-format", "stream-json", **secret
    )
    assert "correct-horse" not in ran.out + ran.err
    for path in played.home.rglob("*"):
        assert path.is_dir() or path.is_socket() or b"correct-horse" not in path.read_bytes(), path


# --- without a key, and with a provider that fails ---


@pytest.mark.rule("D6")
def test_without_a_key_the_memory_answers_and_says_so(home: Path) -> None:
    first = eukhe(home, "-p", "The password of the wiki is on the fridge.")
    assert 0 == first.code
    assert "builtin/recall answers" in first.err
    ran = eukhe(home, "-p", "Where is the password of the wiki?")
    assert "builtin/recall" in ran.out
    assert "fridge" in ran.out


def test_a_key_that_is_not_known_is_one_line_and_exit_1(played: Played) -> None:
    played.play("key")
    assert (1, "", "eukhe: 401 this key is not known\n") == played.says("-p", "Do it.")
    assert [("user", "Do it.")] == said(played.home)


def test_a_stream_that_breaks_is_tried_again(played: Played) -> None:
    played.play("break", "say Done.")
    assert (0, "Done.\n", "") == played.says("-p", "Do it.")
    assert [("user", "Do it."), ("eukhe", "Done.")] == said(played.home)


def test_a_provider_that_is_out_is_said_where_nobody_watches(played: Played) -> None:
    played.play("out 2", "say Done.")
    assert (0, "Done.\n", "529 overloaded; again in 2 s\n") == played.says("-p", "Do it.")


def test_a_worker_that_is_killed_is_a_call_that_is_tried_again(played: Played) -> None:
    played.play("kill", "say Done.")
    assert (0, "Done.\n", "") == played.says("-p", "Do it.")


# --- how it is ended ---


@pytest.mark.rule("48")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_it_cleanly_and_the_next_turn_works(number: signal.Signals, played: Played) -> None:
    played.play("silent")
    with played.running("-p", "Do it.") as child:
        assert comes_true(lambda: "silent" in played.calls(), 30)
        child.send_signal(number)
        out, err = child.communicate(timeout=60)
    assert (128 + number, "") == (child.returncode, out)
    assert ("eukhe: interrupted\n" if number == signal.SIGINT else "") == err
    assert [("user", "Do it.")] == said(played.home)
    played.play("say Yes.")
    assert "Yes.\n" == played.says("-p", "And now?").out
    assert 0 == eukhe(played.home, "chat", "verify").code


def test_ctrl_c_ends_a_tool_with_its_processes(played: Played) -> None:
    played.play('use bash {"command":"sleep 1000 & echo $$ > pid; wait"}')
    with played.running("-p", "Do it.", "--allow", "bash") as child:
        pid = played.folder / "pid"
        assert comes_true(lambda: pid.exists() and bool(pid.read_text().strip()), 30)
        child.send_signal(signal.SIGINT)
        child.communicate(timeout=60)
    assert 130 == child.returncode
    shell = int(pid.read_text())
    assert comes_true(lambda: not Path(f"/proc/{shell}").exists(), 10)
    assert ["user", "tool", "echo"] == [kind for kind, _ in said(played.home)]


def test_a_reader_that_goes_away_ends_it_as_any_program(played: Played) -> None:
    played.play(f"say {'word ' * 50_000}")
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "wb") as closed:
        done = subprocess.run(
            played.line("-p", "Go on.", "--output-format", "stream-json"),
            stdin=subprocess.DEVNULL,
            stdout=closed,
            stderr=subprocess.PIPE,
            env=played.surroundings(),
            timeout=60,
            check=False,
        )
    assert (141, b"") == (done.returncode, done.stderr)


def test_what_the_command_prints_is_json_all_the_way(played: Played) -> None:
    ran = played.says("-p", "Do \u2028it.", "--output-format", "stream-json")
    objects: list[Any] = [json.loads(line) for line in ran.out.split("\n") if line]
    assert objects
