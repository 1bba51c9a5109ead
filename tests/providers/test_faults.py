"""What goes wrong with a call, in both forms: before its response began, and after. Rows 30 to 32 of what must hold."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from itertools import chain, count, repeat

import pytest
from fake_acts import Act, Fail, Gate, Reset, Twist, answer, cut, cut_byte, hold, pings, put, too_long

from eukhe.actors.ports import Broke, Key, Outage, Replied, Responding, TurnRequest
from eukhe.model.talk import Usage
from eukhe.world.providers.anthropic_form import Messages
from eukhe.world.providers.calls import caller
from eukhe.world.providers.draft import told
from eukhe.world.providers.openai_form import Completion
from eukhe.world.worker_wire import Order
from tests.providers.provider_kit import FORMS, MODELS, FormName, end, fake, heard, talk
from tests.worker_kit import WAIT_S

pytestmark = pytest.mark.parametrize("form", FORMS)

STORY = "A story, told in pieces that come one after the other, until it ends. " * 4


# --- no response ---


@pytest.mark.rule("D13")
@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 504, 529])
def test_a_provider_in_trouble_is_an_outage_that_says_when_to_come_again(form: FormName, status: int) -> None:
    with fake(form, [Fail(status, "try later", retry_after=7), Fail(status)]) as api:
        first, second = end(api.turn()), end(api.line())
    assert isinstance(first, Outage) and isinstance(second, Outage)
    assert (7.0, False, None, False) == (first.retry_after_s, first.key, second.retry_after_s, second.key)
    shown = 503 if (form, status) == ("openai", 529) else status  # its form has no 529
    assert f"{form}: {shown} " in first.why and "try later" in first.why


@pytest.mark.rule("D13")
@pytest.mark.parametrize(
    "act",
    [
        Fail(401),
        Fail(402),
        Fail(403),
        Fail(404),
        Fail(400, "Your credit balance is too low to access the API."),
        Fail(429, "You exceeded your current quota, please check your plan.", "insufficient_quota"),
        Fail(400, "API key not valid. Please pass a valid API key."),
        Fail(307, "moved"),
    ],
)
def test_what_only_a_key_or_a_setting_can_change_waits_for_that(form: FormName, act: Fail) -> None:
    with fake(form, [act]) as api:
        last = end(api.turn())
    assert isinstance(last, Outage)
    assert last.key
    assert "; see to the " in last.why


@pytest.mark.parametrize(
    "act",
    [
        too_long(),
        Fail(413),
        Fail(400, "This model's maximum context length is 8192 tokens", "context_length_exceeded"),
        Fail(400, "the request exceeds the available context size", "exceed_context_size_error"),
        Fail(429, "Request too large for gpt-5 on tokens per min (TPM): Limit 30000, Requested 99999."),
    ],
)
def test_what_is_too_long_is_said_and_never_sent_again(form: FormName, act: Fail) -> None:
    with fake(form, [act]) as api:
        last = end(api.turn())
        assert 1 == len(api.fake.requests)
    assert isinstance(last, Broke)
    assert last.final
    assert "too long for this model" in last.why
    assert "memory.viewBytes" in last.why


@pytest.mark.parametrize("act", [Fail(400, "tools.0: is wrong"), Fail(422, "is wrong"), Fail(418, "is wrong")])
def test_a_request_that_is_wrong_is_a_failed_call_in_the_providers_words(form: FormName, act: Fail) -> None:
    with fake(form, [act]) as api:
        last = end(api.turn())
    assert isinstance(last, Broke)
    assert last.final
    assert "is wrong" in last.why


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (b"<html><head><style>a {}</style></head><body><h1>Bad gateway</h1>nginx</body></html>", "Bad gateway nginx"),
        (b"", ""),
        (b"\xff\xfe", "\ufffd\ufffd"),
        (b'{"detail": "loading model"}', "loading model"),
        (b'{"error": "loading model"}', "loading model"),
        (b'[{"error": {"code": 503, "message": "loading model", "status": "UNAVAILABLE"}}]', "loading model"),
        (b"x" * 100_000, "x" * 100),
    ],
)
def test_an_error_in_no_known_form_is_told_shortly(form: FormName, raw: bytes, said: str) -> None:
    with fake(form, [Fail(503, raw=raw)]) as api:
        last = end(api.turn())
    assert isinstance(last, Outage)
    assert said in last.why
    assert len(last.why) < 500


@pytest.mark.rule("D13")
@pytest.mark.parametrize("how", ["drop", "reset", "end"])
def test_a_connection_that_ends_before_a_response_is_an_outage(form: FormName, how: str) -> None:
    with fake(form, [Reset(how)]) as api:  # type: ignore[arg-type]
        last = end(api.turn())
    assert isinstance(last, Outage), last
    assert f"{form}: no response: " in last.why
    assert not last.key


@pytest.mark.rule("D13")
def test_a_server_that_is_not_there_is_an_outage(form: FormName) -> None:
    with fake(form) as api:
        order = api.turn()
    last = end(order)
    assert isinstance(last, Outage)
    assert "ConnectError" in last.why or "refused" in last.why


def answering(data: bytes) -> AbstractContextManager[tuple[str, list[socket.socket]]]:
    """A server that says this to whoever comes, and no more."""

    def say(connection: socket.socket) -> None:
        connection.recv(65_536)
        connection.sendall(data)
        connection.close()

    return listening(say)


@pytest.mark.rule("D13")
@pytest.mark.parametrize("body", [b'{"error": {"mess', b""])
def test_an_error_whose_body_breaks_off_is_what_its_status_says(form: FormName, body: bytes) -> None:
    head = b"HTTP/1.1 401 Unauthorized\r\ncontent-type: application/json\r\ncontent-length: 999\r\n\r\n"
    with answering(head + body) as (address, _):
        last = end(Order(1, TurnRequest(MODELS[form], talk()), Key(form, "sk-one", address)))
    assert isinstance(last, Outage)
    assert last.key
    assert f"{form}: 401" in last.why


def test_a_key_is_not_taken_to_where_a_server_points(form: FormName) -> None:
    with listening() as (elsewhere, came):
        moved = f"HTTP/1.1 307 Moved\r\nlocation: {elsewhere}/\r\ncontent-length: 0\r\n\r\n".encode()
        with answering(moved) as (address, _):
            last = end(Order(1, TurnRequest(MODELS[form], talk()), Key(form, "sk-one", address)))
        assert [] == came
    assert isinstance(last, Outage)
    assert last.key
    assert f"{form}: 307" in last.why


@contextmanager
def listening(
    says: Callable[[socket.socket], object] = lambda connection: None,
) -> Iterator[tuple[str, list[socket.socket]]]:
    """A port that notes who connects to it, and what it says to them."""
    came: list[socket.socket] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def take() -> None:
            while True:
                try:
                    came.append(server.accept()[0])
                except OSError:
                    return
                says(came[-1])

        thread = threading.Thread(target=take)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}", came
        server.shutdown(socket.SHUT_RDWR)
        thread.join()
    for connection in came:
        connection.close()


def test_without_a_key_nobody_is_even_asked(form: FormName) -> None:
    with fake(form) as api:
        asked = api.turn()
        for key in (None, Key(form, "")):
            last = end(Order(1, asked.request, key))
            assert isinstance(last, Outage)
            assert f"no key for {form}: set {form.upper()}_API_KEY, or choose another model" == last.why
            assert last.key
        assert [] == api.fake.requests


def test_a_server_of_the_users_own_may_want_no_key(form: FormName) -> None:
    with fake(form, [answer("yes")]) as api:
        last = end(Order(1, api.turn().request, Key(form, "", api.key.base_url)))
    assert isinstance(last, Replied)
    assert "yes" == last.text


@pytest.mark.parametrize("slash", ["", "/"])
def test_an_address_is_taken_with_and_without_a_slash_and_a_version_where_that_is_known(
    form: FormName, slash: str
) -> None:
    with fake(form) as api:
        bases = [api.key.base_url, f"{api.key.base_url}/v1"] if form == "anthropic" else [api.key.base_url]
        for base in bases:
            last = end(Order(1, api.turn().request, Key(form, "sk-one", base + slash)))
            assert isinstance(last, Replied), last


@pytest.mark.parametrize("value", ["sk-\u00fc", "sk-a\nb", "sk-\x7f"])
def test_a_key_that_is_none_is_not_sent(form: FormName, value: str) -> None:
    with listening() as (address, came):
        last = end(Order(1, TurnRequest(MODELS[form], talk()), Key(form, value, address)))
        assert [] == came
    assert isinstance(last, Outage)
    assert last.key
    assert value not in last.why


# --- a response that breaks ---


def broken(form: FormName, act: Act) -> Broke:
    """How a call ends whose response began and broke."""
    with fake(form, [act]) as api:
        events = heard(api.turn())
    assert isinstance(events[0], Responding), events
    last = events[-1]
    assert isinstance(last, Broke), last
    assert form == "openai" or last.usage is not None
    assert not last.final
    return last


@pytest.mark.parametrize("how", ["drop", "reset"])
def test_a_stream_that_breaks_is_a_failed_call_that_says_so(form: FormName, how: str) -> None:
    assert f"{form}: the response broke off: " in broken(form, answer(STORY, cut(6, how))).why  # type: ignore[arg-type]


def test_a_stream_that_just_ends_is_a_failed_call(form: FormName) -> None:
    assert "the stream ended without " in broken(form, answer(STORY, cut(6, "end"))).why


def test_a_stream_cut_at_any_byte_after_its_beginning_is_a_failed_call_or_whole(form: FormName) -> None:
    with fake(form, [answer("A story.")]) as api:
        heard(api.turn())
    for size in range(0, 2_000, 41):
        for how in ("drop", "end"):
            with fake(form, [answer("A story.", cut_byte(size, how))]) as api:  # type: ignore[arg-type]
                events = heard(api.turn())
            last = events[-1]
            if isinstance(last, Replied):
                assert "A story." == last.text
            elif isinstance(last, Outage):
                assert 1 == len(events)
            else:
                assert isinstance(last, Broke)


def test_a_stream_without_a_reason_to_stop_is_a_failed_call(form: FormName) -> None:
    assert "without a reason to " in broken(form, answer(STORY, stop="none")).why


@pytest.mark.parametrize("odd", ["error", "garbage"])
def test_what_does_not_belong_into_a_stream_breaks_it(form: FormName, odd: str) -> None:
    last = broken(form, answer(STORY, put(6, odd)))  # type: ignore[arg-type]
    assert "the response broke off: " in last.why or "no JSON" in last.why, last.why


@pytest.mark.parametrize("odd", ["ping", "unknown"])
def test_pings_and_events_that_nobody_knows_are_passed_over(form: FormName, odd: str) -> None:
    with fake(form, [answer(STORY, put(6, odd), put(2, odd))]) as api:  # type: ignore[arg-type]
        last = end(api.turn())
    assert isinstance(last, Replied), last
    assert STORY == last.text


@pytest.mark.rule("D13")
def test_an_error_before_anything_was_said_is_as_one_without_a_stream(form: FormName) -> None:
    with fake(form, [answer(STORY, put(0, "error"))]) as api:
        events = heard(api.turn())
    assert isinstance(events[0], Outage), events
    assert 1 == len(events)


@pytest.mark.parametrize("twist", [put(0, "garbage"), cut(0, "end")])
def test_a_response_that_is_none_is_a_failed_call(form: FormName, twist: Twist) -> None:
    with fake(form, [answer(STORY, twist, cut(1, "end"))]) as api:
        last = end(api.turn())
    assert isinstance(last, Broke)
    assert form in last.why


PINGS = {
    "anthropic": [
        b'event: message_start\ndata: {"type":"message_start","message":{"usage":{"input_tokens":3}}}\n\n',
        b'event: ping\ndata: {"type":"ping"}\n\n',
    ],
    "openai": [b'data: {"choices":[{"index":0,"delta":{"role":"assistant"}}]}\n\n', b": ping\n\n"],
}


def test_a_provider_that_only_pings_is_waited_for_no_longer_than_one_that_says_nothing(form: FormName) -> None:
    order = Order(1, TurnRequest(MODELS[form], talk()))
    reading = Messages(order) if form == "anthropic" else Completion(order)
    begun, ping = PINGS[form]
    seconds = count(0, 7)
    events = list(told(form, chain([begun], repeat(ping)), reading, silence_s=20, clock=lambda: float(next(seconds))))
    assert [Responding, Broke] == [type(event) for event in events]
    assert Broke(f"{form}: nothing of a reply came for 20 s", reading.usage) == events[-1]
    assert form == "openai" or reading.usage == Usage(input=3)


ENDS = {
    "anthropic": b'data: {"type":"message_delta","delta":{"stop_reason":"end_turn"}}\n\n'
    b'data: {"type":"message_stop"}\n\n',
    "openai": b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n',
}


def test_what_follows_the_end_is_not_waited_for(form: FormName) -> None:
    order = Order(1, TurnRequest(MODELS[form], talk()))
    reading = Messages(order) if form == "anthropic" else Completion(order)

    def chunks() -> Iterator[bytes]:
        yield PINGS[form][0]
        yield ENDS[form] + PINGS[form][0]
        raise AssertionError("it reads on")

    assert [Responding, Replied] == [type(event) for event in told(form, chunks(), reading)]


def test_what_is_said_is_told_before_more_comes(form: FormName) -> None:
    gate = Gate()
    with fake(form, [answer(STORY, hold(6, gate))]) as api:
        events = caller(api.model)(api.turn())
        assert isinstance(next(events), Responding)
        next(events)
        assert gate.reached.wait(WAIT_S)
        gate.open()
        assert isinstance(list(events)[-1], Replied)


def test_a_call_that_is_let_go_closes_its_connection(form: FormName) -> None:
    gate = Gate()
    with fake(form, [answer(STORY, pings(6, gate))]) as api:
        events = caller(api.model)(api.turn())
        next(events)
        events.close()  # type: ignore[attr-defined]
        api.fake.settle()
        assert not api.fake.requests[0].whole
