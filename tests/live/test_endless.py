"""Turns without end, with kills of clients, owners and workers: nothing is lost, nothing twice, and the cost is known.

EUKHE_TESTS=full takes 500 turns.
"""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from fake_api import FakeApi

from tests.chat_kit import messages
from tests.conftest import FULL
from tests.live.endless_kit import KEY, PLAY, Endless, told
from tests.live.live_kit import command, verified

TURNS = 500 if FULL else 24


@pytest.fixture
def api() -> Iterator[FakeApi]:
    with FakeApi(agent=PLAY, keys=[KEY], keep_bodies=False) as api:
        yield api


@pytest.mark.timeout(3_000)
@pytest.mark.rule("6", "7", "30", "48")
def test_turns_with_kills_leave_a_chat_that_verifies_and_costs_what_the_provider_counted(
    served: Path, api: FakeApi
) -> None:
    endless = Endless(served, api, seed=1_016)
    for _ in range(TURNS):
        endless.take()
    endless.take(disturbed=False)
    endless.build()
    assert 0 == command(served, "stop").code
    assert (0, "") == verified(served)
    _check_log(endless)
    _check_cost(endless, api)
    assert {"client", "owner"} <= set(endless.struck)
    assert {"clients worker", "owners worker"} & set(endless.struck)


def _check_log(endless: Endless) -> None:
    """What the user said stands there once, and of a turn that lived to its end the reply it printed, too."""
    log = messages(endless.home)
    said = Counter(message["text"] for message in log if message["kind"] == "user")
    replies = {message["text"] for message in log if message["kind"] == "eukhe"}
    for turn in endless.turns:
        assert said[turn.words] == 1 or (said[turn.words] == 0 and not turn.lived), turn
        assert not turn.lived or turn.reply in replies
    tools = Counter(message["kind"] for message in log)
    assert tools["echo"] <= tools["tool"]
    keys = [message["key"] for message in log if "key" in message]
    assert sorted(set(keys)) == sorted(keys)


def _check_cost(endless: Endless, api: FakeApi) -> None:
    """Each call that the ledger knows to be over cost what the provider counted; of the others it knows that they were
    sent.
    """
    api.settle()
    calls: dict[str, dict[str, dict[str, object]]] = {}
    for line in endless.calls():
        calls.setdefault(str(line["id"]), {})[str(line["stage"])] = line
    ended = [stages["over"]["usage"] for stages in calls.values() if "over" in stages and not stages["over"]["why"]]
    counted = Counter(told(request.usage) for request in api.requests if request.status == 200)
    known = Counter(tuple(usage.values()) for usage in ended if isinstance(usage, dict))
    assert {} == dict(known - counted), "what the provider never counted"
    assert (counted - known).total() <= len(calls) - len(ended), "calls that are on no record"
    assert len(calls) >= len(api.requests), "calls that were sent before they were on record"


def test_undisturbed_turns_cost_to_the_token_what_the_provider_counted(served: Path, api: FakeApi) -> None:
    endless = Endless(served, api, seed=7)
    for _ in range(4):
        endless.take(disturbed=False)
    endless.build()
    api.settle()
    ended = [line["usage"] for line in endless.calls() if line["stage"] == "over"]
    counted = Counter(told(request.usage) for request in api.requests)
    assert counted == Counter(tuple(usage.values()) for usage in ended if isinstance(usage, dict))
    assert 1 < len(ended)
    rows = command(served, "cost", "--json").json
    missed = {row["role"]: set(row["misses"]) for row in rows}
    assert {"turn": {"first call"}, "compaction": {"first call"}} == missed, rows
