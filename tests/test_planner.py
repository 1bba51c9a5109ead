"""The planner's behaviour, driven by hand: a message in, its effects out."""

from collections.abc import Sequence

import pytest

from eukhe.actors.behaviour import Effect, SetTimer, Tell
from eukhe.actors.messages import (
    AskStatus,
    BuildDone,
    BuildFailed,
    FreeNode,
    IndexLost,
    Leaving,
    Logged,
    Msg,
    Ping,
    Poisoned,
    Pong,
    SaveCheckpoint,
    SaveView,
    Settle,
    Settled,
    SettleFailed,
    Status,
    Sync,
    Synced,
    Tick,
    ViewDue,
    Written,
)
from eukhe.errors import Bug
from eukhe.limits import FREE_NODES_A_WRITE, RETRY_TICK_S, VIEW_SAVE_S
from eukhe.model.chat import Chat
from eukhe.model.fold import fold
from eukhe.model.part import Part
from eukhe.model.record import BatchRecord, node
from tests.actor_kit import told
from tests.planner_kit import LONG, SHORT, orders, planner, planner_of, written

pytestmark = pytest.mark.usefixtures("both_runtimes")


@pytest.mark.rule("12", "22")
def test_a_short_message_is_its_own_node_and_a_pair_of_them_its_own_merge() -> None:
    actor = planner()
    assert [FreeNode(Part(0, 0))] == written(actor.receive(Logged(0, (SHORT,))))
    effects = actor.receive(Logged(1, (SHORT,)))
    assert [FreeNode(Part(0, 1)), FreeNode(Part(1, 0))] == written(effects)
    assert {} == orders(effects)


@pytest.mark.rule("39", "40")
def test_no_more_calls_run_than_there_are_job_slots_and_the_oldest_lines_go_first() -> None:
    actor = planner(jobs=3)
    started = orders(actor.receive(Logged(0, (LONG,) * 5)))
    assert [Part(0, 0), Part(0, 1), Part(0, 2)] == list(started)
    done = actor.receive(BuildDone(started[Part(0, 1)], Part(0, 1), "a line", 1))
    assert {} == orders(done)  # its slot is taken until the line is on disk
    assert [Part(0, 3)] == list(orders(actor.receive(Written((Part(0, 1),), 1))))


@pytest.mark.rule("13")
def test_a_line_counts_as_built_once_it_is_on_disk() -> None:
    actor = planner()
    call = orders(actor.receive(Logged(0, (LONG,))))[Part(0, 0)]
    assert [node(Part(0, 0), "a line")] == written(actor.receive(BuildDone(call, Part(0, 0), "a line", 1)))
    assert not actor.behaviour.chat.settled
    actor.receive(Written((Part(0, 0),), 1))
    assert actor.behaviour.chat.settled


def test_a_merge_of_free_nodes_is_ordered_once_they_can_be_read_from_the_disk() -> None:
    actor = planner(node=300)
    effects = [effect for t in range(4) for effect in actor.receive(Logged(t, (SHORT,)))]
    free = (Part(0, 0), Part(0, 1), Part(1, 0), Part(0, 2), Part(0, 3), Part(1, 1))
    assert [FreeNode(part) for part in free] == written(effects)
    assert {} == orders(effects)
    assert {} == orders(actor.receive(Written(free[:-1], 1)))
    assert [Part(2, 0)] == list(orders(actor.receive(Written(free[-1:], 2))))


def test_a_line_of_a_call_that_is_not_wanted_any_more_is_dropped() -> None:
    actor = planner()
    call = orders(actor.receive(Logged(0, (LONG,))))[Part(0, 0)]
    actor.receive(BuildDone(call, Part(0, 0), "first", 1))
    assert [] == written(actor.receive(BuildDone(call, Part(0, 0), "second", 1)))


@pytest.mark.rule("38", "D5")
def test_a_failed_node_is_tried_again_at_the_next_message_and_built_from_its_input_at_the_third_failure() -> None:
    actor = planner(jobs=1)
    call = orders(actor.receive(Logged(0, (LONG,))))[Part(0, 0)]
    for t in (1, 2):
        failed = actor.receive(BuildFailed(call, Part(0, 0), "no answer", "cut", 1))
        assert ([], {}) == (written(failed), orders(failed))
        call = orders(actor.receive(Logged(t, (LONG,))))[Part(0, 0)]
    last = actor.receive(BuildFailed(call, Part(0, 0), "no answer", "cut", 1))
    assert [node(Part(0, 0), "cut")] == written(last)
    assert [Part(0, 1)] == list(orders(last))


@pytest.mark.rule("D12")
def test_settling_waits_for_the_messages_that_it_is_about() -> None:
    actor = planner()
    assert [] == told(actor.receive(Settle("edge", 1, 2, take=False)), "edge")
    assert [] == told(actor.receive(Logged(0, (SHORT,))), "edge")
    assert [Settled(1, 0, 0)] == told(actor.receive(Logged(1, (SHORT,))), "edge")


