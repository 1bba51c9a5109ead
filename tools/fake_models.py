"""The models that the fake API knows: what each can do, as far as it decides which requests are refused.

Source: the providers' pages on models, thinking and effort. What is not said there is as for the newest of its line.
"""

from typing import NamedTuple

EFFORTS = ("low", "medium", "high", "xhigh", "max")
BUDGET_TOKENS_MIN = 1_024


class Model(NamedTuple):
    """`thinking`: the kinds that may be asked for. `effort`: where none is asked for.

    `prefill`: the last message may be the assistant's. `keeps_thoughts`: those of earlier turns stay in the prompt;
    else they go when the user speaks again.
    """

    name: str
    context_tokens: int = 1_000_000
    output_tokens: int = 128_000
    thinking: tuple[str, ...] = ("adaptive", "disabled")
    efforts: tuple[str, ...] = EFFORTS
    effort: str = "high"
    prefill: bool = False
    keeps_thoughts: bool = True
    always_thinks: bool = False


_ALWAYS = Model("", thinking=("adaptive",), always_thinks=True)
_BOTH = Model("", thinking=("adaptive", "enabled", "disabled"), efforts=("low", "medium", "high", "max"))
_OLD = Model("", 200_000, 64_000, ("enabled", "disabled"), (), prefill=True, keeps_thoughts=False)

ANTHROPIC = {
    model.name: model
    for model in (
        *(_ALWAYS._replace(name=name) for name in ("claude-fable-5", "claude-fable-5-1", "claude-fable-5-2")),
        *(_ALWAYS._replace(name=name) for name in ("claude-mythos-5", "claude-mythos-5-1", "claude-mythos-5-2")),
        *(Model(name) for name in ("claude-opus-5", "claude-opus-4-8", "claude-opus-4-7")),
        *(Model(name) for name in ("claude-sonnet-5", "claude-sonnet-5-5")),
        *(Model(name, effort="medium") for name in ("claude-opus-5-5", "claude-haiku-5-5")),
        *(_BOTH._replace(name=name) for name in ("claude-opus-4-6", "claude-sonnet-4-6")),
        *(
            _OLD._replace(name=name, efforts=("low", "medium", "high"), keeps_thoughts=True)
            for name in ("claude-opus-4-5", "claude-opus-4-5-20251101")
        ),
        *(_OLD._replace(name=name) for name in ("claude-sonnet-4-5", "claude-sonnet-4-5-20250929")),
        *(_OLD._replace(name=name) for name in ("claude-haiku-4-5", "claude-haiku-4-5-20251001")),
    )
}
OPENAI = {model.name: model for model in (Model("gpt-5"), Model("gpt-5-mini"), Model("local", 32_768, 8_192))}
OPENAI_EFFORTS = ("none", "minimal", *EFFORTS)
