"""The model of a provider's prompt cache, case by case as its provider documents it."""

from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eukhe.model.prices import claude_cache_tokens_min
from eukhe.model.talk import Usage
from eukhe.sim.prompt_cache import Automatic, Block, Kind, PromptCache, Refused, tokens_of

MODEL = "claude-opus-4-8"  # caches from 1,024 tokens
BIG = 2_000


def row(names: str, tokens: int = BIG, kind: Kind = "text") -> list[Block]:
    """A block a letter; a capital one has a mark."""
    return [Block(name.lower().encode(), tokens, name.isupper(), kind) for name in names]


def asked(cache: PromptCache, blocks: list[Block], now_s: float = 0, model: str = MODEL) -> Usage:
    """What a request costs whose response begins at once."""
    call = cache.call(model, blocks, now_s)
    cache.begin(call)
    return call.usage


def after(first: list[Block], then: list[Block], seconds: float = 1, **model: str) -> Usage:
    """What a request costs, so many seconds after another one."""
    cache = PromptCache()
    asked(cache, first)
    return asked(cache, then, seconds, **model)


# --- what is read and written ---

READ = Usage(input=0, cache_read=BIG, cache_write=0)
WRITTEN = Usage(input=0, cache_read=0, cache_write=BIG)


def test_the_first_request_writes_up_to_its_mark_and_pays_the_rest() -> None:
    assert Usage(input=BIG, cache_read=0, cache_write=2 * BIG) == asked(PromptCache(), row("aBc"))


def test_the_same_request_again_reads_what_was_written() -> None:
    assert Usage(input=BIG, cache_read=2 * BIG, cache_write=0) == after(row("aBc"), row("aBc"))


def test_a_later_mark_reads_the_entry_before_it_and_writes_from_there() -> None:
    assert Usage(input=0, cache_read=2 * BIG, cache_write=BIG) == after(row("aB"), row("abC"))


def test_entries_are_written_at_marks_alone() -> None:
    assert Usage(input=0, cache_read=0, cache_write=2 * BIG) == after(row("abC"), row("aB"))


def test_of_several_marks_each_writes() -> None:
    cache = PromptCache()
    asked(cache, row("AbCd"))
    assert [BIG, 3 * BIG] == [asked(cache, row(names), 1).cache_read for names in ("Ax", "abCx")]


def test_the_longest_prefix_is_read() -> None:
    cache = PromptCache()
    asked(cache, row("A"))
    asked(cache, row("aB"))
    assert 2 * BIG == asked(cache, row("AbC"), 1).cache_read


def test_a_requester_without_marks_reads_and_writes_nothing() -> None:
    assert Usage(input=3 * BIG) == after(row("abC"), row("abc"))
    assert Usage(input=0, cache_read=0, cache_write=3 * BIG) == after(row("abc"), row("abC"))


@pytest.mark.parametrize("changed", ["Xbc", "aXc", "abX"])
def test_a_block_that_changed_empties_all_from_it_on(changed: str) -> None:
    """Tools, system prompt and messages stand in this order, so each takes all behind it along."""
    first = row("ABC")
    then = [Block(block.data, block.tokens, True) for block in row(changed.lower())]
    assert BIG * changed.index("X") == after(first, then).cache_read


def test_another_model_reads_nothing() -> None:
    assert READ == after(row("A"), row("A"))
    assert WRITTEN == after(row("A"), row("A"), model="claude-opus-4-8-other")


def test_blocks_divided_in_another_way_are_others() -> None:
    assert 0 == after([Block(b"a", BIG), Block(b"b", BIG, True)], [Block(b"ab", 2 * BIG, True)]).cache_read


# --- how far a mark looks back ---


