"""Each fault of the fake API, as Anthropic's own package meets it: rows 29 to 32 of what must hold."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import anthropic
import httpx
import httpx2
import pytest
from fake_acts import Act, Call, Fail, Gate, Reset, Think, answer, cut, cut_byte, hold, hold_byte, pings, put, too_long
from fake_acts import without as left_out
from fake_api import FakeApi

from eukhe.model.talk import Usage
from tests.fake_api.fake_kit import BASH, HI, asking, created, posted, sdk, streamed

# --- errors instead of a response ---


@pytest.mark.parametrize("heard", [streamed, created])
@pytest.mark.parametrize(
    ("act", "error", "kind"),
    [
        (Fail(400), anthropic.BadRequestError, "invalid_request_error"),
        (Fail(401), anthropic.AuthenticationError, "authentication_error"),
        (Fail(403), anthropic.PermissionDeniedError, "permission_error"),
        (Fail(404), anthropic.NotFoundError, "not_found_error"),
        (Fail(413), anthropic.RequestTooLargeError, "request_too_large"),
        (Fail(429), anthropic.RateLimitError, "rate_limit_error"),
        (Fail(500), anthropic.InternalServerError, "api_error"),
        (Fail(504), anthropic.DeadlineExceededError, "timeout_error"),
        (Fail(529), anthropic.OverloadedError, "overloaded_error"),
        (too_long(), anthropic.BadRequestError, "invalid_request_error"),
    ],
)
def test_an_error_is_the_packages_own(heard: Any, act: Fail, error: type[Exception], kind: str) -> None:
    with FakeApi([act]) as api, pytest.raises(error) as raised:
        heard(api)
    assert isinstance(raised.value, anthropic.APIStatusError) and isinstance(raised.value.body, dict)
    assert (act.status, "error", kind) == (
        raised.value.status_code,
        raised.value.body["type"],
        raised.value.body["error"]["type"],
    )
    assert raised.value.body["request_id"] == raised.value.request_id == raised.value.response.headers["request-id"]
    assert Usage() == api.spent()


def test_a_rate_limit_says_when_to_come_again() -> None:
    date = "Wed, 21 Oct 2026 07:28:00 GMT"
    with FakeApi([Fail(429, retry_after=3), Fail(529, retry_after=0.5), Fail(429, retry_after=date), Fail(429)]) as api:
        found = [posted(api, asking({})).headers.get("retry-after") for _ in range(4)]
    assert ["3", "0.5", date, None] == found


def test_too_long_a_prompt_is_told_in_its_words() -> None:
    with (
        FakeApi([too_long()]) as api,
        pytest.raises(anthropic.BadRequestError, match=r"prompt is too long: .* maximum"),
    ):
        created(api)


def test_a_prompt_that_is_really_too_long_is_refused_without_being_told_to() -> None:
    messages = [{"role": "user", "content": "x" * 4 * 200_001}]
    with FakeApi() as api, pytest.raises(anthropic.BadRequestError, match="200001 tokens > 200000 maximum"):
        created(api, model="claude-haiku-4-5", messages=messages)


def test_a_request_of_more_than_32_megabytes_is_too_large() -> None:
    with FakeApi() as api:
        response = posted(api, b"x" * (32 * 1024 * 1024 + 1))
    assert (413, "request_too_large") == (response.status_code, response.json()["error"]["type"])


def test_an_error_may_have_a_body_that_is_none_of_the_apis() -> None:
    page = b"<html>502 Bad Gateway</html>"
    with FakeApi([Fail(502, raw=page)]) as api, pytest.raises(anthropic.InternalServerError, match="Bad Gateway"):
        created(api)


# --- no response ---


@pytest.mark.parametrize("how", ["reset", "drop"])
def test_a_connection_may_end_before_there_is_a_response(how: Any) -> None:
    with FakeApi([Reset(how)]) as api:
        with pytest.raises(anthropic.APIConnectionError) as raised:
            created(api)
        assert (0, False) == (api.requests[0].status, api.requests[0].whole)
    cause = httpx2.ReadError if how == "reset" else httpx2.RemoteProtocolError
    assert isinstance(raised.value.__cause__, cause)


def test_what_is_down_cannot_be_reached_and_comes_back_where_it_was() -> None:
    with FakeApi() as api:
        created(api)
        api.go_down()
        with pytest.raises(anthropic.APIConnectionError):
            created(api)
        api.come_back()
        created(api)
        assert 2 == len(api.requests)


def test_who_waits_at_a_gate_when_the_server_goes_down_is_cut_off() -> None:
    gate = Gate()
    with FakeApi([answer("x" * 100_000, hold("message_stop", gate))]) as api, sdk(api) as client:
        with client.messages.stream(**asking({"max_tokens": 100_000})) as stream:
            next(iter(stream))
            assert gate.reached.wait(30)
            api.go_down()
            with pytest.raises(httpx2.RemoteProtocolError):
                stream.until_done()
        assert not api.requests[0].whole


# --- streams that go wrong ---


def events(api: FakeApi) -> list[str]:
    """The types of a stream's events, as the package hands them on."""
    with sdk(api) as client, client.messages.create(**asking({"stream": True})) as stream:
        return [event.type for event in stream]


