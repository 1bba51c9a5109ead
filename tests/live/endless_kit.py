"""Turns without end against the fake of a provider's API, in which clients, owners and workers are killed."""

import json
import os
import random
import signal
import subprocess
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from fake_acts import Call
from fake_api import FakeApi
from fake_script import Agent, Rule

from eukhe.model.talk import Usage
from eukhe.world.home import chat_path
from tests.chat_kit import EUKHE
from tests.leaks import descendants
from tests.live.live_kit import WITH_SERVICE, command, kill, owner

TURN_MODEL, LINE_MODEL = "anthropic/claude-opus-5-5", "anthropic/claude-haiku-5-5"
KEY = "an-endless-key"
WAIT_S = 120
WORDS = "the turn keeps on going about its work and says what it has found " * 12
PLAY = Agent(
    [
        Rule("look", [["I look.", Call("bash", {"command": "echo {said}"})], [f"Found {{result}}: {WORDS}"]]),
        Rule("zoom", [[Call("zoom", {"id": 0, "n": 1})], ["I have read it."]]),
        Rule("steps", [[Call("bash", {"command": f"echo step {k}"})] for k in range(6)] + [["All steps are done."]]),
    ]
)
KINDS = ("look", "zoom", "steps", "say")


class Turn(NamedTuple):
    """One that was begun: its words; whether its client lived to its end, and what it then said."""

    words: str
    lived: bool
    reply: str


class Endless:
    """A home whose models are the fake's, and the dice by which it is disturbed."""

    def __init__(self, home: Path, api: FakeApi, seed: int) -> None:
        self.home = home
        self.turns: list[Turn] = []
        self.struck: Counter[str] = Counter()
        self._api = api
        self._dice = random.Random(seed)
        self._environment = {**os.environ, **WITH_SERVICE, "ANTHROPIC_API_KEY": KEY}
        home.mkdir(mode=0o700)
        settings = {
            "model": TURN_MODEL,
            "memory": {"model": LINE_MODEL, "viewBytes": 24_000},
            "anthropic": {"baseUrl": api.base_url},
        }
        (home / "settings.json").write_text(json.dumps(settings))

    def take(self, *, disturbed: bool = True) -> None:
        """One turn; in most of them something is killed while it is under way."""
        number = len(self.turns)
        words = f"turn {number}: {self._dice.choice(KINDS)} {WORDS[: self._dice.randrange(len(WORDS))]}"
        before = len(self._api.requests)
        child = subprocess.Popen(
            [*EUKHE, "--home", self.home, "-p", words, "--allow", "bash", "--output-format", "json"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=self._environment,
        )
        with child:
            if disturbed and self._dice.random() < 3 / 4:
                self._strike(child, before)
            out, err = child.communicate(timeout=WAIT_S)
        lived = child.returncode != -signal.SIGKILL
        assert not lived or child.returncode == 0, err
        self.turns.append(Turn(words, lived, json.loads(out)["reply"] if lived else ""))

    def _strike(self, child: "subprocess.Popen[str]", before: int) -> None:
        """Kills one of those that are at work, once a request or two of the turn have come, or before."""
        wanted = before + self._dice.randrange(4)
        with suppress(AssertionError):  # the turn has ended before so many came
            self._api.wait_for(wanted, self._dice.random())
        whom = self._dice.choice(("client", "owner", "clients worker", "owners worker"))
        if self._kill(whom, child):
            self.struck[whom] += 1

    def _kill(self, whom: str, child: "subprocess.Popen[str]") -> bool:
        if whom == "client":
            child.kill()
            return True
        if whom == "owner":
            return kill(self.home) is not None
        parent = child.pid if whom == "clients worker" else owner(self.home)
        workers = [] if parent is None else [pid for pid, it in descendants(parent).items() if _is_worker(it.parent)]
        for pid in workers[:1]:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return bool(workers)

    def build(self) -> None:
        """Every line that can be built is."""
        ran = command(self.home, "memory", "build", environment={"ANTHROPIC_API_KEY": KEY})
        assert ran.code == 0, ran.err

    def calls(self) -> list[dict[str, object]]:
        """What the ledger has, line by line."""
        files = sorted((chat_path(self.home) / "calls").glob("*.jsonl"))
        return [json.loads(line) for file in files for line in file.read_text().splitlines()]


def _is_worker(parent: int) -> bool:
    """Whether the process that a process was forked of is a fork server of workers."""
    with suppress(OSError):
        return b"eukhe.worker" in Path(f"/proc/{parent}/cmdline").read_bytes()
    return False


def told(usage: Usage) -> tuple[int, int, int, int]:
    return usage.input, usage.output, usage.cache_read, usage.cache_write
