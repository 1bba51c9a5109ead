"""Secrets: what is one, what is none, and the marks that stand for them."""

import json
import subprocess
from pathlib import Path

import orjson
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from eukhe.model.secret_shapes import SHAPES, is_secret, own_secrets
from eukhe.model.secrets import Secrets
from eukhe.model.talk import Reply, Text, Thought, Use
from tests.secret_kit import DIGITS, KEYS, LETTERS, pem, some

ROOT = Path(__file__).resolve().parent.parent
OWN = {
    "DB_PASSWORD": "tr0ub4dor&3",
    "QUOTED_SECRET": 'a"b\\c d1é',
    "SPACED_TOKEN": "two words 42 and more",
    "LONG": "]x[secret 1",
}

pieces = (
    st.sampled_from([*KEYS.values(), *OWN.values()])
    | st.text(max_size=6)
    | st.sampled_from(
        [
            " ",
            "\n",
            "=",
            '"',
            "_",
            "-",
            "[secret",
            "[secret x 12345678]",
            "Authorization: Bearer ",
            "-----BEGIN ",
            "x" * 50,
        ]
    )
)
texts = st.lists(pieces, max_size=8).map("".join)


# --- what is hidden ---


@pytest.mark.rule("D16")
@pytest.mark.parametrize("name", KEYS)
@pytest.mark.parametrize(
    "around", ["{}", "key={} and more", '{{"key": "{}"}}', "export KEY='{}'\n", "({}),", "é{}é", "+{}"]
)
def test_a_key_of_a_known_shape_is_hidden_wherever_it_stands(name: str, around: str) -> None:
    key = KEYS[name]
    hidden = Secrets({}).hide(around.format(key))
    head, tail = around.format("\0").split("\0")
    assert hidden.startswith(f"{head}[secret {name.split()[0]} ")
    assert hidden.endswith(f"]{tail}")
    assert len(head + tail) + len(f"[secret {name.split()[0]} 12345678]") == len(hidden)


@pytest.mark.rule("D16")
@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "token", "Basic"])
@pytest.mark.parametrize(
    "around",
    [
        "Authorization: {}",
        "authorization:{}",
        '-H "Authorization: {}"',
        '{{"Authorization": "{}"}}',
        r"{{\"Authorization\": \"{}\"}}",
    ],
)
def test_what_an_authorization_header_holds_is_hidden_and_its_scheme_is_not(scheme: str, around: str) -> None:
    value = some(40) + ("" if scheme == "Basic" else "." + some(80) + "." + some(43) + "_-")
    hidden = Secrets({}).hide(around.format(f"{scheme} {value}"))
    head, tail = around.format(f"{scheme} \0").split("\0")
    kind = "basic_login" if scheme == "Basic" else "bearer_token"
    assert hidden.startswith(f"{head}[secret {kind} ")
    assert hidden.endswith(f"]{tail}")
    assert value not in hidden