def test_a_stream_that_just_ends_is_a_success_without_a_stop_reason() -> None:
    """The package takes it so: who calls it must see that the stop event is missing."""
    with FakeApi([answer("hello", cut("message_delta", "end"))]) as api:
        message = streamed(api)
        assert not api.requests[0].whole
    assert ("hello", None) == (message.content[0].text, message.stop_reason)


@pytest.mark.parametrize("twist", [left_out("message_stop"), cut("message_stop", "end")])
def test_a_stop_event_may_be_missing_alone(twist: Any) -> None:
    with FakeApi([answer("hello", twist)]) as api:
        assert "message_delta" == events(api)[-1]


def test_a_stop_reason_may_be_null() -> None:
    with FakeApi([answer("hello", stop="none")]) as api:
        assert streamed(api).stop_reason is None


@pytest.mark.parametrize(("how", "error"), [("drop", httpx2.RemoteProtocolError), ("reset", httpx2.ReadError)])
@pytest.mark.parametrize("at", ["content_block_start", "content_block_delta", "message_delta", "message_stop", 1, 5])
def test_a_stream_may_be_cut_before_any_event(at: Any, how: Any, error: type[Exception]) -> None:
    """Transport errors in mid-stream are not the package's own: they come through as they are."""
    with FakeApi([answer("hello " * 20, cut(at, how))]) as api:
        with pytest.raises(error):
            streamed(api)
        assert api.requests[0].done.wait(30) and not api.requests[0].whole


@pytest.mark.parametrize("count", [0, 1, 200, 450, 700])
def test_a_stream_may_be_cut_at_any_byte(count: int) -> None:
    with FakeApi([answer("hello " * 20, cut_byte(count))]) as api, pytest.raises(httpx2.RemoteProtocolError):
        streamed(api)


def test_an_error_event_in_mid_stream_is_an_error_of_the_package() -> None:
    act = answer("hello", put("content_block_delta", "error"))
    with FakeApi([act]) as api, pytest.raises(anthropic.APIStatusError) as raised:
        streamed(api)
    assert isinstance(raised.value.body, dict)
    assert (200, "overloaded_error") == (raised.value.status_code, raised.value.body["error"]["type"])


def test_garbage_comes_through_as_an_error_of_json() -> None:
    with FakeApi([answer("hello", put("content_block_delta", "garbage"))]) as api, pytest.raises(ValueError):
        streamed(api)


def test_an_unknown_event_is_not_in_the_way() -> None:
    with FakeApi([answer("hello", put("content_block_delta", "unknown"))]) as api:
        names = events(api)
    assert "message_weather" in names and "message_stop" == names[-1]


def test_pings_come_for_ever_and_the_package_hears_nothing_of_them() -> None:
    gate = Gate()
    with FakeApi([answer("hello", pings("content_block_delta", gate))]) as api:
        with httpx.stream(
            "POST", f"{api.base_url}/v1/messages", json=asking({"stream": True}), headers=KEY
        ) as response:
            lines = response.iter_lines()
            assert 5 == sum(next(line for line in lines if "event: ping" in line) != "" for _ in range(5))
        assert api.requests[0].done.wait(30) and not api.requests[0].whole  # the client left
        api.act(answer("hello", pings("content_block_delta", gate)))
        gate.open()
        assert "hello" == streamed(api).content[0].text


KEY = {"x-api-key": "k", "anthropic-version": "2023-06-01"}


@pytest.mark.parametrize("twist", [lambda gate: hold("content_block_stop", gate), lambda gate: hold_byte(520, gate)])
def test_a_stream_is_slow_until_the_test_lets_it_go_on(twist: Any) -> None:
    gate = Gate()
    with FakeApi([answer("hello", twist(gate))]) as api, sdk(api) as client:
        with client.messages.stream(**asking({})) as stream:
            assert "message_start" == next(iter(stream)).type
            assert gate.reached.wait(30)
            assert not api.requests[0].done.is_set()
            gate.open()
            assert "hello" == stream.get_final_text()
        assert api.requests[0].done.wait(30) and api.requests[0].whole


def test_a_client_that_leaves_in_mid_stream_has_paid_for_what_was_sent() -> None:
    gate = Gate()
    with FakeApi([answer("abcd" * 10, Call("bash", {"a": "b" * 400}), hold("message_delta", gate))]) as api:
        with sdk(api) as client, client.messages.stream(**asking({})) as stream:
            next(iter(stream))
            assert gate.reached.wait(30)
        gate.open()
        assert api.requests[0].done.wait(30)
        assert (1, 10) < (api.spent().input, api.spent().output)
        assert Usage() == api.spent(whole=True)


def test_a_cut_stream_is_billed_as_far_as_it_went() -> None:
    with FakeApi([answer("abcd" * 10, "efgh" * 100, cut(5, "end"))]) as api:
        streamed(api)
        assert Usage(input=1, output=10) == api.spent()


