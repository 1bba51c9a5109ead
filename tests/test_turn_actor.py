"""A client's turn, on both runtimes: what it orders of the owner and of the model, and what is logged when."""

import pytest

from eukhe.actors.messages import Append, CallOver, CallSent, EnterPrefix, ReadView, TurnBegan, TurnSaid, Wait
from tests.actor_kit import Runtime
from tests.turn_kit import client, says

pytestmark = pytest.mark.usefixtures("both_runtimes")


@pytest.mark.rule("48", "49")
def test_a_turn_gets_its_view_then_logs_what_was_said_then_asks_and_logs_the_reply(both_runtimes: Runtime) -> None:
    with client(both_runtimes, [says("It is done.")]) as it:
        it.say("Do it.")
        over = it.over()
    assert "It is done." == over.reply
    assert "" == over.why
    assert (2, 3) == over.ids
    assert [("user", "Do it."), ("eukhe", "It is done.")] == it.owner.said
    kinds = [type(order) for _, order in it.owner.orders]
    assert sorted(map(kinds.index, (Wait, ReadView, Append, EnterPrefix, CallSent, CallOver))) == [
        kinds.index(kind) for kind in (Wait, ReadView, Append, EnterPrefix, CallSent, CallOver)
    ]
    assert "It is done." == "".join(said.text for said in it.told(TurnSaid))
    assert [2] == [began.t for began in it.told(TurnBegan)]
