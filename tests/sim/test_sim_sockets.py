"""The network in memory: frames in their order, windows, clients that are deaf, connections that break. Fault 23."""

from random import Random

import pytest

from eukhe.actors.ports import Connected, Disconnected, Received, SocketEvent
from eukhe.limits import FRAME_OVERHEAD_BYTES, SIM_BEHIND_BYTES, SIM_WINDOW_BYTES
from eukhe.sim.clock import SimClock
from eukhe.sim.faults import Faults
from eukhe.sim.scheduler import Scheduler
from eukhe.sim.sockets import Connection, Network, SimSockets


class Stage:
    """A network, the owner's end of it, and one client. `heard`: by the owner; `got`: by the client, None its end."""

    def __init__(self, **odds: int) -> None:
        self.scheduler = Scheduler(1, SimClock())
        self.network = Network(self.scheduler, Faults(1, odds))
        self.heard: list[SocketEvent] = []
        self.got: list[bytes | None] = []

    def frame(self, data: bytes) -> None:
        self.got.append(data)

    def cut(self) -> None:
        self.got.append(None)

    def listening(self) -> SimSockets:
        sockets = SimSockets(self.network)
        sockets.listen(self.heard.append)
        return sockets

    def connected(self) -> tuple[SimSockets, Connection]:
        sockets = self.listening()
        connection = self.network.connect(self)
        assert connection is not None
        assert [Connected(1)] == self.heard
        self.heard.clear()
        return sockets, connection


def test_where_nobody_listens_nobody_connects() -> None:
    assert None is Stage().network.connect(Stage())


def test_who_comes_before_it_is_listened_to_waits_to_be_let_in() -> None:
    stage = Stage()
    sockets = SimSockets(stage.network)
    connection = stage.network.connect(stage)
    assert connection is not None
    stage.network.send(connection, b"a")
    assert not stage.scheduler.step()
    sockets.listen(stage.heard.append)
    stage.scheduler.run()
    assert [Connected(1), Received(1, b"a")] == stage.heard


def test_frames_come_in_their_order_both_ways() -> None:
    stage = Stage()
    sockets, connection = stage.connected()
    for data in (b"a", b"b", b"c"):
        stage.network.send(connection, data)
        sockets.send(1, data.upper())
    stage.scheduler.run()
    assert [Received(1, b"a"), Received(1, b"b"), Received(1, b"c")] == stage.heard
    assert [b"A", b"B", b"C"] == stage.got


def test_a_client_that_is_too_far_ahead_is_not_read_from_until_bytes_are_granted() -> None:
    stage = Stage()
    sockets, connection = stage.connected()
    frame = bytes(SIM_WINDOW_BYTES)
    for _ in range(2):
        stage.network.send(connection, frame)
    stage.scheduler.run()
    assert [Received(1, frame)] == stage.heard
    sockets.grant(1, len(frame) + FRAME_OVERHEAD_BYTES)
    stage.scheduler.run()
    assert [Received(1, frame)] * 2 == stage.heard
    with pytest.raises(AssertionError, match="more is granted"):
        sockets.grant(1, 2 * len(frame) + 2 * FRAME_OVERHEAD_BYTES)


def test_a_client_that_does_not_read_is_dropped_once_it_is_too_far_behind() -> None:
    stage = Stage()
    sockets, connection = stage.connected()
    stage.network.deafen(connection, 60)
    sockets.send(1, b"a")
    stage.scheduler.run(0)
    assert ([], []) == (stage.heard, stage.got)
    sockets.send(1, bytes(SIM_BEHIND_BYTES))
    assert ([Disconnected(1, "the connection broke")], [None]) == (stage.heard, stage.got)


def test_a_client_that_was_deaf_reads_what_waits() -> None:
    stage = Stage()
    sockets, connection = stage.connected()
    stage.network.deafen(connection, 60)
    sockets.send(1, b"a")
    stage.scheduler.run()
    assert ([b"a"], 60) == (stage.got, stage.scheduler.clock.monotonic_s())


def test_what_a_client_sent_before_it_left_arrives() -> None:
    stage = Stage()
    sockets, connection = stage.connected()
    stage.network.send(connection, b"a")
    sockets.send(1, b"not read")
    stage.network.leave(connection)
    sockets.send(1, b"not read either")
    stage.scheduler.run()
    assert ([Received(1, b"a"), Disconnected(1, "the client left")], []) == (stage.heard, stage.got)


def test_who_is_dropped_reads_what_it_was_sent_and_is_not_heard_of_any_more() -> None:
    stage = Stage()
    sockets, connection = stage.connected()
    stage.network.send(connection, b"a")
    sockets.send(1, b"A")
    sockets.drop(1)
    sockets.send(1, b"too late")
    stage.scheduler.run()
    assert ([], [b"A", None]) == (stage.heard, stage.got)


def test_a_dead_owner_hears_nothing_and_its_clients_find_the_end() -> None:
    stage = Stage()
    sockets, connection = stage.connected()
    stage.network.send(connection, b"a")
    sockets.send(1, b"A")
    sockets.crash()
    stage.scheduler.run()
    assert ([], [b"A", None]) == (stage.heard, stage.got)
    assert None is stage.network.connect(stage)
    stage.listening()


def test_a_connection_that_breaks_loses_what_is_under_way() -> None:
    stage = Stage()
    sockets, connection = stage.connected()
    sockets.send(1, b"A")
    stage.network.send(connection, b"a")
    stage.network.cut(connection)
    stage.scheduler.run()
    assert ([Disconnected(1, "the connection broke")], [None]) == (stage.heard, stage.got)


def test_a_late_frame_holds_up_those_behind_it_and_none_is_late_any_more_after_a_release() -> None:
    stage = Stage(**{"late-frame": 1})
    _, connection = stage.connected()
    stage.network.send(connection, b"a")
    stage.network.send(connection, b"b")
    while not stage.heard:
        stage.scheduler.step()
    assert stage.scheduler.clock.monotonic_s() > 0
    stage.network.release()
    stage.scheduler.run()
    assert [Received(1, b"a"), Received(1, b"b")] == stage.heard


def test_dice_of_one_fault_do_not_touch_those_of_another() -> None:
    alone, both = Faults(3, {"cut": 5}), Faults(3, {"cut": 5, "late-frame": 2})
    mixed = []
    for _ in range(200):
        both.strikes("late-frame")
        mixed.append(both.strikes("cut"))
    assert [alone.strikes("cut") for _ in range(200)] == mixed
    assert alone.injected["cut"] == both.injected["cut"] > 0


def test_only_kept_injections_strike_and_none_once_it_is_quiet() -> None:
    faults = Faults(3, {"cut": 1}, {"cut": (1, 3)})
    assert [False, True, False, True, False] == [faults.strikes("cut") for _ in range(5)]
    faults.quiet = True
    assert not faults.strikes("cut")
    assert Random(1).random() != faults.dice("cut").random()


def test_a_client_that_has_left_does_not_hear_that_what_it_left_breaks() -> None:
    """By then it is at the next connection, which is whole."""
    stage = Stage()
    _, connection = stage.connected()
    stage.network.leave(connection)
    stage.network.cut(connection)
    stage.scheduler.run()
    assert ([Disconnected(1, "the connection broke")], []) == (stage.heard, stage.got)
