"""Known bugs, planted on purpose: what does not find them finds nothing.

Each puts a broken method or function in the place of a right one while a run lasts. The code itself knows nothing of
it. A canary names the checks that are about its bug; whatever else finds it finds it by accident.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, Final

from eukhe.actors import opening, store
from eukhe.actors.agents import Agents
from eukhe.actors.behaviour import Effect, Tell
from eukhe.actors.gate import Gate
from eukhe.actors.index import IndexActor
from eukhe.actors.messages import AgentSaid, AppendDone, Look, Msg, Ping
from eukhe.actors.planner import Planner
from eukhe.actors.planner_attendance import Attendance
from eukhe.actors.store import Store
from eukhe.actors.store_recent import Recent
from eukhe.limits import LEVELS_MAX, PLACEHOLDER_BYTES
from eukhe.model import view
from eukhe.model.chat import Chat, ChatLimits, Merges
from eukhe.model.gate import Call
from eukhe.model.part import Part
from eukhe.model.record import BatchRecord, MainRecord, TreeRecord
from eukhe.sim.canary import Canary, Right
from eukhe.sim.chaos import Outcome, run
from eukhe.sim.options import Options
from eukhe.sim.turn_canaries import TURNS


def playing(name: str | None) -> Callable[[Options], Outcome]:
    """What makes a run, with a canary's bug where one is named."""
    return run if name is None else partial(_play, name)


def _play(name: str, options: Options) -> Outcome:
    with CANARIES[name].planted():
        return run(options)


# --- the log ---


def _ack_before_fsync(right: Right, actor: Store) -> Sequence[Effect]:
    def is_told_last(effect: Effect) -> bool:
        return not (isinstance(effect, Tell) and isinstance(effect.message, AppendDone))

    return sorted(right(actor), key=is_told_last)


def _open_flag_not_saved(right: Right, record: MainRecord | TreeRecord) -> Any:
    if isinstance(record, BatchRecord):
        record = BatchRecord(record.merge, False, record.t)
    return right(record)


def _key_ignored_on_resend(right: Right, recent: Recent, key: str) -> None:
    return None


def _torn_tail_glued(right: Right, reading: opening._Opening, *mended: Any) -> None:
    for log in (reading.main, reading.tree):
        log.unended.clear()
    right(reading, *mended)


# --- the view ---


def _due_from_first(right: Right, t: int, level: int, i: int) -> tuple[int, int, int]:
    return -((t - (i << level)) << (LEVELS_MAX - level)), i << level, level


def _merge_into_unbuilt(right: Right, chat: Chat) -> Merges | None:
    merges: Merges | None = right(chat)
    if merges is None or not chat.shrinking:
        return merges
    above = [line.parent for line in chat.view.parts()]
    pairs = [parent for parent, again in pairwise(above) if parent == again]
    chat.sizes.update(dict.fromkeys(pairs, PLACEHOLDER_BYTES))
    chat.view.pairs.update(pairs)
    return (*merges, *chat.view.fit(chat.t, chat.limits.floor))


def _batch_to_ceiling(right: Right, chat: Chat) -> Any:
    chat.limits = chat.limits._replace(floor=chat.limits.ceiling)
    return right(chat)


def _batch_at_restart(right: Right, planner: Planner, message: Msg, now: float) -> Sequence[Effect]:
    batch = planner._batch(planner.chat.take()) if isinstance(message, Ping) else []
    return [*batch, *right(planner, message, now)]


# --- calls ---


def _nine_calls(right: Right, chat: Chat, limits: ChatLimits | None = None) -> None:
    limits = limits or ChatLimits()
    right(chat, limits._replace(jobs=limits.jobs + 1))


def _wait_not_stopping_merges(right: Right, chat: Chat, done: Iterable[Part]) -> Any:
    return right(chat, {*done, *(part for part in chat.running if Part(*part).level)})


def _stop_counted_as_failure(right: Right, chat: Chat, done: Iterable[Part]) -> list[Part]:
    stopped: list[Part] = right(chat, done)
    for part in stopped:
        chat.failures[part] = chat.failures.get(part, 0) + 1
    return stopped


def _compaction_sees_own_message(right: Right, chat: Chat, part: Part) -> list[Part]:
    seen: list[Part] = right(chat, part)
    reaches_it = part.start == (seen[-1].end if seen else 0)
    return [*seen, part] if reaches_it and part.level == 0 else seen


def _compaction_sees_too_little(right: Right, chat: Chat, part: Part) -> list[Part]:
    seen: list[Part] = right(chat, part)
    return seen[:-1]