@pytest.mark.rule("D16")
def test_a_private_key_whose_end_was_cut_off_is_hidden_too() -> None:
    whole = pem()
    cut = whole[: len(whole) // 2 // 65 * 65]
    assert "[secret private_key " in Secrets({}).hide(cut)
    assert cut.split("\n")[2] not in Secrets({}).hide(cut)


@pytest.mark.rule("D16")
@pytest.mark.parametrize("name", OWN)
def test_a_value_of_the_environment_is_hidden_even_within_a_word_and_in_json(name: str) -> None:
    secrets = Secrets(OWN)
    assert OWN[name] not in secrets.hide(f"x{OWN[name]}y")
    within = json.dumps({"command": f"curl -d {json.dumps(OWN[name])}"})
    assert OWN[name] not in json.loads(json.loads(secrets.hide_json(within))["command"].partition("-d ")[2])


@pytest.mark.rule("D16")
def test_a_short_value_can_not_be_found_by_trying_words_against_its_mark() -> None:
    one, other = Secrets({"PIN_TOKEN": "hunter22"}), Secrets({"PIN_TOKEN": "hunter23"})
    assert one.hide("hunter22") == other.hide("hunter23")


def test_a_known_key_has_the_same_mark_whether_the_environment_has_it_or_not() -> None:
    key = KEYS["anthropic_key"]
    assert Secrets({}).hide(key) == Secrets({"SOME_KEY": key}).hide(key)
    assert Secrets({}).hide(key) != Secrets({}).hide("sk-" + "ant-" + some(60))


# --- what is not ---


@pytest.mark.rule("D16")
@pytest.mark.parametrize(
    "text",
    [
        "sk-learn, task-based-classification-of-many-words-0123, disk-0123456789",
        "-----BEGIN CERTIFICATE-----\nMIIB" + "A" * 60 + "\n-----END CERTIFICATE-----",
        "-----BEGIN PRIVATE" + " KEY-----\n…\n",
        "Authorization: Bearer $TOKEN, Authorization: Bearer <token>, Authorization: Bearer YOUR_ACCESS_TOKEN_HERE",
        "authorization is a long word; Authorization: Basic auth",
        "0123456789abcdef" * 8,
        "commit 6d1e6e8c0ffee0123456789abcdef0123456789a",
        "npm_config_cache, hf_transfer, ghp_short, AKIAshort, xoxo-hugs",
    ],
)
def test_nothing_vaguer_is_hidden(text: str) -> None:
    assert text == Secrets(OWN).hide(text)


@pytest.mark.rule("D16")
def test_nothing_in_the_projects_own_files_and_bundled_sessions_is_taken_for_a_secret() -> None:
    names = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False).stdout.split(
        "\n"
    )
    files = [path for name in names if name and (path := ROOT / name).is_file()] or sorted(
        (ROOT / "eukhe").rglob("*.py")
    )
    found = [
        (path.name, match.group())
        for path in [*files, *sorted((ROOT / "eukhe" / "demo").glob("*.jsonl"))]
        for match in SHAPES.finditer(path.read_text(errors="replace"))
    ]
    assert [] == found


@pytest.mark.rule("D16")
@pytest.mark.parametrize(
    "value",
    [
        *("short1", "postgres", "change-me-please", "true", "8192000", "2026-10-05"),
        *("/etc/keys/db.key", "~/.netrc", "./x.pem", "/tmp-x/ssh-Ab12/agent.41", "https://" + "localhost:8080/auth"),
        "a" * 5_000,
    ],
)
def test_a_word_a_number_or_a_path_is_no_secret_whatever_its_variable_is_called(value: str) -> None:
    assert not is_secret(value)
    assert {} == own_secrets({"MY_TOKEN": value})


def test_of_an_environment_the_secrets_are_those_that_are_called_so() -> None:
    value = some(20)
    secret = [
        "OPENAI_API_KEY",
        "MYTOKEN",
        "DB_PASSWORD",
        "AWS_SECRET_ACCESS_KEY",
        "npm_config__auth",
        "KEY2",
        "PGPASSWORD",
    ]
    plain = ["GIT_AUTHOR_NAME", "KEYBOARD", "TOKENIZERS_PARALLELISM", "XAUTHORITY", "PATH", "COMPASSION"]
    assert set(secret) == set(own_secrets(dict.fromkeys([*secret, *plain], value)))


# --- marks ---


@pytest.mark.rule("D16")
@given(texts)
@example(KEYS["aws_key"] + OWN["DB_PASSWORD"])
@example(OWN["LONG"][0] + KEYS["github_token"])
def test_hidden_twice_is_hidden_once_and_what_is_hidden_comes_back(text: str) -> None:
    secrets = Secrets(OWN)
    hidden = secrets.hide(text)
    assert hidden == secrets.hide(hidden)
    assert text == secrets.reveal(hidden) or "[secret x 12345678]" in text
    for value in OWN.values():
        assert value not in hidden.replace("[secret", "") or "[secret" in value