def test_without_leave_to_call_only_free_nodes_are_built() -> None:
    actor = planner(builds=0)
    effects = actor.receive(Logged(0, (LONG, SHORT)))
    assert [FreeNode(Part(0, 1))] == written(effects)
    assert {} == orders(effects)
    assert [Settled(7, 0, 1)] == told(actor.receive(Settle("edge", 7, 0, take=False)), "edge")


def test_no_more_lines_are_ordered_than_were_allowed() -> None:
    actor = planner(builds=2)
    assert [Part(0, 0), Part(0, 1)] == list(orders(actor.receive(Logged(0, (LONG,) * 3))))
    actor.receive(BuildDone(1, Part(0, 0), "a line", 1))
    assert {} == orders(actor.receive(Written((Part(0, 0),), 1)))


@pytest.mark.rule("D12")
def test_settling_without_taking_runs_no_batch() -> None:
    actor = planner(ceiling=250, floor=200)
    actor.receive(Logged(0, (LONG,)))
    actor.receive(BuildDone(1, Part(0, 0), "x" * 300, 1))
    actor.receive(Written((Part(0, 0),), 1))
    assert [] == written(actor.receive(Settle("edge", 7, 0, take=False)))
    assert [BatchRecord((), True, 1)] == written(actor.receive(Settle("edge", 8, 0, take=True)))


@pytest.mark.rule("23", "24", "D2", "F1")
def test_a_batch_writes_its_merges_and_saves_the_view() -> None:
    actor = planner(ceiling=250, floor=200)
    effects = [effect for t in range(6) for effect in actor.receive(Logged(t, (SHORT,)))]
    batches = [line for line in written(effects) if isinstance(line, BatchRecord)]
    # The fourth line passes the ceiling. Free merges are their halves joined, so no batch gets under the floor.
    assert [
        BatchRecord((Part(1, 0),), True, 4),
        BatchRecord((Part(1, 1), Part(2, 0)), True, 5),
        BatchRecord((), True, 6),
    ] == batches
    # It is saved after each that merged something.
    assert [SaveView((Part(1, 0), Part(0, 2), Part(0, 3))), SaveView((Part(2, 0), Part(0, 4)))] == saved(effects)


@pytest.mark.rule("24", "D1")
def test_the_view_is_saved_once_for_all_batches_of_a_step_and_not_at_each_message_while_nothing_can_be_built() -> None:
    actor = planner(ceiling=250, floor=200)
    effects = actor.receive(Logged(0, (SHORT,) * 6))
    assert [SaveView((Part(2, 0), Part(0, 4), Part(0, 5)))] == saved(effects)
    actor = planner(ceiling=250, floor=200)
    actor.receive(Logged(0, (LONG,) * 20))
    effects = [effect for t in range(20, 60) for effect in actor.receive(Logged(t, (LONG,)))]
    assert 40 == len([line for line in written(effects) if isinstance(line, BatchRecord)])
    assert [] == saved(effects)


def saved(effects: Sequence[Effect]) -> list[Msg]:
    return [message for message in told(effects, "store") if isinstance(message, SaveView)]


@pytest.mark.rule("D12")
def test_settling_runs_the_batch_that_is_due_then_answers() -> None:
    actor = planner(builds=0, ceiling=400, floor=300)
    actor.receive(Logged(0, (LONG,) * 2))
    actor.behaviour.builds_left = None
    started = orders(actor.receive(Settle("edge", 3, 0, take=True)))
    effects: list[Effect] = []
    for part in (Part(0, 0), Part(0, 1), Part(1, 0)):
        call = started.get(part) or orders(effects)[part]
        actor.receive(BuildDone(call, part, "x" * 300, 1))
        effects = list(actor.receive(Written((part,), 1)))
    assert [BatchRecord((Part(1, 0),), False, 2)] == written(effects)
    assert [Settled(3, 3, 0)] == told(effects, "edge")


@pytest.mark.rule("38")
def test_settling_waits_for_the_tick_that_tries_failed_nodes_again() -> None:
    actor = planner()
    call = orders(actor.receive(Logged(0, (LONG,))))[Part(0, 0)]
    actor.receive(Settle("edge", 1, 0, take=False))
    effects = actor.receive(BuildFailed(call, Part(0, 0), "no answer", "cut", 1))
    assert SetTimer("retry", RETRY_TICK_S, Tick()) in effects
    assert [Part(0, 0)] == list(orders(actor.receive(Tick(), RETRY_TICK_S)))


def test_a_poisoned_store_ends_all_waits_and_starts_nothing_more() -> None:
    actor = planner(jobs=1)
    actor.receive(Logged(0, (LONG,) * 2))
    actor.receive(Settle("edge", 1, 0, take=False))
    leaving = Leaving("disk full", failed=True)  # the next owner finds out what the disk holds
    assert [SettleFailed(1, "disk full"), leaving] == told(actor.receive(Poisoned("disk full")), "edge")
    assert {} == orders(actor.receive(BuildDone(1, Part(0, 0), "a line", 1)))


