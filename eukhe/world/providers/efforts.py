"""How hard each model can think, and how it is told: one table for all providers.

Source: the providers' pages on thinking, effort and reasoning, as of November 2026. A model that is in no table is
taken for one of its provider's newest. A level that a model does not have is the next below it that it has, or its
lowest. `off` is no thinking where a model can do without, else its lowest level.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Final, Literal, NamedTuple, get_args

from eukhe.limits import (
    OUTPUT_TOKENS,
    OUTPUT_TOKENS_GPT_4,
    OUTPUT_TOKENS_GPT_4_1,
    OUTPUT_TOKENS_O,
    OUTPUT_TOKENS_OLDER,
    THINKING_SHARE_MAX,
    THINKING_TOKENS,
    THINKING_TOKENS_MIN,
)
from eukhe.model.prices import undated
from eukhe.model.talk import Effort

LEVELS: Final[tuple[Effort, ...]] = get_args(Effort)
_THREE: Final[tuple[Effort, ...]] = ("low", "medium", "high")
_FOUR: Final[tuple[Effort, ...]] = (*_THREE, "max")
_FIVE: Final[tuple[Effort, ...]] = (*_THREE, "xhigh", "max")


class Claude(NamedTuple):
    """What a model of Anthropic's takes. `how`: by itself as hard as `efforts` say, or within a budget of tokens.

    `off`: the kind of thinking that is none, empty where it always thinks. `shows`: it must be asked to tell its
    thoughts; without that it says nothing between its tool calls either.
    """

    how: Literal["adaptive", "budget"] = "adaptive"
    efforts: tuple[Effort, ...] = _FIVE
    off: Literal["disabled", "between_tools", ""] = ""
    shows: bool = True
    output_tokens: int = OUTPUT_TOKENS


_NEWEST: Final = Claude()
_CAN_STOP: Final = Claude(off="disabled")
CLAUDES: Final = {
    "claude-sonnet-5-5": Claude(off="between_tools"),
    "claude-haiku-5-5": _CAN_STOP,
    "claude-opus-5": _CAN_STOP,
    "claude-sonnet-5": _CAN_STOP,
    "claude-opus-4-8": _CAN_STOP,
    "claude-opus-4-7": _CAN_STOP,
    "claude-opus-4-6": Claude(efforts=_FOUR, off="disabled", shows=False),
    "claude-sonnet-4-6": Claude(efforts=_FOUR, off="disabled", shows=False, output_tokens=OUTPUT_TOKENS_OLDER),
    "claude-opus-4-5": Claude("budget", _THREE, "disabled", False, OUTPUT_TOKENS_OLDER),
    "claude-sonnet-4-5": Claude("budget", (), "disabled", False, OUTPUT_TOKENS_OLDER),
    "claude-haiku-4-5": Claude("budget", (), "disabled", False, OUTPUT_TOKENS_OLDER),
}
"""By name, without its date."""


class Gpt(NamedTuple):
    """What a model of OpenAI's takes."""

    efforts: tuple[Effort, ...] = ()
    output_tokens: int = OUTPUT_TOKENS


GPTS: Final = (
    ("gpt-5.1", Gpt(("off", *_THREE))),
    ("gpt-5.", Gpt(("off", *_THREE, "xhigh"))),
    ("gpt-5", Gpt(("minimal", *_THREE))),
    ("gpt-4.1", Gpt(output_tokens=OUTPUT_TOKENS_GPT_4_1)),
    ("gpt-4", Gpt(output_tokens=OUTPUT_TOKENS_GPT_4)),
    ("o1", Gpt(_THREE, OUTPUT_TOKENS_O)),
    ("o3", Gpt(_THREE, OUTPUT_TOKENS_O)),
    ("o4", Gpt(_THREE, OUTPUT_TOKENS_O)),
)
"""By how their names begin: the first that fits."""
_NEWEST_GPT: Final = Gpt(("off", *_THREE, "xhigh"))


def claude(model: str, effort: Effort, tokens_max: int) -> dict[str, Any]:
    """The fields of a request to Anthropic that depend on the model: `max_tokens`, `thinking`, `output_config`.

    A model that is no Claude, as another server's may be, is asked for nothing that it might not know.
    """
    if not model.startswith("claude-"):
        return {"max_tokens": tokens_max}
    takes = CLAUDES.get(undated(model), _NEWEST)
    tokens_max = min(tokens_max, takes.output_tokens)
    fields: dict[str, Any] = {"max_tokens": tokens_max}
    if effort == "off" and takes.off:
        return {**fields, "thinking": {"type": takes.off}}
    if takes.efforts:
        fields["output_config"] = {"effort": nearest(effort, takes.efforts)}
    if takes.how == "adaptive":
        fields["thinking"] = {"type": "adaptive"} | ({"display": "summarized"} if takes.shows else {})
    elif (budget := _budget(effort, tokens_max)) >= THINKING_TOKENS_MIN:
        fields["thinking"] = {"type": "enabled", "budget_tokens": budget}
    return fields


def _budget(effort: Effort, tokens_max: int) -> int:
    return min(THINKING_TOKENS[effort], int(tokens_max * THINKING_SHARE_MAX))


def gpt(model: str, effort: Effort, tokens_max: int, *, own_server: bool) -> dict[str, Any]:
    """The fields of a request in OpenAI's form that depend on the model: the most tokens, `reasoning_effort`.

    A server of the user's own is told no more than he says: how much its model can give it knows itself; `medium` is
    where each begins, and `off` has no word that all of them know.
    """
    if own_server:
        return {} if effort in ("off", "medium") else {"reasoning_effort": effort}
    takes = next((takes for name, takes in GPTS if model.startswith(name)), _NEWEST_GPT)
    fields: dict[str, Any] = {"max_completion_tokens": min(tokens_max, takes.output_tokens)}
    if takes.efforts:
        level = nearest(effort, takes.efforts)
        fields["reasoning_effort"] = "none" if level == "off" else level
    return fields


def nearest(effort: Effort, efforts: Sequence[Effort]) -> Effort:
    """The highest of some levels that is not above the one asked for; their lowest where all are.

    >>> nearest("xhigh", ("low", "medium", "high", "max")), nearest("off", ("low", "medium"))
    ('high', 'low')
    """
    below = [level for level in efforts if LEVELS.index(level) <= LEVELS.index(effort)]
    return max(below, key=LEVELS.index) if below else _lowest(efforts)


def _lowest(efforts: Iterable[Effort]) -> Effort:
    return min(efforts, key=LEVELS.index)
