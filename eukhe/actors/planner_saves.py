"""When the planner has its view and its state saved: neither is the truth, the logs are. D1."""

from eukhe.actors.behaviour import Effect, SetTimer, Tell
from eukhe.actors.messages import SaveCheckpoint, SaveView, ViewDue
from eukhe.limits import VIEW_SAVE_S
from eukhe.model.chat import Chat
from eukhe.model.fold import NodeSize, checkpoint
from eukhe.model.part import Part


class Saves:
    """`every`: messages between two checkpoints."""

    def __init__(self, chat: Chat, every: int) -> None:
        self._chat = chat
        self._every = every
        self._checkpoint_t = chat.t
        self._is_saved = False  # the view, as it is now
        self._is_merged = False  # by a batch since it was saved
        self._is_due = False  # its timer runs

    def message(self) -> None:
        """A message has changed the view."""
        self._is_saved = False

    def merged(self) -> None:
        """A batch has."""
        self._is_saved, self._is_merged = False, True

    def view(self) -> list[Effect]:
        if self._is_saved:
            return []
        self._is_saved, self._is_merged = True, False
        return [Tell("store", SaveView(tuple(self._chat.view.parts())))]

    def view_is_due(self) -> list[Effect]:
        """Its timer has gone off."""
        self._is_due = False
        return self.view()

    def view_now_or_later(self, *, busy: bool) -> list[Effect]:
        """Once after all batches of a step; for messages alone a while later, when nothing is built."""
        if self._is_merged:
            return self.view()
        if self._is_saved or self._is_due or busy:
            return []
        self._is_due = True
        return [SetTimer("view", VIEW_SAVE_S, ViewDue())]

    def checkpoint_is_due(self) -> bool:
        return self._chat.t - self._checkpoint_t >= self._every

    def checkpoint(self, unsynced: dict[Part, int]) -> Effect:
        """`unsynced`: lines on their way to the disk, and their bytes."""
        self._checkpoint_t = self._chat.t
        state = checkpoint(self._chat, (NodeSize(part, bytes_) for part, bytes_ in unsynced.items()))
        return Tell("store", SaveCheckpoint(state, self._chat.t))