@pytest.mark.parametrize(("back", "read"), [(0, BIG), (1, BIG), (18, BIG), (19, BIG), (20, 0), (21, 0)])
def test_a_mark_looks_at_twenty_blocks_its_own_the_first(back: int, read: int) -> None:
    more = [Block(str(number).encode(), 1) for number in range(back)]
    then = [Block(b"a", BIG), *more]
    then[-1] = Block(then[-1].data, then[-1].tokens, True)
    assert read == after(row("A"), then).cache_read


def test_an_earlier_mark_looks_back_by_itself() -> None:
    more = [Block(str(number).encode(), 1, number in (10, 29)) for number in range(30)]
    assert BIG == after(row("A"), [Block(b"a", BIG), *more]).cache_read


@pytest.mark.parametrize("kind", ["use", "result"])
def test_tool_calls_in_a_row_are_one_position_and_results_too(kind: Kind) -> None:
    run = [Block(str(number).encode(), 1, kind=kind) for number in range(50)]
    assert BIG == after(row("A"), [Block(b"a", BIG), *run, Block(b"end", 1, True)]).cache_read


def test_a_call_and_its_result_are_two_positions() -> None:
    def loop(rounds: int) -> list[Block]:
        kinds: list[Kind] = ["use", "result"]
        steps = [Block(f"{number}{kind}".encode(), 1, kind=kind) for number in range(rounds) for kind in kinds]
        return [Block(b"a", BIG), *steps[:-1], Block(steps[-1].data, 1, True, "result")]

    assert BIG == after(row("A"), loop(9)).cache_read
    assert 0 == after(row("A"), loop(10)).cache_read


# --- the shortest prefix ---


@pytest.mark.parametrize(("tokens", "written"), [(1_023, 0), (1_024, 1_024)])
def test_below_the_minimum_nothing_is_written(tokens: int, written: int) -> None:
    usage = asked(PromptCache(), [Block(b"a", tokens, True)])
    assert Usage(input=tokens - written, cache_read=0, cache_write=written) == usage


def test_the_minimum_is_of_the_whole_prefix() -> None:
    assert 1_200 == after(row("aB", 600), row("aB", 600)).cache_read


def test_a_mark_below_the_minimum_is_as_if_it_were_not_there() -> None:
    assert Usage(input=0, cache_read=0, cache_write=1_200) == asked(PromptCache(), row("AB", 600))
    assert Usage(input=600, cache_read=0, cache_write=0) == after(row("AB", 600), row("A", 600))


@pytest.mark.parametrize(
    ("model", "tokens"),
    [
        ("claude-fable-5", 512),
        ("claude-mythos-5-1", 512),
        ("claude-mythos-preview", 2_048),
        ("claude-opus-5", 512),
        ("claude-opus-5-5", 512),
        ("claude-opus-4-8", 1_024),
        ("claude-opus-4-7", 2_048),
        ("claude-opus-4-6", 4_096),
        ("claude-opus-4-5-20251101", 4_096),
        ("claude-sonnet-5-5", 512),
        ("claude-sonnet-5", 1_024),
        ("claude-sonnet-4-6", 1_024),
        ("claude-sonnet-4-5-20250929", 1_024),
        ("claude-haiku-4-5-20251001", 4_096),
        ("claude-haiku-5-5", 512),
        ("nobody-knows", 4_096),
    ],
)
def test_the_minimum_is_the_models(model: str, tokens: int) -> None:
    assert tokens == claude_cache_tokens_min(model)
    assert tokens == asked(PromptCache(), [Block(b"a", tokens, True)], model=model).cache_write
    assert 0 == asked(PromptCache(), [Block(b"a", tokens - 1, True)], model=model).cache_write


# --- how long an entry lives ---


@pytest.mark.parametrize(("seconds", "read"), [(0, BIG), (300, BIG), (301, 0)])
def test_an_entry_lives_five_minutes(seconds: int, read: int) -> None:
    assert read == after(row("A"), row("A"), seconds).cache_read


def test_a_read_renews_an_entry() -> None:
    cache = PromptCache()
    asked(cache, row("A"), 0)
    assert [BIG, BIG, BIG, 0] == [asked(cache, row("A"), now_s).cache_read for now_s in (290, 580, 880, 1_181)]