def test_a_sync_saves_the_view_and_a_checkpoint_that_knows_lines_still_on_their_way() -> None:
    actor = planner()
    call = orders(actor.receive(Logged(0, (LONG, SHORT))))[Part(0, 0)]
    actor.receive(BuildDone(call, Part(0, 0), "a line", 1))
    effects = actor.receive(Sync("supervisor", 9))
    assert [Synced(9)] == told(effects, "supervisor")
    (saved,) = [message for message in told(effects, "store") if isinstance(message, SaveCheckpoint)]
    assert 2 == saved.t
    restored = fold(saved.state, [], [], actor.behaviour.chat.limits).chat
    actor.receive(Written((Part(0, 0),), 1))
    assert actor.behaviour.chat.view.parts() == restored.view.parts()
    assert actor.behaviour.chat.view.size == restored.view.size


def test_at_its_start_it_writes_the_free_nodes_that_a_crash_lost_and_starts_what_is_due() -> None:
    folded = fold(None, [SHORT, LONG], [])
    actor = planner_of(folded.chat, folded.free)
    effects = actor.receive(Ping("supervisor", 1))
    assert ([FreeNode(Part(0, 0))], [], {}) == (written(effects), told(effects, "supervisor"), orders(effects))
    up = actor.receive(Written((Part(0, 0),), 1))
    assert ([Pong(1)], [Part(0, 1)]) == (told(up, "supervisor"), list(orders(up)))


def test_many_free_nodes_are_written_some_at_a_time_before_it_says_that_it_is_up() -> None:
    count = 2 * FREE_NODES_A_WRITE
    chat = Chat()
    actor = planner_of(chat, [Part(0, i) for i in range(count + 1)])
    effects = actor.receive(Ping("supervisor", 1))
    sizes = []
    while not told(effects, "supervisor"):
        lines = written(effects)
        sizes.append(len(lines))
        effects = actor.receive(
            Written(tuple(line.part for line in lines if isinstance(line, FreeNode)), len(sizes)), 0
        )
    assert [FREE_NODES_A_WRITE, FREE_NODES_A_WRITE, 1] == sizes


def test_while_free_nodes_are_still_to_be_written_no_state_is_saved() -> None:
    chat = Chat()
    actor = planner_of(chat, [Part(0, i) for i in range(FREE_NODES_A_WRITE + 1)])
    actor.receive(Ping("supervisor", 1))
    assert [Tell("supervisor", Synced(2))] == actor.receive(Sync("supervisor", 2))


def test_a_store_that_is_poisoned_meanwhile_does_not_hold_up_the_start() -> None:
    actor = planner_of(Chat(), [Part(0, i) for i in range(FREE_NODES_A_WRITE + 1)])
    actor.receive(Ping("supervisor", 1))
    effects = actor.receive(Poisoned("disk full"))
    assert ([Pong(1)], []) == (told(effects, "supervisor"), written(effects))


@pytest.mark.rule("25")
def test_a_view_that_changed_is_saved_a_while_later_once_for_all_changes_and_at_once_after_a_batch() -> None:
    actor = planner(ceiling=250, floor=200)
    first, second = (actor.receive(Logged(t, (SHORT,))) for t in range(2))
    timers = [effect for effect in (*first, *second) if isinstance(effect, SetTimer)]
    assert [SetTimer("view", VIEW_SAVE_S, ViewDue())] == timers
    assert [SaveView((Part(0, 0), Part(0, 1)))] == told(actor.receive(ViewDue()), "store")
    assert [] == actor.receive(ViewDue())
    batch = [actor.receive(Logged(t, (SHORT,))) for t in (2, 3)][-1]
    assert SaveView((Part(1, 0), Part(0, 2), Part(0, 3))) in told(batch, "store")


def test_a_checkpoint_is_made_every_so_many_messages() -> None:
    actor = planner(checkpoint_messages=20)
    effects = [effect for t in range(59) for effect in actor.receive(Logged(t, (SHORT,)))]
    saved = [message for message in told(effects, "store") if isinstance(message, SaveCheckpoint)]
    assert [20, 40] == [message.t for message in saved]


def test_an_index_that_is_lost_is_the_last_error_and_stops_nothing() -> None:
    actor = planner()
    assert [] == actor.receive(IndexLost("index.db: disk full"))
    assert [Part(0, 0)] == list(orders(actor.receive(Logged(0, (LONG,)))))
    (status,) = told(actor.receive(AskStatus("edge", 2)), "edge")
    assert isinstance(status, Status)
    assert "index.db: disk full" == status.last_error


def test_a_message_that_is_not_the_planners_is_a_bug() -> None:
    with pytest.raises(Bug, match="the planner does not know"):
        planner().receive(Pong(1))


def test_its_status_counts_what_is_built_and_what_is_not() -> None:
    actor = planner(jobs=1)
    actor.receive(Logged(0, (LONG, SHORT, LONG)))
    (status,) = told(actor.receive(AskStatus("edge", 2)), "edge")
    assert isinstance(status, Status)
    assert (1, 2) == (status.nodes, status.unsummarized)
