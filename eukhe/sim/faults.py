"""The faults that a run injects: their table, and of one run how often each was injected and met.

A fault has opportunities: a step, a call, a frame, an act of a client. At each it strikes with the odds that the
run's options give it, by dice of its own, so that one fault left out changes nothing of another's draws.
"""

from collections import Counter
from collections.abc import Collection, Mapping
from random import Random
from typing import NamedTuple


class Odds(NamedTuple):
    """It strikes at one opportunity of so many."""

    seldom: int
    often: int


class Fault(NamedTuple):
    """`rows`: of docs/reliability.md's table."""

    what: str
    rows: str
    odds: Odds


STEP = Odds(3_000, 400)  # number: of an owner's steps
RARE = Odds(4_000, 800)  # number: likewise, of what is worst
OFTEN = Odds(1_000, 150)  # number: likewise, of what is slight
START = Odds(6, 2)  # number: of the owners that come
CALL = Odds(25, 5)  # number: of the model's calls
TURN = Odds(6, 2)  # number: of turns, their calls and tools, of owners that come
STOP = Odds(3, 1)  # number: of calls that may be stopped, as few are
TALK = Odds(4, 2)  # number: of what few turns come to: tools, calls of subagents
FRAME = Odds(100, 20)  # number: of the frames sent
ACT = Odds(40, 8)  # number: of what clients do

FAULTS: Mapping[str, Fault] = {
    # At a step.
    "kill": Fault("the owner is killed between two steps", "18, 20", STEP),
    "kill-in-write": Fault("the owner is killed within an operation of the disk", "20", STEP),
    "power": Fault("the power goes between two steps", "12", RARE),
    "power-in-write": Fault("the power goes within an operation of the disk", "12", RARE),
    "disk-error": Fault("a write or a sync fails: EIO, ENOSPC, EDQUOT, EROFS", "9, 10", RARE),
    "read-error": Fault("a read fails: EIO", "10", RARE),
    "index-full": Fault("the index can't be written", "15", RARE),
    "index-lost": Fault("the index is gone when the next owner comes", "14", START),
    "view-lost": Fault("view.json is gone, empty, torn or another's when the next owner comes", "13", START),
    "clock-set": Fault("the wall clock is set, back or forward by up to a day", "16", STEP),
    "summer-time": Fault("local time moves by an hour", "16", STEP),
    "clock-drift": Fault("the wall clock runs fast or slow", "16", STEP),
    "stopped-owner": Fault("the owner is stopped for a while (SIGSTOP), and holds its lock", "19", RARE),
    "cut": Fault("a connection breaks between two steps", "23", OFTEN),
    "outage": Fault("the provider is out for a while", "30", STEP),
    "key-outage": Fault("the provider refuses the key until it is changed", "31", RARE),
    "raise": Fault("a behaviour raises", "28", RARE),
    "index-astray": Fault("a record of the index leads astray", "14", STEP),
    "dead-turn": Fault("a client is killed while its turn goes on", "23, 40", STEP),
    "stopped-turn": Fault("the user stops a turn at any moment", "40", STEP),
    "steering": Fault("the user says more while a turn goes on", "40", OFTEN),
    # At a call.
    "late-call": Fault("a call's end comes hours later, after it was given up", "33", CALL),
    "hung-worker": Fault("a call never ends", "25", CALL),
    "dead-worker": Fault("a worker dies after its response began", "25", CALL),
    "dead-writer": Fault("a worker dies before its response", "34", CALL),
    "garbage": Fault("a worker tells garbage, or another node's line", "25", CALL),
    "slow-call": Fault("a response begins only after minutes", "34", CALL),
    "broken-stream": Fault("a response begins, then its stream breaks", "30", CALL),
    "long-reply": Fault("replies of 1,300 bytes, up to five times, getting shorter or not", "29", CALL),
    "empty-reply": Fault("an empty reply", "29", CALL),
    "thinking-only": Fault("a reply of thinking alone", "29", CALL),
    "odd-reply": Fault("a reply with newlines, NUL, ESC, a head, a tag", "29, 36", CALL),
    "twice": Fault("a call's end is told twice", "33", CALL),
    "after-stop": Fault("a call's end comes after it was stopped", "33", STOP),
    "broken-turn": Fault("a turn's call breaks, is too long, is refused, has no key", "30, 31, 32", TURN),
    "hung-turn": Fault("a turn's call never ends, until the user stops it", "30, 40", TURN),
    "odd-turn": Fault("a turn's reply is empty, cut, refused, or wants tools that can't be", "29", TURN),
    "broken-agent": Fault("a subagent's call fails for good", "31", TALK),
    "failed-tool": Fault("a tool fails", "40", TALK),
    "hung-tool": Fault("a tool never ends, until the user stops it", "40", TALK),
    # At a frame.
    "late-frame": Fault("a frame arrives up to minutes later", "23", FRAME),
    # At an act of a client.
    "dead-client": Fault("a client dies in the midst of what it does", "23", ACT),
    "deaf-client": Fault("a client does not read what it is sent", "23", ACT),
    "odd-frame": Fault("a client sends garbage", "23", ACT),
    "no-owner": Fault("a client can't have an owner, for once", "15, 20", ACT),
    "race": Fault("two owners start at once", "17", TURN),
    "newer-client": Fault("a newer client asks the owner to leave", "17", ACT),
    "sent-twice": Fault("what was acknowledged is sent again, with its key", "20", ACT),
    "cancelled-wait": Fault("a wait is cancelled", "40", TURN),
    "long-message": Fault("a message that is split or clipped", "35", ACT),
    "odd-message": Fault("a message with heads, tags, NUL, line separators", "7, 36", ACT),
    "image": Fault("a message with images", "38", ACT),
    "refused-text": Fault("a text that can't be logged: its kind, its key, its date", "6", ACT),
    "key-reused": Fault("a key comes again with another text", "20", ACT),
    "no-key": Fault("a text without a key, sent once", "20", ACT),
    "owner-ends": Fault("the owner is told to stop while clients are there", "20", ACT),
}