def test_an_event_that_is_taken_apart_is_billed_once() -> None:
    gate = Gate()
    gate.open()
    with FakeApi([answer("abcd" * 10, hold_byte(count, gate)) for count in range(600, 900, 50)]) as api:
        assert [10] * 6 == [streamed(api).usage.output_tokens for _ in range(6)]
        assert [10] * 6 == [request.usage.output for request in api.requests]


# --- what a reply may hold ---


@pytest.mark.parametrize(
    "words",
    [
        "8+4|a head",
        "two\nlines",
        "a\0NUL",
        "an \x1b[31mescape",
        "</chat>",
        "Compaction:",
        "</input>",
        "line\u2028and\u0085end",
        "\u202eright to left",
        "a long line " * 120,
    ],
)
@pytest.mark.parametrize("heard", [streamed, created])
def test_a_reply_may_hold_anything(heard: Any, words: str) -> None:
    with FakeApi([answer(words)]) as api:
        assert words == heard(api).content[0].text


@pytest.mark.parametrize("heard", [streamed, created])
def test_a_reply_may_hold_a_lone_surrogate(heard: Any) -> None:
    with FakeApi([answer("half \ud83d of it")]) as api:
        assert "half \ud83d of it" == heard(api).content[0].text


@pytest.mark.parametrize(
    ("said", "kinds"),
    [
        ((), []),
        (("",), ["text"]),
        ((Think("hm"),), ["thinking"]),
        ((Call("bash", {}),), ["tool_use"]),
        ((Think("a"), "b", Call("bash", {}), Call("bash", {"c": 1})), ["thinking", "text", "tool_use", "tool_use"]),
    ],
)
@pytest.mark.parametrize("heard", [streamed, created])
def test_a_reply_may_be_empty_or_any_row_of_blocks(heard: Any, said: Any, kinds: list[str]) -> None:
    with FakeApi([answer(*said)]) as api:
        content = heard(api, thinking={"type": "adaptive"}, tools=[BASH]).content
    assert kinds == [block.type for block in content]
    assert len(content) == len({getattr(block, "id", at) for at, block in enumerate(content)})


@pytest.mark.parametrize(
    ("json", "made"), [('{"a": 1, "command": "rm -rf x', {"a": 1}), ('{"a": 1} and more', {"a": 1}), ("[1]", [1])]
)
def test_a_calls_input_may_be_broken_and_the_package_mends_it_unasked(json: str, made: Any) -> None:
    """Who runs the tool must look at the pieces themselves: what the package makes of them lacks what was cut."""
    with FakeApi([answer(Call("bash", json), stop="length")]) as api:
        (call,) = streamed(api).content
    assert made == call.input


def test_a_calls_input_that_is_no_json_at_all_is_an_error() -> None:
    with FakeApi([answer(Call("bash", "nope"))]) as api, pytest.raises(ValueError, match="tool parameter JSON"):
        streamed(api)


# --- which act is taken ---


def test_acts_are_taken_in_order_and_then_the_agent_answers() -> None:
    acts: list[Act] = [answer("one"), Fail(500), answer("two")]
    with FakeApi(acts) as api:
        found = [posted(api, asking({})) for _ in range(4)]
    assert [200, 500, 200, 200] == [response.status_code for response in found]
    assert "You said: hi" == found[3].json()["content"][0]["text"]


def test_a_function_sees_the_request_and_may_leave_it_to_the_agent() -> None:
    def script(received: Any) -> Act | None:
        return Fail(529) if received.body["max_tokens"] == 7 else None

    with FakeApi(script) as api:
        found = [posted(api, asking({"max_tokens": tokens})).status_code for tokens in (7, 8)]
    assert [529, 200] == found


def test_a_request_that_is_refused_takes_no_act() -> None:
    with FakeApi([answer("for a good one")]) as api:
        assert 400 == posted(api, {"messages": HI}).status_code
        assert "for a good one" == posted(api, asking({})).json()["content"][0]["text"]


def test_a_bug_of_a_script_is_told_at_the_end() -> None:
    def script(received: Any) -> Act:
        raise ZeroDivisionError

    api = FakeApi(script)
    with pytest.raises(anthropic.APIConnectionError):
        created(api)
    with pytest.raises(ZeroDivisionError):
        api.close()


def test_a_place_that_a_response_does_not_have_is_said() -> None:
    api = FakeApi([answer("hello", cut("no such event"))])
    with pytest.raises(anthropic.APIConnectionError):
        created(api)
    with pytest.raises(ValueError, match="no event no such event; it has"):
        api.close()


def test_requests_can_be_awaited_while_they_wait() -> None:
    gate = Gate()
    with FakeApi([answer("late", wait=gate)]) as api, ThreadPoolExecutor(1) as pool:
        late = pool.submit(created, api)
        (received,) = api.wait_for(1)
        assert 0 == received.status
        gate.open()
        assert "late" == late.result().content[0].text
        api.settle()
    assert (200, True) == (received.status, received.whole)
