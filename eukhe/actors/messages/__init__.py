"""Every message between actors. Frozen, tuples inside, the same in a mailbox, in a pipe and on a socket.

An order is named by what is wanted, its end by what became of it: `Append`, then `AppendDone` or `AppendFailed`.
A `ticket` is the asker's own number, handed back in the answer to `reply_to`.
"""

from eukhe.actors.messages.base import *
from eukhe.actors.messages.calls import *
from eukhe.actors.messages.door import *
from eukhe.actors.messages.index import *
from eukhe.actors.messages.ledger import *
from eukhe.actors.messages.memory import *
from eukhe.actors.messages.planner import *
from eukhe.actors.messages.store import *
from eukhe.actors.messages.system import *
from eukhe.actors.messages.turn import *
