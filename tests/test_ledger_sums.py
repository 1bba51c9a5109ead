"""What calls cost, put together from their lines, in whatever order these come."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from eukhe.model.ledger import OVER, RESPONDED, SENT, Book, Note, Sum, decode, encode
from eukhe.model.prices import Prices
from eukhe.model.talk import Usage

MODELS = ("anthropic/claude-opus-5-5", "openai/unknown", "builtin/extract")
counts = st.integers(0, 10**6)
usages = st.none() | st.builds(Usage, counts, counts, counts, counts)
words = st.text(max_size=8)


@st.composite
def notes(draw: st.DrawFn) -> list[Note]:
    """The lines of some calls, as one ledger writes them."""
    made = []
    for number in range(draw(st.integers(0, 4))):
        head = (draw(st.sampled_from(["turn", "agent", "compaction"])), draw(st.sampled_from(MODELS)), 1, 2)
        t = f"2026-10-0{1 + number}T00:00:00+02:00"
        made.append(Note(f"call {number}", t, SENT, *head))
        for stage in (RESPONDED, OVER):
            usage = draw(usages)
            nanos = None if usage is None else Prices().nanos(head[1], usage)
            made.append(Note(f"call {number}", t, stage, *head, usage, draw(words), nanos))
    return made


def book_of(lines: Sequence[Note]) -> Book:
    book = Book(Prices())
    for line in lines:
        book.take(line)
    return book


def sums(book: Book) -> dict[str, tuple[object, ...]]:
    return {
        id_: (call.head.t, call.head.role, call.usage, call.why, call.is_over, book.nanos(id_, 7))
        for id_, call in sorted(book.calls.items())
    }


@given(st.data())
def test_any_order_and_any_repetition_give_the_same_total(data: st.DataObject) -> None:
    lines = data.draw(notes())
    again = data.draw(st.lists(st.sampled_from(lines), max_size=6)) if lines else []
    mixed = data.draw(st.permutations([*lines, *again]))
    assert sums(book_of(lines)) == sums(book_of(mixed))


@given(notes())
def test_a_line_reads_as_what_was_written(lines: list[Note]) -> None:
    assert lines == [decode(encode(line).rstrip(b"\n")) for line in lines]


@given(st.binary(max_size=40) | st.sampled_from([b"", b"{}", b'{"id":1}', b"[]"]))
def test_what_is_no_line_is_none(line: bytes) -> None:
    assert decode(line) is None


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(-9, 9))))
def test_a_sum_is_that_of_its_parts_as_they_are_now(puts: list[tuple[str, int]]) -> None:
    total = Sum()
    for id_, nanos in puts:
        total.put(id_, nanos)
    assert sum(dict(puts).values()) == total.total


def test_a_call_over_of_which_nobody_said_what_it_took_costs_the_estimate_if_that_is_more() -> None:
    head = ("turn", MODELS[0], 1, 2)
    begun = [Note("a", "t", SENT, *head), Note("a", "t", RESPONDED, *head, Usage(input=10), "", 40_000)]
    book = book_of([*begun, Note("a", "t", OVER, *head, None, "the worker died")])
    assert (50_000, 40_000) == (book.nanos("a", 50_000), book.nanos("a", 30_000))
    book = book_of([*begun, Note("a", "t", OVER, *head, Usage(input=11), "", 44_000)])
    assert 44_000 == book.nanos("a", 50_000)
