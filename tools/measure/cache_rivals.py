"""What a conversation costs without such a memory: sent whole each time, or with its beginning summed up.

Both mark the system prompt, the end of the request before and their own end, as agents do whose conversation only
grows; so all that was sent within the last five minutes is read from the cache.
"""

from collections.abc import Iterable
from typing import NamedTuple

from eukhe.model.talk import Usage
from eukhe.sim.prompt_cache import Block, PromptCache, tokens_of
from measure.made_turns import Turn

ROLLING_BYTES, SUMMARY_BYTES = 128_000, 8_000  # when a conversation is summed up, and how long that is


class Sent(NamedTuple):
    """A request of a turn: of the how manieth, what it cost; `prefix`: tokens that stand before the view's mark."""

    turn: int
    usage: Usage
    prefix: int = 0


class Rival:
    """`fixed`: what stands before all else, tools and system prompt. `rolling`: it is summed up now and then.

    One that is not ends when it is as long as its model's context, `tokens_max`.
    """

    def __init__(self, model: str, fixed: Iterable[Block], *, tokens_max: int, rolling: bool) -> None:
        self.sent: list[Sent] = []
        self._model = model
        self._fixed = list(fixed)
        self._rolling = rolling
        self._tokens_max = tokens_max
        self._tokens = sum(block.tokens for block in self._fixed)
        self._cache = PromptCache()
        self._said: list[Block] = []
        self._end = 0  # of the request before, in blocks
        self._turn = 0

    def run(self, turns: Iterable[Turn]) -> list[Sent]:
        """Every request of these turns, those for a summary included."""
        now_s = 0.0
        for self._turn, turn in enumerate(turns, start=1):
            now_s += turn.after_s
            self._say(turn.user)
            for step in turn.steps:
                self._ask(step.say + step.input, now_s)
                now_s += step.model_s + step.tool_s
                self._say(step.say)
                self._say(f"{step.tool} {step.input}", "use")
                self._say(step.result, "result")
            self._ask(turn.reply, now_s)
            if not self._rolling and self._tokens > self._tokens_max:
                break
            now_s += turn.model_s
            self._say(turn.reply)
        return self.sent

    def _say(self, text: str, kind: str = "text") -> None:
        if text:
            data = text.encode()
            block = Block(data, tokens_of(data), kind=kind)  # type: ignore[arg-type]
            self._said.append(block)
            self._tokens += block.tokens

    def _ask(self, reply: str, now_s: float) -> None:
        if self._rolling and sum(len(block.data) for block in self._said) > ROLLING_BYTES:
            last = self._said[-1]
            self._say("Sum up all of the above.")
            self._send("s" * SUMMARY_BYTES, now_s)
            self._said, self._end = [], 0
            self._say("s" * SUMMARY_BYTES)
            self._said.append(last)
        self._send(reply, now_s)

    def _send(self, reply: str, now_s: float) -> None:
        row = [*self._fixed, *self._said]
        marks = {len(self._fixed) - 1, self._end - 1, len(row) - 1} - {-1}
        marked = [Block(block.data, block.tokens, at in marks, block.kind) for at, block in enumerate(row)]
        call = self._cache.call(self._model, marked, now_s)
        self._cache.begin(call)
        self._end = len(row)
        self.sent.append(Sent(self._turn, call.usage + Usage(output=tokens_of(reply.encode()))))
