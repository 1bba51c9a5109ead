"""What must hold, by name, and how a run ends where it does not.

Where each is looked at: grep its name. The disk's are `ledger`'s and `process_disk`'s, the planner's and the gate's
are `shadow`'s, a client's are `clients`', `looks`' and `agents`', a turn's are `turn_shadow`'s and `conversation`'s,
those of starts, answers and ends are `watch`'s and `chaos`'.
"""

from collections.abc import Mapping
from typing import Final

from eukhe.sim.disk import Halt

CHECKS: Final[Mapping[str, str]] = {
    "acknowledged": "what was acknowledged is on the disk, synced, under its key, text for text",
    "own-line": "what is appended begins a line of its own, whatever was torn before it",
    "ids-gapless": "messages' ids count from 0 without a gap",
    "key-once": "a key is logged once, and keeps its id",
    "one-writer": "who writes holds the lock, and nobody else writes",
    "calls-at-most": "no more calls run than there are jobs",
    "queue": "what starts is next in the queue, has not failed since the last message or tick, and nothing is paused",
    "attended": "calls that cost money start while somebody is there, and then for what was there",
    "needed-only": "while a turn waits, nothing runs but lines of the view that are not built",
    "stopped": "a wait stops every call that it does not need",
    "outcomes-bounded": "with no new message a wait ends after three outcomes a line, earlier failures among them",
    "failures": "only failed calls count as failures; the third builds the node from its input",
    "batch": "batches run when they are due, merge what is most due first, and end at the floor",
    "view-tiles": "a view covers every message once, in their order",
    "built-only": "a line is built from what is on the disk, and is unbuilt in a view until it is",
    "context": "a call sees the compaction view before its message, up to the first line that is not built",
    "own-message": "a call sees nothing at or after its own message (rule 34, F2)",
    "line-bytes": "every line has 1 to 512 bytes",
    "line-text": "a line is what the model wrote of its sources, or these cut, or its sources where they fit",
    "view-pinned": "a turn gets the view of the step in which it was taken, whatever comes after (D12)",
    "view-on-disk": "a view that a turn gets stands on the disk (F1)",
    "view-texts": "a view's texts are its lines', an unbuilt one's its message cut, never the placeholder",
    "turn-own-message": "a turn's view does not hold the turn's own message",
    "turn-view": "every request of a turn, and of its subagents, has the view that was pinned, block for block",
    "turn-log": "logged of a turn is what the user and the model said and the tools gave, in that order, each once",
    "thoughts": "no thought is logged",
    "use-result": "each call of a tool is followed by its result, and by nothing else",
    "stopped-marked": "a reply that was stopped is logged as far as it came, marked [stopped]",
    "request-logged": "a request is sent when all that it holds is on the disk",
    "tool-logged": "a tool runs when its call is on the disk",
    "counted": "a call is sent when it is counted",
    "turn-rests": "a call that is over has left the gate; while a turn goes on somebody is there, and else nobody",
    "turn-ends": "without faults every turn ends within its limit, with its subagents",
    "one-payer": "of calls that are alike one writes the prefix, the others wait for it (rule 30)",
    "gate-opens": "where calls wait at the gate, one writes",
    "answer-once": "an order's answer comes once",
    "fold": "the fold of the files is the live chat",
    "checkpoint": "a start from the checkpoint is a start from the files alone",
    "restart": "a start runs no batch and changes nothing (D8)",
    "no-crash": "no behaviour raises",
    "wait-ends": "without faults every wait ends within its limit",
    "queue-empties": "without faults everything is built",
    "tree": "where the model wrote every line, the tree is that of a run without faults",
    "looks": "what a look into the memory shows is what the disk has, all that it had when it was asked for",
    "agents": "what a subagent said is on the disk, synced, once, in a log under a name that no other has",
    "files": "the files prove the memory whole, and the index says where all of it stands",
}


class CheckFailed(Halt):
    """Something that must hold does not. `check`: its name."""

    def __init__(self, check: str, expected: object, found: object) -> None:
        assert check in CHECKS, check
        super().__init__(f"{check}: {CHECKS[check]}\n  expected: {expected}\n  found:    {found}")
        self.check, self.expected, self.found = check, str(expected), str(found)
