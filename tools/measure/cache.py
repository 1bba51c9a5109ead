"""What the prompt cache saves: a long chat's turns and lines, beside the same words without such a memory.

Everything runs on a virtual clock against the model of a provider's cache (eukhe/sim/prompt_cache.py), so the figures
are the same on every machine. A prefix is what stands before the mark at the view's end: tools, system prompt, view.
"""

from collections.abc import Iterable, Sequence

from eukhe.limits import CACHE_LIFE_S
from eukhe.model.prices import Prices
from eukhe.model.prompt import texts
from eukhe.model.talk import Talk
from eukhe.world.providers.choice import DEFAULTS
from eukhe.world.providers.registry import ANTHROPIC
from measure.cache_agent import Played
from measure.cache_rivals import Rival, Sent
from measure.cache_row import row_of
from measure.figures import Aim, Figure, Sizes
from measure.made_turns import Turn, turns

TURN_MODEL, LINE_MODEL = DEFAULTS[ANTHROPIC]
PERCENT, CENTS = 100, 100
AROUND = 10  # turns before and after the one whose money is told, taken with it
TURNS_AIM, LINES_AIM = 99.0, 97.5
AT = (20, 200, 2_000)


def measure(sizes: Sizes) -> list[Figure]:
    """Shares of the prefixes that are read, calls a message, money a turn."""
    script = list(turns(sizes.cache_messages))
    played, paused = (Played(taken, TURN_MODEL, LINE_MODEL).run() for taken in (_brisk(script), script))
    long = _with_the_same_at(list(_brisk(turns(sizes.cache_long_messages))))
    lasting = Played(long, TURN_MODEL, LINE_MODEL).run()
    return [*_shares(played, paused), _calls(played), *_money(lasting, long)]


def _brisk(script: Iterable[Turn]) -> Iterable[Turn]:
    """The same turns of a user who does not pause for as long as an entry of the cache lives."""
    return (turn._replace(after_s=min(turn.after_s, CACHE_LIFE_S / 2)) for turn in script)


def _with_the_same_at(script: list[Turn]) -> list[Turn]:
    """The turns, of which those whose money is told say and do the same, early and late: what differs is the past."""
    first, *later = (slice(at - AROUND - 1, at + AROUND) for at in AT if at + AROUND <= len(script))
    for span in later:
        script[span] = script[first]
    return script


def _shares(played: Played, paused: Played) -> list[Figure]:
    beside = "with the user's pauses, after which nothing is left of the cache"
    kinds = (("turns'", TURNS_AIM, "turns"), ("lines'", LINES_AIM, "lines"))
    return [
        Figure(
            f"{whose} prefix read from the cache, {played.messages:,} messages",
            _read(getattr(played.provider, kind)),
            "%",
            beside,
            _read(getattr(paused.provider, kind)),
            Aim("value", aim, at_least=True),
        )
        for whose, aim, kind in kinds
    ]


def _read(sent: Sequence[Sent]) -> float:
    """The share of all prefixes that was read, in percent."""
    return PERCENT * sum(min(call.usage.cache_read, call.prefix) for call in sent) / sum(call.prefix for call in sent)


def _calls(played: Played) -> Figure:
    lines, asked = len(played.provider.lines), len(played.provider.turns)
    beside = "requests of turns"
    return Figure("calls for lines, a message", lines / played.messages, "calls", beside, asked / played.messages)


def _money(lasting: Played, long: Sequence[Turn]) -> list[Figure]:
    """What a turn costs, early and late, its lines included."""
    fixed = row_of(Talk(texts().system, texts().tools, (), "off", 1))
    ours = [
        *((TURN_MODEL, sent) for sent in lasting.provider.turns),
        *((LINE_MODEL, sent) for sent in lasting.provider.lines),
    ]
    price = Prices().of(TURN_MODEL)
    assert price is not None
    assert price.context_tokens is not None
    whole, rolling = (
        [
            (TURN_MODEL, sent)
            for sent in Rival(TURN_MODEL, fixed, tokens_max=price.context_tokens, rolling=kind).run(long)
        ]
        for kind in (False, True)
    )
    figures = []
    for at in AT:
        if at + AROUND > len(long):
            continue
        span = range(at - AROUND, at + AROUND + 1)
        for beside, rival in (("the whole transcript", whole), ("a rolling summary", rolling)):
            if rival[-1][1].turn not in span and rival[-1][1].turn < at:
                continue  # it had no more room long before
            mine, others = _cents(ours, span), _cents(rival, span)
            figures.append(Figure(f"a turn's cost at turn {at:,}", mine, "cents", beside, others))
    return figures


def _cents(sent: Iterable[tuple[str, Sent]], span: range) -> float:
    """The mean cost of these turns."""
    prices = Prices()
    nanos = [prices.nanos(model, call.usage) for model, call in sent if call.turn in span]
    return CENTS * sum(cost for cost in nanos if cost is not None) / 1e9 / len(span)
