"""The fork server of an owner, and its workers: processes that make one call at a time.

The server has loaded what a call needs, so that a worker is a fork of it, ready in a moment and small. For each worker
the owner sends it one end of a connection; it waits for nothing else, and ends when the owner is gone or lets it go.

A worker takes an order from its connection and reports what is heard of the call, again and again. Its owner ends it
by a signal, whatever it is at. Should the owner die, the system does: nobody but the owner holds the other end of the
*life*, a pipe in which nothing is ever written, and when that closes the whole group is killed by the kernel, be it
in a loop, in a library's code or stopped. Where the system can't, a thread waits for it.
"""

import fcntl
import gc
import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from multiprocessing.connection import Connection

from eukhe.actors.ports import Broke, CallEvent, Delta, Responding
from eukhe.world.providers.calls import caller, prepare
from eukhe.world.worker_wire import Order, Report, cleaned, encode, order_of


def serve(control_fd: int, life_fd: int, models: tuple[str, ...] = ()) -> None:
    """The fork server: a worker for each connection that comes through `control_fd`.

    `models`: whose calls they will make; what those need is loaded once, here. A call of another loads it by itself.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal's Ctrl-C is for the owner to decide
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the owner sees an end by the connection; no zombies
    _end_with(life_fd)
    for model in models:
        with suppress(Exception):  # whatever is wrong is said by the call that meets it
            prepare(model)
    gc.freeze()  # what is loaded is never looked at, so it stays shared
    with socket.socket(fileno=control_fd) as control:
        while True:
            _, fds, _, _ = socket.recv_fds(control, 1, 1)
            if not fds:
                return
            if os.fork() == 0:
                control.close()
                _live(fds[0], life_fd)
            os.close(fds[0])


def _live(connection_fd: int, life_fd: int) -> None:
    """The life of a worker. Does not return, whatever happens: the server's own is not its to go on with."""
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        if sys.platform != "linux":
            threading.Thread(target=wait_for_end, args=(life_fd,), daemon=True).start()
        with Connection(connection_fd) as connection:
            connection.send_bytes(b"%d" % os.getpid())
            while True:
                work(connection, order_of(connection.recv_bytes()))
    except (EOFError, ConnectionError):
        pass  # it is let go
    finally:
        os._exit(0)


def work(connection: Connection, order: Order) -> None:
    """Makes a call, and reports it as it goes."""
    for report in reports(order):
        connection.send_bytes(report)


def reports(order: Order) -> Iterator[bytes]:
    """What is said of a call. Whatever its model raises is a failed call, and so is a response without an end."""
    ended = False
    try:
        for event in caller(order.request.model)(order):
            yield event if isinstance(event, bytes) else _report(order, event)
            ended = not isinstance(event, Responding | Delta)
    except Exception as error:  # noqa: BLE001, a library's errors are of any kind
        if not ended:  # else it is in letting go of what was read, and nobody listens any more
            yield _report(order, Broke(f"{type(error).__name__}: {error}"))
        return
    if not ended:
        yield _report(order, Broke("the response had no end"))


def _report(order: Order, event: CallEvent) -> bytes:
    return encode(Report(order.call, order.part, cleaned(event, order.key)))


# --- the owner's end ---


def _end_with(life_fd: int) -> None:
    """Has the kernel kill this process and all its forks when the owner's end of the life closes."""
    if sys.platform == "linux":
        fcntl.fcntl(life_fd, fcntl.F_SETOWN, -os.getpgrp())
        fcntl.fcntl(life_fd, fcntl.F_SETSIG, signal.SIGKILL)
        fcntl.fcntl(life_fd, fcntl.F_SETFL, fcntl.fcntl(life_fd, fcntl.F_GETFL) | os.O_ASYNC)


def wait_for_end(life_fd: int) -> None:
    """Ends this process with the owner, as soon as other code in it lets a thread run."""
    os.read(life_fd, 1)
    os._exit(0)
