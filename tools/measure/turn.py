"""How soon a turn's request leaves, in a long chat whose view is settled, and what streaming costs a piece.

The provider is the fake, on loopback, behind a wire that notes when bytes come and go: the first byte that a client
sends, the moment at which the provider has sent a piece.
"""

import json
import os
import select
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import NamedTuple

from fake_acts import answer
from fake_api import FakeApi

from eukhe.actors.messages import Msg, TurnOver, TurnSaid
from eukhe.cli.command import Given
from eukhe.cli.turn import Chat, client
from eukhe.world.home import make_home
from measure.command import eukhe, run
from measure.figures import Aim, Figure, Sizes
from measure.made_chat import MadeChat

CHARS = 250  # a message on the average
PIECES, PIECE_CHARS = 200, 6
MS = 1_000
MODEL, KEY = "anthropic/claude-sonnet-5-5", "ANTHROPIC_API_KEY"
READ_BYTES = 1 << 16
EVENT, SPLIT = b"\n\n", b"\0"
PACE_S = 0.005  # 200 pieces a second


def measure(of: Sizes, folder: Path) -> list[Figure]:
    many, few = (_times(folder / name, count, of.turn_runs) for name, count in _homes(of))
    count, beside = f"{of.chat_many:,} messages", f"{of.chat_few:,} messages"
    return [
        Figure(
            f"from a word to its request's first byte, {count}",
            many.first_byte_s * MS,
            "ms",
            beside,
            few.first_byte_s * MS,
            Aim("value", 20),
        ),
        Figure(
            "a streamed piece, from the provider's socket to the user's eye",
            many.piece_s * MS,
            "ms",
            f"from one of {PIECES} pieces to the next",
            many.between_s * MS,
            Aim("value", 5),
        ),
    ]


def _homes(of: Sizes) -> tuple[tuple[str, int], tuple[str, int]]:
    return ("many", of.chat_many), ("few", of.chat_few)


class Times(NamedTuple):
    """Medians: to the first byte, of a piece's way, between two pieces."""

    first_byte_s: float
    piece_s: float
    between_s: float


def _times(home: Path, count: int, runs: int) -> Times:
    MadeChat(home, CHARS).write(count)
    text = "".join(map(_piece, range(PIECES)))
    with FakeApi([], keep_bodies=False) as api, Wire(api.port) as wire, _client(home, wire.port) as chat:
        first, ways, gaps = [], [], []
        for number in range(runs + 1):
            api.act(answer(text, piece_chars=PIECE_CHARS))
            wire.forget()
            said_s = time.perf_counter()
            chat.say(f"Word {number}.")
            seen = _pieces(chat)
            if number:  # the first one starts a worker
                first.append(wire.asked_s[0] - said_s)
                ways += [seen_s - wire.sent_s(_piece(chars // PIECE_CHARS - 1)) for chars, seen_s in seen]
                gaps.append((seen[-1][1] - seen[0][1]) / (len(seen) - 1))
    run(eukhe("--home", home, "stop"))
    return Times(median(first), median(ways), median(gaps))


def _piece(number: int) -> str:
    return f"{number:0{PIECE_CHARS - 1}} "


def _pieces(chat: Chat) -> list[tuple[int, float]]:
    """How many characters the user has seen of one turn's reply, after each piece, with its moment."""
    seen: list[tuple[int, float]] = []
    chars = 0
    for event in chat.events():
        match event:
            case TurnSaid("text", text):
                chars += len(text)
                seen.append((chars, time.perf_counter()))
            case TurnOver(why=why):
                assert not why, why
            case Msg():
                pass
    return seen


@contextmanager
def _client(home: Path, port: int) -> Iterator[Chat]:
    settings = {
        "model": MODEL,
        "memory": {"model": "builtin/extract"},
        "anthropic": {"baseUrl": f"http://127.0.0.1:{port}"},
    }
    make_home(home)
    (home / "settings.json").write_text(json.dumps(settings))
    before = os.environ.get(KEY)
    os.environ[KEY] = "a-key-of-the-fake"
    try:
        with client(Given(str(home)), attended=False) as chat:
            yield chat
    finally:
        if before is None:
            del os.environ[KEY]
        else:
            os.environ[KEY] = before


class Wire:
    """A way to a server on loopback, on which a stream's events go back one by one, as those of a real model.

    `asked_s`: when bytes came of a client; what went back is kept with its moment.
    """

    def __init__(self, port: int) -> None:
        self.asked_s: list[float] = []
        self._said: list[tuple[bytes, float]] = []
        self._server = port
        self._ears: list[threading.Thread] = []
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = self._listening.getsockname()[1]
        self._thread = threading.Thread(target=self._accept, daemon=True)

    def __enter__(self) -> "Wire":
        self._thread.start()
        return self

    def __exit__(self, *of_a_failure: object) -> None:
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        self._thread.join()

    def forget(self) -> None:
        self.asked_s.clear()
        self._said.clear()

    def sent_s(self, piece: str) -> float:
        """When the server had sent this piece."""
        wanted = piece.encode()
        return next(at_s for data, at_s in self._said if wanted in data)

    def _accept(self) -> None:
        while True:
            try:
                ours, _ = self._listening.accept()
            except OSError:
                return
            theirs = socket.create_connection(("127.0.0.1", self._server))
            for end in (ours, theirs):
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=self._carry, args=(ours, theirs), daemon=True).start()

    def _carry(self, ours: socket.socket, theirs: socket.socket) -> None:
        with ours, theirs:
            while True:
                for ready in select.select([ours, theirs], [], [])[0]:
                    try:
                        data = ready.recv(READ_BYTES)
                    except OSError:
                        return
                    if not data:
                        return
                    if ready is ours:
                        self.asked_s.append(time.perf_counter())
                        theirs.sendall(data)
                    else:
                        self._give(data, ours)

    def _give(self, data: bytes, ours: socket.socket) -> None:
        for event in data.replace(EVENT, EVENT + SPLIT).split(SPLIT):
            if event:
                time.sleep(PACE_S if event.endswith(EVENT) else 0)
                self._said.append((event, time.perf_counter()))
                ours.sendall(event)
