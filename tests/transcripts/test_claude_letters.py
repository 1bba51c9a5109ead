"""Texts of other senders in user lines: other sessions, teammates, agents, channels."""

from pathlib import Path

import pytest
from transcript_kit import Session, all_of, kinds_and_texts, said

from eukhe.world.transcripts.claude_letters import letters
from eukhe.world.transcripts.claude_user import reported_tasks, words_of

ANNOUNCED = "Another Claude session sent a message:\n"
PEER = '<cross-session-message from="uds:/run/7.sock" from-name="scout">\n  Is <main> free?\n</cross-session-message>'
MATE = '<teammate-message teammate_id="scout" color="blue" summary="15 > 12">\nThe tests pass.\n</teammate-message>'
IDLE = '<teammate-message teammate_id="scout">\n{"type":"idle_notification","from":"scout"}\n</teammate-message>'
IDLE_DONE = IDLE.replace('"from"', '"result":"Two bugs.","from"')
NOTE = "\n\nThis came from another session, not from your user."
HANDED_BACK = (
    '<agent-message from="ab12">\n[Subagent hand-back] Not a message from the user. The report follows:\n'
    "  [harness: it speaks of settings]\n  \n  Two bugs:\n    - one\n  \n  Done.\n</agent-message>"
)
CHAT = '<channel source="plugin:chat" chat_id="7" message_id="9">\nship it\n</channel>'
HOOK = '<channel source="builds" severity="high">\nmain is red\n</channel>'


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (ANNOUNCED + PEER + NOTE, [("work", "Is <main> free?")]),
        (
            "A peer session sent a message while you were working:\nmain is free" + NOTE,
            [("work", "main is free" + NOTE)],
        ),
        (MATE, [("work", "The tests pass.")]),
        (f"{MATE}\n{IDLE}\n{IDLE_DONE}", [("work", "The tests pass."), ("work", "Two bugs.")]),
        (IDLE, []),
        (ANNOUNCED + HANDED_BACK + NOTE, [("work", "Two bugs:\n  - one\n\nDone.")]),
        (CHAT, [("user", "ship it")]),
        (HOOK, [("work", "main is red")]),
        (f"{HOOK}\nlook into it", [("work", "main is red"), ("user", "look into it")]),
        ("<ci-event>\nmain is red\n</ci-event>", [("work", "main is red")]),
        ("<ci-event>red</ci-event> is what it shows", [("user", "<ci-event>red</ci-event> is what it shows")]),
        ("<my-button> does not show", [("user", "<my-button> does not show")]),
        ("Another Claude session sent a message, why?", [("user", "Another Claude session sent a message, why?")]),
        (MATE.removesuffix("</teammate-message>"), [("user", MATE.removesuffix("</teammate-message>"))]),
        (f"what is this?\n{MATE}", [("user", f"what is this?\n{MATE}")]),
        ('<teammate-message teammate_id="a">\n{not json}\n</teammate-message>', [("work", "{not json}")]),
    ],
)
@pytest.mark.rule("3")
def test_a_letter_is_its_senders(text: str, words: list[tuple[str, str]]) -> None:
    assert words == [tuple(word) for word in words_of(text)]


def test_a_text_that_is_no_letter_is_none() -> None:
    assert letters("go on") is None


@pytest.mark.parametrize("letter", [PEER, MATE, CHAT])
def test_a_letter_counts_also_where_the_line_is_the_programs_or_waited_its_turn(tmp_path: Path, letter: str) -> None:
    wanted = [tuple(word) for word in words_of(letter)]
    for session in (
        Session().user(letter, isMeta=True, origin={"kind": "peer"}),
        Session().user(letter, promptSource="system"),
        Session().queue("enqueue", letter).queue("remove", letter),
        Session().attached(letter, isMeta=True, origin={"kind": "channel"}),
        Session().queue("enqueue", letter).queue("remove").attached(letter, isMeta=True),
    ):
        assert wanted == kinds_and_texts(all_of(session.write(tmp_path / "a.jsonl")))


@pytest.mark.parametrize("kind", ["peer", "task-notification"])
def test_what_another_sent_is_work_without_a_letter_too(tmp_path: Path, kind: str) -> None:
    session = Session().user("All is sound.", origin={"kind": kind}).attached("So is this.", origin={"kind": kind})
    wanted = [("work", "All is sound."), ("work", "So is this.")]
    assert wanted == kinds_and_texts(all_of(session.write(tmp_path / "a.jsonl")))


def test_a_report_quoted_behind_words_is_the_users_where_the_program_says_they_typed_it(tmp_path: Path) -> None:
    text = "why this?\n<task-notification>\n<result>All sound.</result>\n</task-notification>"
    assert [("user", "why this?"), ("work", "All sound.")] == [tuple(word) for word in words_of(text)]
    path = Session().user(text, origin={"kind": "human"}).write(tmp_path / "a.jsonl")
    assert [("user", text)] == kinds_and_texts(all_of(path))


def test_an_agent_whose_report_came_as_a_letter_has_reported(tmp_path: Path) -> None:
    assert ["ab12"] == list(reported_tasks(ANNOUNCED + HANDED_BACK))
    fields = {"isSidechain": True, "agentId": "ab12"}
    agent = Session(seed="agent").user("look for bugs", **fields).talk("Two bugs.", **fields)
    master = Session().user("check it").user(ANNOUNCED + HANDED_BACK, isMeta=True, origin={"kind": "peer"})
    paths = master.write(tmp_path / "a.jsonl"), agent.write(tmp_path / "agent-ab12.jsonl")
    assert ["check it", "Two bugs:\n  - one\n\nDone."] == [message.text for message in said(*paths)]


@pytest.mark.parametrize("tag", ["<teammate-message>", '<channel a="', "<a-b>", '<agent-message from="'])
def test_letters_opened_and_never_closed_take_no_more_than_linear_time(tag: str) -> None:
    text = f"{MATE}\n" + f"{tag}\n" * 200_000  # with time growing as the square this would not end
    assert ["work", "user"] == [word.kind for word in words_of(text)]
    assert [] == list(reported_tasks(tag * 200_000))
