"""A client's append over the socket, beside the same of the owner's own program, on the same store.

The client is a process of its own, as it always is. The store stands alone, as where appends are measured; both askers
take turns with it, a short round each, and the best rounds are compared.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple

from eukhe.actors.door import NAME as DOOR
from eukhe.actors.door import Door
from eukhe.world.link import Link
from measure.append import IN_FLIGHT, IN_FLIGHT_EACH, US, Asker, median, on_a_thread, store_alone
from measure.figures import Figure, Sizes, seconds
from measure.made import Texts, sizes

TOOLS = Path(__file__).resolve().parents[1]
DIRECT = "the owner's own"


class Times(NamedTuple):
    """Seconds an append in a round: one at a time, with many in flight."""

    alone_s: float
    many_s: float


def measure(of: Sizes, folder: Path) -> list[Figure]:
    made = Texts()
    texts = [made.text(size) for size in sizes(of.append_each)]
    clients, owners = [], []
    with store_alone(folder, {DOOR: lambda: Door("bench", os.getpid())}) as system, _client(folder, texts) as client:
        asker = Asker(system.edge, "owner")
        for _ in range(of.append_rounds):
            clients.append(_round_of(client))
            owners.append(_round(asker, texts))
    client_best, owner_best = (Times(*map(min, zip(*rounds, strict=True))) for rounds in (clients, owners))
    return [
        Figure("append over the socket", client_best.alone_s * US, "µs", DIRECT, owner_best.alone_s * US),
        Figure(
            f"append over the socket, {IN_FLIGHT} in flight",
            1 / client_best.many_s,
            "messages/s",
            DIRECT,
            1 / owner_best.many_s,
        ),
    ]


def serve_rounds() -> None:
    """The client's program: a round for each line of stdin."""
    folder, texts = json.loads(sys.stdin.readline())
    with Link.connect(Path(folder)) as link:
        asker = Asker(link, "client")
        for _ in sys.stdin:
            print(json.dumps(_round(asker, texts)), flush=True)


def _round(asker: Asker, texts: Sequence[str]) -> Times:
    many = [*texts] * IN_FLIGHT_EACH
    alone_s = on_a_thread(partial(median, asker.one, texts))
    many_s = on_a_thread(partial(seconds, partial(asker.many, many))) / len(many)
    return Times(alone_s, many_s)


@contextmanager
def _client(folder: Path, texts: Sequence[str]) -> Iterator[subprocess.Popen[str]]:
    program = "from measure.socket import serve_rounds; serve_rounds()"
    with subprocess.Popen(
        [sys.executable, "-c", program], cwd=TOOLS, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as client:
        _say(client, json.dumps([str(folder), texts]))
        yield client
        assert client.stdin is not None
        client.stdin.close()


def _round_of(client: "subprocess.Popen[str]") -> Times:
    _say(client, "round")
    assert client.stdout is not None
    return Times(*json.loads(client.stdout.readline()))


def _say(client: "subprocess.Popen[str]", line: str) -> None:
    assert client.stdin is not None
    client.stdin.write(f"{line}\n")
    client.stdin.flush()
