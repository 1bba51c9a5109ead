"""What a compactor's calls may end with, and a line as they make it."""

from collections.abc import Iterable

from hypothesis import strategies as st

from eukhe.limits import NODE_BYTES_MAX
from eukhe.model.line import Asking, Done, Failed, broke, replied

ERROR = object()
"""A call that broke; a reply is a text, or None where the model only thought."""

Outcome = str | None | object
State = Asking | Done | Failed

words = st.text(st.sampled_from("aé…🙂 \n|+0"), min_size=1, max_size=40)


@st.composite
def texts(draw: st.DrawFn, bytes_min: int = 1, bytes_max: int = 3 * NODE_BYTES_MAX) -> str:
    """A trimmed text without a head, of so many bytes, with characters of one to four bytes."""
    bytes_wanted = draw(st.integers(bytes_min, bytes_max) | st.integers(bytes_min, min(bytes_max, bytes_min + 4)))
    unit = draw(words)
    text = "x"
    while len((text + unit).encode()) < bytes_wanted:
        text += unit
    return text + "." * (bytes_wanted - len(text.encode()))


def long_texts() -> st.SearchStrategy[str]:
    return texts(NODE_BYTES_MAX + 1)


def empty_replies() -> st.SearchStrategy[str | None]:
    return st.sampled_from([None, "", " \n", "0+1|", " 12+4| \n "])


def outcomes() -> st.SearchStrategy[list[Outcome]]:
    return st.lists(long_texts() | long_texts() | texts() | empty_replies() | st.just(ERROR), max_size=9)


def bests() -> st.SearchStrategy[str | None]:
    return st.none() | long_texts()


def step(state: Asking, outcome: Outcome) -> State:
    if outcome is ERROR:
        return broke(state)
    assert outcome is None or isinstance(outcome, str)
    return replied(state, outcome)


def run(source: str, outcomes: Iterable[Outcome]) -> State:
    """The state after the outcomes, those after its end left out."""
    state: State = Asking(source)
    for outcome in outcomes:
        if not isinstance(state, Asking):
            break
        state = step(state, outcome)
    return state
