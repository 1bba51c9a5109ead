"""What `eukhe doctor` says besides of the logs, and what is to be done."""

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest
from fake_api import FakeApi

from eukhe.cli import checkup, doctor
from eukhe.cli.main import run
from eukhe.errors import HomeError
from tests.chat_kit import Ran, eukhe
from tests.live.live_kit import append, command, owner

KEY = "a-key-of-a-test"
NO_KEYS = {"ANTHROPIC_API_KEY": "", "OPENAI_API_KEY": ""}


def states(ran: Ran) -> dict[str, list[str]]:
    """By check, its states."""
    found: dict[str, list[str]] = {}
    for check in ran.json:
        found.setdefault(check["check"], []).append(check["state"])
    return found


def told(ran: Ran, name: str) -> list[Any]:
    return [(check["state"], check["what"], check["todo"]) for check in ran.json if check["check"] == name]


def test_a_chat_that_is_well_is_told_so_line_by_line(filled: Path) -> None:
    (filled / "settings.json").chmod(0o600)
    ran = eukhe(filled, "doctor", environment=NO_KEYS)
    assert 0 == ran.code
    head, *rest = ran.out.splitlines()
    assert "60 messages: the chat can be read and written" == head
    assert ["modes", "owner", "key", "key", "disk"] == [line.split()[1].rstrip(":") for line in rest]
    assert {"ok"} == {line.split()[0] for line in rest} - {"warn"}  # a small disk is said


def test_before_there_is_a_chat_all_else_is_looked_at(tmp_path: Path) -> None:
    ran = eukhe(tmp_path / "none", "doctor")
    assert 0 == ran.code, ran.err
    assert "there is no chat here yet" == ran.out.splitlines()[0]
    assert f"ok    modes: {tmp_path / 'none'} is not there yet; it will be yours alone" in ran.out.splitlines()
    assert "ok    disk: " in ran.out
    assert not (tmp_path / "none").exists()


def test_a_chat_that_can_t_be_locked_is_bad_and_all_else_is_looked_at(
    filled: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def read_only(chat: Path) -> None:
        raise HomeError(f"{chat}/lock: Read-only file system")

    monkeypatch.setattr(doctor, "ChatLock", read_only)
    assert 1 == run(["--home", str(filled), "doctor"])
    told = capsys.readouterr().out.splitlines()
    assert [f"{filled}/chat/lock: Read-only file system", "see that it may be written"] == told[:2]
    assert [] != [line for line in told if line.startswith("ok    disk: ")]


def test_files_that_others_can_read_are_named(filled: Path) -> None:
    (filled / "settings.json").chmod(0o644)
    ((state, what, todo),) = told(eukhe(filled, "doctor", "--json", environment=NO_KEYS), "modes")
    assert ("warn", "others can get at settings.json", f"chmod -R go= {filled}") == (state, what, todo)


@pytest.mark.parametrize("form", ["anthropic", "openai"])
def test_a_provider_answers_or_refuses_the_key_or_is_not_there(filled: Path, form: str) -> None:
    with FakeApi(keys=[KEY]) as api:
        address = api.base_url if form == "anthropic" else api.openai_url
        settings = {"memory": {"model": "builtin/extract"}, form: {"baseUrl": address}}
        (filled / "settings.json").write_text(json.dumps(settings))
        good, bad = (
            eukhe(filled, "doctor", "--json", environment=NO_KEYS | {f"{form.upper()}_API_KEY": key})
            for key in (KEY, "another")
        )
    gone = eukhe(filled, "doctor", "--json", environment=NO_KEYS | {f"{form.upper()}_API_KEY": KEY})
    assert (0, [("ok", f"{form} answers", "")]) == (good.code, told(good, "provider"))
    ((state, what, todo),) = told(bad, "provider")
    assert (1, "bad", f"{form}: {address} refuses the key (401)") == (bad.code, state, what)
    assert todo.startswith(f"see to {form.upper()}_API_KEY")
    ((state, what, _),) = told(gone, "provider")
    assert (1, "bad", True) == (gone.code, state, what.startswith(f"{form}: {address} can't be reached: "))


def test_a_model_without_its_key_and_a_cache_that_keeps_nothing_are_said(filled: Path) -> None:
    model = "anthropic/claude-haiku-4-5"
    (filled / "settings.json").write_text(json.dumps({"memory": {"model": model, "viewBytes": 8_000}}))
    ran = eukhe(filled, "doctor", "--json", environment=NO_KEYS)
    assert 0 == ran.code
    assert ("warn", f"{model} for lines, and no key for it", "set ANTHROPIC_API_KEY, or another model") in told(
        ran, "key"
    )
    ((state, what, _),) = told(ran, "cache")
    assert what.endswith(f"{model} keeps 4096 or more")
    assert ("warn" if int(what.split()[2]) < 4_096 else "ok") == state


@pytest.mark.parametrize(("free", "state"), [(99, "bad"), (100, "warn"), (1_000, "ok")])
def test_a_disk_that_is_nearly_full_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free: int, state: str
) -> None:
    usage = type("Usage", (), {"free": free * 1_000_000})
    monkeypatch.setattr(checkup.shutil, "disk_usage", lambda path: usage)
    assert state == checkup._disk(tmp_path).state


def test_an_owner_that_is_there_keeps_its_logs_to_itself_and_one_that_is_stopped_is_bad(served: Path) -> None:
    append(served, "a")
    pid = owner(served)
    assert pid is not None
    well = command(served, "doctor", "--json")
    assert (0, [("ok", f"pid {pid} owns the chat and answers", "")]) == (well.code, told(well, "owner"))
    assert f"pid {pid} owns the chat, so its logs were not read" in told(well, "logs")[0][1]
    os.kill(pid, signal.SIGSTOP)
    try:
        stopped = command(served, "doctor", "--json")
    finally:
        os.kill(pid, signal.SIGCONT)
    assert (1, ["bad"]) == (stopped.code, states(stopped)["owner"])
