"""What a command hears of owners that end while it asks them."""

from collections import deque

import pytest

from eukhe.actors.messages import Msg, Sync, Synced
from eukhe.cli import asking
from eukhe.cli.asking import Asker
from eukhe.errors import OwnerGone
from eukhe.limits import OWNERS_LOST_SAID
from tests.live.live_kit import heard_of


class Short:
    """A way to an owner that ends after one answer."""

    pid = 41

    def __init__(self) -> None:
        self.told: deque[Msg] = deque(maxlen=1)

    def tell(self, to: str, message: Msg) -> None:
        if not self.told:
            self.told.append(message)

    def hear(self, wait_s: float) -> Msg:
        order = self.told.popleft() if self.told else None
        if not isinstance(order, Sync):
            raise OwnerGone("gone")
        self.told.append(Synced(0))  # it takes no more
        return Synced(order.ticket)

    def close(self) -> None:
        pass


def test_owners_that_answer_and_end_again_and_again_are_said_once(monkeypatch: pytest.MonkeyPatch) -> None:
    said = heard_of(monkeypatch, asking)
    asker = Asker(Short(), Short)
    for lost in range(2 * OWNERS_LOST_SAID):
        assert isinstance(asker.ask("index", Sync), Synced)
        assert (lost < OWNERS_LOST_SAID) == said.empty()
    told = f"{OWNERS_LOST_SAID} owners of the chat have ended meanwhile, and owner.log may say why: going on"
    assert [told, True] == [said.get(), said.empty()]
