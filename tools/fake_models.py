"""The models that the fake API knows: what each can do, as far as it decides which requests are refused.

Source: the providers' pages on models, thinking and effort. What is not said there is as for the newest of its line.
"""

from typing import NamedTuple

EFFORTS = ("low", "medium", "high", "xhigh", "max")
BUDGET_TOKENS_MIN = 1_024


class Model(NamedTuple):
    """`thinking`: the kinds that may be asked for. `effort`: where none is asked for.

    `thinks`: also where nothing is said of it; `hard`: also at the highest efforts, whatever is said. `shows`: its
    thoughts, where nothing is said of that. `notes`: what it says between two calls comes as a thought.
    `prefill`: the last message may be the assistant's. `keeps_thoughts`: those of earlier turns stay in the prompt;
    else they go when the user speaks again.
    """

    name: str
    context_tokens: int = 1_000_000
    output_tokens: int = 128_000
    thinking: tuple[str, ...] = ("adaptive", "disabled")
    efforts: tuple[str, ...] = EFFORTS
    effort: str = "high"
    thinks: bool = True
    hard: bool = False
    shows: bool = False
    notes: bool = False
    prefill: bool = False
    keeps_thoughts: bool = True


_ALWAYS = Model("", thinking=("adaptive",))
_ASKED = Model("", thinks=False)
_BOTH = _ASKED._replace(
    thinking=("adaptive", "enabled", "disabled"), efforts=("low", "medium", "high", "max"), shows=True
)
_OLD = Model(
    "", 200_000, 64_000, ("enabled", "disabled"), (), thinks=False, shows=True, prefill=True, keeps_thoughts=False
)
_OPUS_45 = _OLD._replace(efforts=("low", "medium", "high"), keeps_thoughts=True)

ANTHROPIC = {
    name: model._replace(name=name)
    for name, model in {
        **dict.fromkeys(("claude-fable-5", "claude-fable-5-1", "claude-fable-5-2"), _ALWAYS),
        **dict.fromkeys(("claude-mythos-5", "claude-mythos-5-1", "claude-mythos-5-2"), _ALWAYS),
        "claude-opus-5-5": _ALWAYS._replace(effort="medium", notes=True),
        "claude-sonnet-5-5": Model("", thinking=("adaptive", "between_tools"), notes=True),
        "claude-haiku-5-5": Model("", effort="medium", hard=True),
        "claude-opus-5": Model("", hard=True),
        "claude-sonnet-5": Model(""),
        "claude-opus-4-8": _ASKED,
        "claude-opus-4-7": _ASKED,
        "claude-opus-4-6": _BOTH,
        "claude-sonnet-4-6": _BOTH,
        "claude-opus-4-5": _OPUS_45,
        "claude-opus-4-5-20251101": _OPUS_45,
        "claude-sonnet-4-5": _OLD,
        "claude-sonnet-4-5-20250929": _OLD,
        "claude-haiku-4-5": _OLD,
        "claude-haiku-4-5-20251001": _OLD,
    }.items()
}
OPENAI = {model.name: model for model in (Model("gpt-5"), Model("gpt-5-mini"), Model("local", 32_768, 8_192))}
OPENAI_EFFORTS = ("none", "minimal", *EFFORTS)
