"""What all tests share: how long they may search for counter-examples, and a home that is nobody's.

EUKHE_TESTS=full (`make full`) runs the slow ones too and lets Hypothesis try many more examples.
"""

import gc
import os
import signal
import sys
import uuid
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from tests.actor_kit import both_runtimes
from tests.chat_kit import filled, home
from tests.leaks import MARK, no_leaks, no_pool_left, nothing_left
from tests.live.live_kit import served
from tests.socket_kit import shallow

__all__ = ["both_runtimes", "filled", "home", "no_leaks", "no_pool_left", "served", "shallow"]  # fixtures for all

FULL = os.environ.get("EUKHE_TESTS") == "full"

settings.register_profile(
    "ci", max_examples=100, stateful_step_count=30, deadline=None, database=None, print_blob=True, derandomize=False
)
settings.register_profile(
    "full",
    max_examples=5_000,
    stateful_step_count=100,
    deadline=None,
    database=None,
    print_blob=True,
    derandomize=False,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("full" if FULL else "ci")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--rewrite", action="store_true", help="write the outcomes in tests/scenarios/ anew")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    skip = pytest.mark.skip(reason="slow: runs in `make full`")
    for item in items:
        if not FULL and item.get_closest_marker("slow"):
            item.add_marker(skip)


@pytest.fixture(scope="session", autouse=True)
def nothing_is_left_at_the_end() -> Iterator[None]:
    """No test leaves a process, a thread or a file handle; those that are about such things use `no_leaks` besides."""
    if sys.platform != "linux":
        yield  # there is no /proc to look at
        return
    mark = uuid.uuid4().hex
    with pytest.MonkeyPatch.context() as patch, nothing_left(mark):
        patch.setenv(MARK, mark)
        yield
        gc.collect()  # what nobody holds any more is not left


@pytest.fixture(scope="session", autouse=True)
def signals_as_in_a_terminal() -> Iterator[None]:
    """Who runs the tests, as in the background of a shell, may ignore some, and children would ignore them, too."""
    handlers = {
        signal.SIGINT: signal.default_int_handler,
        signal.SIGHUP: signal.SIG_DFL,
        signal.SIGTERM: signal.SIG_DFL,
    }
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture(scope="session", autouse=True)
def nobodys_home(nothing_is_left_at_the_end: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """No test sees or changes the chat and the settings of whoever runs it, or leaves an owner running."""
    with pytest.MonkeyPatch.context() as patch:
        ours = ("EUKHE_", "_EUKHE_", "ANTHROPIC_", "OPENAI_")  # a key that is here would be used, and paid for
        for name in [name for name in os.environ if name.startswith(ours)]:
            patch.delenv(name)
        patch.setenv("HOME", str(tmp_path_factory.mktemp("home")))
        patch.setenv("EUKHE_NO_SERVICE", "1")  # no test leaves a process behind, unless it is about that
        umask = os.umask(0o022)  # else other users, whom some tests play, could not get at what is made for them
        yield
        os.umask(umask)