def test_a_read_from_behind_renews_the_entry_that_it_found() -> None:
    cache = PromptCache()
    asked(cache, row("A"), 0)
    asked(cache, row("aB"), 200)
    assert BIG == asked(cache, row("A"), 500).cache_read


def test_a_request_renews_the_entries_at_its_own_marks() -> None:
    cache = PromptCache()
    asked(cache, row("AB"), 0)
    assert 2 * BIG == asked(cache, row("AB"), 200).cache_read
    assert BIG == asked(cache, row("Ax"), 500).cache_read


def test_an_entry_that_nobody_read_dies_while_a_longer_one_lives() -> None:
    cache = PromptCache()
    asked(cache, row("A"), 0)
    asked(cache, row("aB"), 1)  # reads A, and writes its own
    assert 2 * BIG == asked(cache, row("aB"), 300).cache_read
    assert 0 == asked(cache, row("A"), 302).cache_read


def test_the_lifetime_counts_from_the_requests_start_not_from_its_response() -> None:
    cache = PromptCache()
    call = cache.call(MODEL, row("A"), 0)
    cache.begin(call)  # four minutes later, say: the time is not asked for
    assert BIG == asked(cache, row("A"), 300).cache_read
    cache = PromptCache()
    cache.begin(cache.call(MODEL, row("A"), 0))
    assert 0 == asked(cache, row("A"), 301).cache_read


def test_a_response_that_begins_late_takes_no_life_from_an_entry_that_a_later_request_wrote() -> None:
    cache = PromptCache()
    early, late = cache.call(MODEL, row("A"), 0), cache.call(MODEL, row("A"), 100)
    cache.begin(late)
    cache.begin(early)
    assert BIG == asked(cache, row("A"), 400).cache_read


def test_what_is_dead_is_forgotten() -> None:
    cache = PromptCache()
    for number in range(100):
        asked(cache, [Block(str(number).encode(), BIG, True)], number * 1_000)
    assert 1 == len(cache)


# --- from when it can be read ---


def test_an_entry_cannot_be_read_before_its_response_begins() -> None:
    cache = PromptCache()
    first = cache.call(MODEL, row("A"), 0)
    assert WRITTEN == cache.call(MODEL, row("A"), 1).usage
    cache.begin(first)
    assert READ == cache.call(MODEL, row("A"), 2).usage


def test_two_that_write_at_once_both_pay() -> None:
    cache = PromptCache()
    calls = [cache.call(MODEL, row("A"), 0) for _ in range(2)]
    assert [WRITTEN, WRITTEN] == [call.usage for call in calls]


def test_a_request_whose_response_never_began_wrote_nothing() -> None:
    cache = PromptCache()
    cache.call(MODEL, row("A"), 0)
    assert WRITTEN == asked(cache, row("A"), 1)


# --- what is refused ---


def test_five_marks_are_refused() -> None:
    asked(PromptCache(), row("ABCD"))
    with pytest.raises(Refused, match=r"A maximum of 4 blocks .* Found 5\."):
        PromptCache().call(MODEL, row("ABCDE"), 0)


def test_a_thinking_block_cannot_be_marked_but_is_cached_with_others() -> None:
    thought = Block(b"t", BIG, kind="thought")
    assert 3 * BIG == after([*row("a"), thought, *row("B")], [*row("a"), thought, *row("B")]).cache_read
    with pytest.raises(Refused, match="thinking"):
        PromptCache().call(MODEL, [Block(b"t", BIG, True, "thought")], 0)


# --- in all cases ---


@given(st.lists(st.text("abAB", min_size=1, max_size=6).filter(lambda names: sum(map(str.isupper, names)) <= 4)))
def test_every_token_is_counted_once(requests: list[str]) -> None:
    cache = PromptCache()
    for names in requests:
        usage = asked(cache, row(names))
        assert len(names) * BIG == usage.input + usage.cache_read + usage.cache_write
        assert 0 <= min(usage.input, usage.cache_read, usage.cache_write)