@pytest.mark.rule("D16")
@given(
    st.lists(st.sampled_from([*KEYS.values()]), min_size=1, max_size=5), st.text(" \n,;'\"()", min_size=1, max_size=3)
)
def test_no_known_key_survives_among_others(keys: list[str], between: str) -> None:
    hidden = Secrets({}).hide(between.join(keys))
    assert [] == [key for key in keys if key in hidden]


@pytest.mark.rule("D16")
@given(texts, st.lists(st.integers(1, 400), min_size=1, max_size=8))
@example("Authorization: Bearer " + some(300), [1])
@example(f"a {OWN['SPACED_TOKEN']} b", [1])
@example(f"see {pem()} there", [7])
@example("say [secret x 12345678] and -----BEGIN PRIVATE" + " KEY----- is no key", [1])
def test_a_text_that_comes_in_pieces_is_hidden_as_the_whole_would_be(text: str, sizes: list[int]) -> None:
    secrets = Secrets(OWN)
    stream = secrets.stream()
    shown, at, turn = "", 0, 0
    while at < len(text):
        size = sizes[turn % len(sizes)]
        shown += stream.take(text[at : at + size])
        at, turn = at + size, turn + 1
    assert secrets.hide(text) == shown + stream.rest()


def test_of_a_stream_only_its_last_word_is_held_back() -> None:
    stream = Secrets(OWN).stream()
    assert ["one ", "two ", ""] == [stream.take(piece) for piece in ("one tw", "o thr", "ee")]
    assert "three" == stream.rest()
    assert "" == stream.rest()


def test_what_one_stream_held_back_comes_before_the_next_goes_on() -> None:
    streams = Secrets(OWN).streams()
    assert [("text", "I ")] == streams.take("text", "I look.")
    assert [("text", "look.")] == streams.take("use", "{}")
    assert [("use", "{}"), ("text", "And ")] == streams.take("text", "And so")
    assert [("text", "so")] == streams.rest()
    assert [] == streams.rest()


def test_what_is_held_of_a_stream_is_bounded() -> None:
    stream = Secrets(OWN).stream()
    shown = [len(stream.take("sk-ant-" + "a" * 1_000)) for _ in range(200)]
    assert max(sum(shown[:at]) for at in range(200)) > 0
    assert len(stream.rest()) <= 40_000


def test_a_mark_that_nobody_made_stays_as_it_is() -> None:
    assert "[secret aws_key 00000000]" == Secrets({}).reveal("[secret aws_key 00000000]")


def test_a_tools_input_is_hidden_and_revealed_in_its_strings_and_nothing_else_of_it_changes() -> None:
    secrets = Secrets(OWN)
    given_ = f'{{ "command":"echo {OWN["DB_PASSWORD"]}",  "n": 1.50, "n": 2 }}'
    hidden = secrets.hide_json(given_)
    assert OWN["DB_PASSWORD"] not in hidden
    assert given_ == secrets.reveal_json(hidden)
    assert '{"a": 1.0}' == secrets.hide_json('{"a": 1.0}')
    key = pem()
    assert key == orjson.loads(secrets.reveal_json(secrets.hide_json(json.dumps({"text": key}))))["text"]
    assert "no JSON [secret DB_PASSWORD " in secrets.hide_json("no JSON " + OWN["DB_PASSWORD"])
    deep = "[" * 900 + json.dumps(OWN["DB_PASSWORD"]) + "]" * 900
    assert deep == secrets.reveal_json(secrets.hide_json(deep))


def test_a_reply_is_hidden_but_for_its_thoughts_which_go_back_as_they_came() -> None:
    secrets, key = Secrets({}), KEYS["npm_token"]
    thought = Thought("anthropic", json.dumps(key))
    reply = Reply((thought, Text(f"it is {key}"), Use("1", "bash", json.dumps({"command": key}))), "tools")
    mark = secrets.hide(key)
    shown = (thought, Text(f"it is {mark}"), Use("1", "bash", json.dumps({"command": mark})))
    assert Reply(shown, "tools") == secrets.hide_reply(reply)


def test_letters_and_digits_of_the_kit_are_what_keys_are_made_of() -> None:
    assert set(some(500)) <= set(LETTERS + DIGITS)
