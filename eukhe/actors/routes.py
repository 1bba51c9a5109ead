"""Which of the owner's actors does an order, and what may be said of it afterwards.

What follows an order (`TakeView`, `Cancel`, …) has its ticket and goes where that went; it comes to nothing where the
order is answered already.
"""

from collections.abc import Mapping
from typing import Final

from eukhe.actors.messages import (
    AgentSaid,
    Append,
    AskStatus,
    AskTexts,
    Attend,
    BeginAgent,
    CallOver,
    CallResponded,
    CallSent,
    Cancel,
    EnterPrefix,
    LeavePrefix,
    Look,
    Msg,
    PrefixRead,
    ReadView,
    Settle,
    Sync,
    TakeView,
    Wait,
)

GATE: Final = "gate"
INDEX: Final = "index"
LEDGER: Final = "ledger"
AGENTS: Final = "agents"

ROUTES: Final[Mapping[type[Msg], str]] = {
    Append: "store",
    Settle: "planner",
    Wait: "planner",
    Attend: "planner",
    AskStatus: "planner",
    Sync: INDEX,
    ReadView: INDEX,
    Look: INDEX,
    EnterPrefix: GATE,
    AskTexts: GATE,
    CallSent: LEDGER,
    CallResponded: LEDGER,
    CallOver: LEDGER,
    BeginAgent: AGENTS,
    AgentSaid: AGENTS,
}
"""The orders that a client may give, and who is to do each."""

FOLLOWS: Final[Mapping[type[Msg], tuple[type[Msg], ...]]] = {
    TakeView: (Wait,),
    PrefixRead: (EnterPrefix,),
    LeavePrefix: (EnterPrefix,),
    Cancel: tuple(ROUTES),
}
"""What a client may say of an order that it gave, and of which."""

HELD: Final = (Wait, Attend, Settle, EnterPrefix)
"""Orders that last until they are cancelled, where nothing else ends them."""