@given(st.text("ab", min_size=1, max_size=15), st.integers(1, 5))
def test_a_conversation_that_grows_by_its_marked_end_reads_all_that_it_had(names: str, step: int) -> None:
    cache = PromptCache()
    ends = range(1, len(names) + 1, step)
    usages = [asked(cache, row(names[: end - 1] + names[end - 1].upper())) for end in ends]
    assert [before * BIG for before, _ in pairwise(ends)] == [usage.cache_read for usage in usages[1:]]


@pytest.mark.parametrize(("text", "tokens"), [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2), ("éé", 1), ("ééé", 2)])
def test_four_bytes_are_a_token(text: str, tokens: int) -> None:
    assert tokens == tokens_of(text.encode())


# --- without marks ---


def texts(*sizes: int, fill: str = "a") -> list[Block]:
    """Blocks of so many tokens, each of its own letter."""
    letters = [chr(ord(fill) + number).encode() for number in range(len(sizes))]
    return [Block(letter * 4 * size, size) for letter, size in zip(letters, sizes, strict=True)]


def auto(cache: Automatic, blocks: list[Block], now_s: float = 0, model: str = "m") -> Usage:
    call = cache.call(model, blocks, now_s)
    cache.begin(call)
    return call.usage


def again(first: list[Block], then: list[Block], now_s: float = 1, model: str = "m") -> Usage:
    cache = Automatic()
    auto(cache, first)
    return auto(cache, then, now_s, model)


@pytest.mark.parametrize(
    ("tokens", "read"), [(1_023, 0), (1_024, 1_024), (1_151, 1_024), (1_152, 1_152), (5_000, 4_992)]
)
def test_a_prefix_is_read_in_steps_of_128_tokens_from_1024(tokens: int, read: int) -> None:
    assert Usage(input=tokens - read, cache_read=read) == again(texts(tokens), texts(tokens))


def test_nothing_is_ever_paid_for_writing() -> None:
    assert Usage(input=3_000) == auto(Automatic(), texts(1_000, 2_000))


def test_the_prefix_ends_where_the_texts_differ_also_within_a_block() -> None:
    first = [Block(b"a" * 4 * 3_000, 3_000)]
    then = [Block(b"a" * 4 * 2_100 + b"b" * 4 * 900, 3_000)]
    assert 2_048 == again(first, then).cache_read


@pytest.mark.parametrize(("now_s", "read"), [(300, 1_024), (301, 0)])
def test_its_entries_die_too(now_s: float, read: int) -> None:
    assert read == again(texts(1_024), texts(1_024), now_s).cache_read


def test_it_knows_its_models_apart() -> None:
    assert 0 == again(texts(2_000), texts(2_000), model="another").cache_read


def test_its_prefixes_cannot_be_read_before_the_response_begins_either() -> None:
    cache = Automatic()
    first = cache.call("m", texts(1_024), 0)
    assert 0 == cache.call("m", texts(1_024), 0).usage.cache_read
    cache.begin(first)
    assert 1_024 == cache.call("m", texts(1_024), 0).usage.cache_read


@pytest.mark.parametrize("image", [b"one", b"two"])
def test_an_image_by_its_hash_takes_its_tokens(image: bytes) -> None:
    def request(data: bytes) -> list[Block]:
        return [Block(data, 1_600), *texts(500)]

    assert (2_048 if image == b"one" else 0) == again(request(b"one"), request(image)).cache_read


KINDS: tuple[Callable[[], PromptCache | Automatic], ...] = (PromptCache, Automatic)


@pytest.mark.parametrize("kind", KINDS)
def test_an_empty_request_costs_nothing(kind: Callable[[], PromptCache | Automatic]) -> None:
    assert Usage() == kind().call(MODEL, [], 0).usage