def _parked_nodes_start(right: Right, chat: Chat, **which: Any) -> Any:
    chat.parked.clear()
    return right(chat, **which)


def _gate_not_released(right: Right, gate: Gate, call: Call, now: float) -> Any:
    name = gate.calls.get(call)
    writes = name is not None and gate.prefixes[name].writer == call
    return [] if writes else right(gate, call, now)


# --- the memory's tools, subagents ---


def _look_not_waiting(right: Right, actor: IndexActor, message: Msg, now: float) -> Any:
    return actor._look(message) if isinstance(message, Look) else right(actor, message, now)


def _agents_words_again(right: Right, actor: Agents, order: AgentSaid) -> Any:
    log = actor._log(order.name)
    assert log is not None
    log.keys.clear()
    return right(actor, order)


def _agents_name_by_wish(right: Right, actor: Agents) -> Any:
    known = right(actor)
    actor._taken.clear()
    return known


def _pays_unattended(right: Right, attendance: Attendance, *askers: Any) -> None:
    return None


CANARIES: Final[Mapping[str, Canary]] = {
    "ack-before-fsync": Canary(
        "an append is acknowledged before its lines are written and synced",
        ("acknowledged",),
        Store,
        "_flush",
        _ack_before_fsync,
    ),
    "due-from-first": Canary(
        "a pair is due by the age of its first message, not of its last",
        ("batch",),
        view,
        "_due",
        _due_from_first,
    ),
    "merge-into-unbuilt": Canary(
        "a batch that ends above the floor goes on with pairs whose parents are not built",
        ("batch",),
        Chat,
        "_batch",
        _merge_into_unbuilt,
    ),
    "batch-to-ceiling": Canary(
        "a batch ends as soon as the view is below its ceiling",
        ("batch",),
        Chat,
        "_batch",
        _batch_to_ceiling,
    ),
    "batch-at-restart": Canary(
        "an owner that starts runs a batch",
        ("restart",),
        Planner,
        "receive",
        _batch_at_restart,
    ),
    "open-flag-not-saved": Canary(
        "a batch's line does not say that the view stayed above its floor",
        ("fold", "checkpoint", "restart"),
        store,
        "encode",
        _open_flag_not_saved,
    ),
    "nine-calls": Canary(
        "one call more runs than there are jobs",
        ("calls-at-most",),
        Chat,
        "__init__",
        _nine_calls,
    ),
    "wait-not-stopping-merges": Canary(
        "merges that run go on when a turn begins to wait",
        ("stopped",),
        Chat,
        "wait",
        _wait_not_stopping_merges,
    ),
    "stop-counted-as-failure": Canary(
        "a call that is stopped because a turn waits counts as a failure of its node",
        ("failures",),
        Chat,
        "wait",
        _stop_counted_as_failure,
    ),
    "key-ignored-on-resend": Canary(
        "what is sent again with its key is logged again",
        ("key-once",),
        Recent,
        "id_of_key",
        _key_ignored_on_resend,
    ),
    "gate-not-released": Canary(
        "a writer that ends before its response lets nobody else write",
        ("gate-opens",),
        Gate,
        "_leave",
        _gate_not_released,
    ),
    "torn-tail-glued": Canary(
        "the next line is appended to a torn one",
        ("own-line",),
        opening._Opening,
        "_mend",
        _torn_tail_glued,
    ),
    "compaction-sees-own-message": Canary(
        "a call for a message's line sees that message in its view",
        ("own-message",),
        Chat,
        "context",
        _compaction_sees_own_message,
    ),
    "compaction-sees-too-little": Canary(
        "a call does not see the last line that it should",
        ("context",),
        Chat,
        "context",
        _compaction_sees_too_little,
    ),
    "pays-unattended": Canary(
        "calls that cost money start whoever is there",
        ("attended",),
        Attendance,
        "end",
        _pays_unattended,
    ),
    "parked-nodes-start": Canary(
        "a node whose call failed starts again before the next message or tick",
        ("queue",),
        Chat,
        "queue",
        _parked_nodes_start,
    ),
    "look-not-waiting": Canary(
        "a look does not wait until the index was told of what is logged",
        ("looks",),
        IndexActor,
        "receive",
        _look_not_waiting,
    ),
    "agents-words-again": Canary(
        "what a subagent says is logged again where it is sent again",
        ("agents",),
        Agents,
        "_lines",
        _agents_words_again,
    ),
    "agents-name-by-wish": Canary(
        "a subagent gets the name that it wants, whoever has it",
        ("agents",),
        Agents,
        "_known",
        _agents_name_by_wish,
    ),
    **TURNS,
}