class Faults:
    """The faults of one run. `odds`: of those that are on. `quiet`: none is injected any more.

    `kept`: of a shrunk run, the injections of each fault that it keeps, counted from 0 as they come up.
    """

    def __init__(self, seed: int, odds: Mapping[str, int], kept: Mapping[str, Collection[int]] | None = None) -> None:
        assert odds.keys() <= FAULTS.keys(), f"no such faults: {odds.keys() - FAULTS.keys()}"
        self.odds = odds
        self.quiet = False
        self.injected: Counter[str] = Counter()
        self.met: Counter[str] = Counter()
        self.came_up: Counter[str] = Counter()
        self._kept = kept
        self._seed = seed
        self._dice: dict[str, Random] = {}

    def dice(self, name: str) -> Random:
        """A fault's own."""
        if name not in self._dice:
            self._dice[name] = Random(f"{self._seed} {name}")
        return self._dice[name]

    def strikes(self, name: str) -> bool:
        """Whether it is injected at this opportunity."""
        odds = self.odds.get(name)
        if odds is None or self.quiet or self.dice(name).randrange(odds):
            return False
        return self.inject(name)

    def gap(self, name: str) -> int:
        """In how many opportunities it strikes next: as `strikes` would, asked once for all of them."""
        return self.dice(name).randint(1, 2 * self.odds[name])

    def inject(self, name: str) -> bool:
        """It came up; whether it is injected."""
        number = self.came_up[name]
        self.came_up[name] += 1
        if self._kept is not None and number not in self._kept.get(name, ()):
            return False
        self.injected[name] += 1
        return True

    def meet(self, name: str) -> None:
        """The system noticed it."""
        if self.injected[name] > self.met[name]:
            self.met[name] += 1
