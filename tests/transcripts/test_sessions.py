"""Sessions over files: order, copies, forks, checkpoints, keys."""

import json
from itertools import permutations
from pathlib import Path

import pytest
from transcript_kit import ONE, TWO, Session, all_of, bad, said, texts

from eukhe.limits import KEY_BYTES_MAX
from eukhe.world.transcripts import plan, read

LATER = "2026-03-02T09:00:00.000+00:00"


def copied(lines: list[bytes], session: str) -> list[bytes]:
    """The lines as a resumed session copies them: another sessionId, the same uuids and times."""
    return [json.dumps(json.loads(line) | {"sessionId": session}).encode() for line in lines]


def in_any_order(*paths: Path) -> list[str]:
    """The texts of these files, which must not depend on the order in which they are given."""
    found = {tuple((message.text, message.key) for message in said(*order)) for order in permutations(paths)}
    assert 1 == len(found)
    return [text for text, _ in found.pop()]


def test_sessions_come_in_the_order_of_their_first_messages(tmp_path: Path) -> None:
    later = Session(ONE, LATER).user("later").write(tmp_path / "a.jsonl")
    early = Session(TWO).user("early").write(tmp_path / "b.jsonl")
    assert ["early", "later"] == in_any_order(later, early)
    with plan([tmp_path]) as planned:
        assert (2, (later, early)) == (planned.sessions, planned.files)


def test_what_says_nothing_does_not_decide_when_a_session_begins(tmp_path: Path) -> None:
    session = Session(ONE, "2026-02-01T00:00:00+00:00").record("system", subtype="x").user("caveat", isMeta=True)
    session.now = session.now.replace(month=4)
    late = session.user("april").write(tmp_path / "a.jsonl")
    assert ["march", "april"] == in_any_order(late, Session(TWO).user("march").write(tmp_path / "b.jsonl"))


def test_inside_a_session_the_file_decides_whatever_the_times_say(tmp_path: Path) -> None:
    session = Session().user("one").user("two", timestamp="2026-03-01T08:00:00.000Z").user("three")
    assert ["one", "two", "three"] == texts(session.write(tmp_path / "a.jsonl"))


def test_a_date_is_the_sources_in_whole_seconds(tmp_path: Path) -> None:
    session = Session().user("a", timestamp="2026-03-01T09:00:00.999Z").user("b", timestamp="2026-03-01T11:00:01+02:00")
    wanted = ["2026-03-01T09:00:00+00:00", "2026-03-01T11:00:01+02:00"]
    assert wanted == [message.date for message in said(session.write(tmp_path / "a.jsonl"))]


@pytest.mark.parametrize("stamp", [None, "yesterday", 17, ""])
def test_a_record_without_a_time_has_the_nearest_one_before_it(tmp_path: Path, stamp: object) -> None:
    session = Session().user("a", timestamp=stamp).user("b").user("c", timestamp=stamp)
    wanted = ["2026-03-01T09:00:01+00:00"] * 3
    assert wanted == [message.date for message in said(session.write(tmp_path / "a.jsonl"))]


def test_a_file_without_any_time_has_its_own(tmp_path: Path) -> None:
    import os

    path = Session().user("a", timestamp=None).write(tmp_path / "a.jsonl")
    os.utime(path, (1_700_000_000, 1_700_000_000))
    assert ["2023-11-14T22:13:20+00:00"] == [message.date for message in said(path)]


def test_doubled_records_come_once_and_the_first_copy_counts(tmp_path: Path) -> None:
    session = Session().user("one").talk("two")
    for line in copied(session.lines[:2], ONE):
        session.raw(line.replace(b'"two"', b'"two, rewritten"'))
    assert ["one", "two", "three"] == texts(session.user("three").write(tmp_path / "a.jsonl"))


def test_a_resumed_session_comes_once_in_either_order(tmp_path: Path) -> None:
    first = Session(ONE).user("one").talk("two")
    second = Session(TWO, first.now.isoformat(), seed="second")
    for line in copied(first.lines, TWO):
        second.raw(line)
    second.user("three").talk("four")
    paths = first.write(tmp_path / "z.jsonl"), second.write(tmp_path / "a.jsonl")
    assert ["one", "two", "three", "four"] == in_any_order(*paths)
    assert ["one", "two", "three", "four"] == texts(paths[1])


def test_a_fork_that_went_on_beside_its_parent_comes_behind_it(tmp_path: Path) -> None:
    first = Session(ONE).user("one").talk("two")
    second = Session(TWO, first.now.isoformat(), seed="second")
    for line in copied(first.lines, TWO):
        second.raw(line)
    second.user("fork a").talk("fork b").talk("fork c")
    first.user("parent a").talk("parent b")
    paths = first.write(tmp_path / "z.jsonl"), second.write(tmp_path / "a.jsonl")
    assert ["one", "two", "parent a", "parent b", "fork a", "fork b", "fork c"] == in_any_order(*paths)


def test_checkpoints_of_one_session_come_once_also_when_the_clock_went_back(tmp_path: Path) -> None:
    session = Session()
    paths = []
    for n in range(4):
        session.user(f"u{n}").talk(f"t{n}")
        paths.append(session.write(tmp_path / f"{9 - n}.jsonl"))
        session.now = session.now.replace(minute=(7 * n) % 5)
    assert [f"{kind}{n}" for n in range(4) for kind in "ut"] == in_any_order(*paths)


def test_a_checkpoint_cut_inside_a_line_comes_once(tmp_path: Path) -> None:
    session = Session().user("one").talk("two").user("three")
    whole = session.write(tmp_path / "b.jsonl")
    cut = tmp_path / "a.jsonl"
    cut.write_bytes(session.bytes()[:-10])
    assert ["one", "two", "three"] == in_any_order(cut, whole)
    assert [(str(cut), 3)] == [(fault.path, fault.line) for fault in bad(cut, whole)]


def test_a_copy_under_another_name_adds_nothing_and_has_the_same_keys(tmp_path: Path) -> None:
    session = Session().user("one").talk("two").queue("enqueue", "three").queue("remove")
    first, copy = session.write(tmp_path / "a.jsonl"), session.write(tmp_path / "sub" / "copy.txt")
    assert [message.key for message in said(first)] == [message.key for message in said(copy)]
    assert ["one", "two", "three"] == in_any_order(first, copy)


def test_a_grown_file_adds_its_tail_only(tmp_path: Path) -> None:
    session = Session().user("one").call("Bash", {}, "c1").result("c1", "out")
    before = said(session.write(tmp_path / "a.jsonl"))
    after = said(session.talk("two").write(tmp_path / "a.jsonl"))
    assert before == after[:3]
    assert ["two"] == [message.text for message in after[3:]]


@pytest.mark.parametrize("stamped", [True, False])
def test_records_without_an_id_have_keys_of_their_own_that_stay(tmp_path: Path, stamped: bool) -> None:
    fields = {"uuid": None} | ({} if stamped else {"timestamp": None})
    session = Session()
    for text in ("go on", "go on", "stop", "go on"):
        session.user(text, **fields)
    first = said(session.write(tmp_path / "a.jsonl"))
    grown = said(session.user("go on", **fields).write(tmp_path / "b.jsonl"))
    assert ["go on", "go on", "stop", "go on"] == [message.text for message in first]
    assert 5 == len({message.key for message in grown})
    assert [message.key for message in first] == [message.key for message in grown[:4]]
    assert ["go on", "go on", "stop", "go on", "go on"] == in_any_order(tmp_path / "a.jsonl", tmp_path / "b.jsonl")


def test_an_undated_record_of_another_session_is_another_message(tmp_path: Path) -> None:
    paths = [
        Session(session).user("go on", uuid=None, timestamp=None).write(tmp_path / f"{session}.jsonl")
        for session in (ONE, TWO)
    ]
    assert ["go on", "go on"] == texts(*paths)


def test_short_ids_that_two_sessions_gave_by_chance_are_two_messages(tmp_path: Path) -> None:
    paths = [
        Session(name).user(text, uuid="u1").write(tmp_path / name) for name, text in ((ONE, "first"), (TWO, "second"))
    ]
    assert {"first", "second"} == set(texts(*paths))


def test_an_empty_id_is_none(tmp_path: Path) -> None:
    assert ["a", "b"] == texts(Session().user("a", uuid="").user("b", uuid="").write(tmp_path / "a.jsonl"))


def test_keys_are_short_whatever_the_ids_are(tmp_path: Path) -> None:
    session = Session("s" * 5_000)
    for uuid in ("u" * 5_000, "ü\0\ud800 \n", "u" * 5_001):
        session.user("x", uuid=uuid)
    messages = said(session.queue("enqueue", "y").queue("remove").write(tmp_path / "a.jsonl"))
    assert 4 == len({message.key for message in messages})
    assert all(len(message.key.encode()) <= KEY_BYTES_MAX for message in messages)


def test_the_messages_of_one_record_have_keys_of_their_own(tmp_path: Path) -> None:
    session = Session().answer(
        {"type": "text", "text": "a"},
        {"type": "tool_use", "id": "c", "name": "N", "input": {}},
        {"type": "text", "text": "a"},
    )
    assert 3 == len({message.key for message in said(session.write(tmp_path / "a.jsonl"))})


def test_two_session_ids_in_one_chain_are_one_conversation_in_file_order(tmp_path: Path) -> None:
    session = Session(ONE).user("plan", sessionId=TWO).talk("step 1").talk("step 2", sessionId=TWO).talk("step 3")
    path = session.write(tmp_path / "a.jsonl")
    between = Session("33333333-3333-4333-8333-333333333333", "2026-03-01T09:00:01.500+00:00").user("else")
    assert ["plan", "step 1", "step 2", "step 3", "else"] == in_any_order(path, between.write(tmp_path / "b.jsonl"))
    with plan([path]) as planned:
        assert 1 == planned.sessions


def test_a_chain_may_pass_through_records_that_say_nothing(tmp_path: Path) -> None:
    session = Session(ONE).user("a").record("progress", sessionId=TWO).talk("b").talk("c", sessionId=TWO)
    with plan([session.write(tmp_path / "a.jsonl")]) as planned:
        assert (1, ["a", "b", "c"]) == (planned.sessions, [message.text for message in read(planned)])


def test_long_chains_of_sessions_are_one_conversation(tmp_path: Path) -> None:
    names = [f"{n:08d}-0000-4000-8000-000000000000" for n in (5, 3, 9, 1, 7, 2, 8)]
    session = Session()
    for name in names:
        session.user(name, sessionId=name)
    with plan([session.write(tmp_path / "a.jsonl")]) as planned:
        assert (1, names) == (planned.sessions, [message.text for message in read(planned)])


def test_records_in_another_sessions_file_go_to_their_own_in_the_order_of_time(tmp_path: Path) -> None:
    one, two = Session(ONE).user("one a"), Session(TWO, "2026-03-01T09:00:10+00:00").user("two a")
    stray = Session(TWO, "2026-03-01T09:00:20+00:00", seed="stray").user("two b")
    two.now = two.now.replace(second=30)
    two.user("two c")
    one.raw(stray.lines[0])
    one.now = one.now.replace(second=40)
    one.user("one b")
    paths = one.write(tmp_path / "a.jsonl"), two.write(tmp_path / "b.jsonl")
    assert ["one a", "one b", "two a", "two b", "two c"] == in_any_order(*paths)


def test_a_record_without_a_session_goes_with_the_one_before_it(tmp_path: Path) -> None:
    session = Session().user("a")
    session.raw(b'{"type":"assistant","uuid":"x","message":{"content":"b"}}').user("c")
    with plan([session.write(tmp_path / "a.jsonl")]) as planned:
        assert (1, ["a", "b", "c"]) == (planned.sessions, [message.text for message in read(planned)])


def test_a_file_that_begins_in_the_middle_is_read(tmp_path: Path) -> None:
    session = Session()
    session.parent = "gone"
    assert ["a", "b"] == texts(session.talk("a").user("b").write(tmp_path / "a.jsonl"))


def test_branches_are_all_kept_in_file_order(tmp_path: Path) -> None:
    session = Session().user("a")
    session.talk("left")
    session.parent = None
    session.user("a, edited").talk("right")
    assert ["a", "left", "a, edited", "right"] == texts(session.write(tmp_path / "a.jsonl"))


def test_a_torn_line_is_named_and_costs_only_itself(tmp_path: Path) -> None:
    session = Session().user("a").raw(b'{"type":"user","uuid":"x","mess').raw(b"").talk("b").raw(b"\0\0\0")
    path = session.write(tmp_path / "a.jsonl")
    assert ["a", "b"] == texts(path)
    ((name, line, why),) = [(fault.path, fault.line, fault.why) for fault in bad(path)]
    assert (str(path), 2) == (name, line)
    assert "no whole record" in why


def test_what_only_looks_like_a_record_inside_a_torn_line_is_none(tmp_path: Path) -> None:
    inner = b'{"type":"user","uuid":"x","timestamp":"2026-03-01T09:00:00Z","message":{"content":"inner"}}'
    session = Session().user("a").raw(b'{"type":"progress","data":' + inner)
    assert ["a"] == texts(session.write(tmp_path / "a.jsonl"))


def test_a_record_behind_a_torn_one_keeps_its_place(tmp_path: Path) -> None:
    session = Session().user("a").talk("b").user("c")
    session.lines[1] = b'{"type":"pr-link","prNu' + session.lines[1] + session.lines.pop(2)
    path = session.write(tmp_path / "a.jsonl")
    assert ["a", "b", "c"] == texts(path)
    assert [2] == [fault.line for fault in bad(path)]


def test_the_file_is_not_changed(tmp_path: Path) -> None:
    path = Session().user("a").raw(b"torn").write(tmp_path / "a.jsonl")
    before = path.read_bytes(), path.stat().st_mtime_ns
    path.chmod(0o400)
    all_of(path)
    assert before == (path.read_bytes(), path.stat().st_mtime_ns)


def test_a_file_that_shrank_between_the_passes_is_named(tmp_path: Path) -> None:
    path = Session().user("a").talk("b").write(tmp_path / "a.jsonl")
    with plan([path]) as planned:
        path.write_bytes(path.read_bytes()[:100])
        faults = list(read(planned))
    assert ["changed" in fault.why for fault in faults] == [True, True]


def test_a_file_that_went_away_between_the_passes_is_named(tmp_path: Path) -> None:
    gone = Session().user("a").talk("b").write(tmp_path / "a.jsonl")
    Session(TWO).user("c").write(tmp_path / "b.jsonl")
    with plan([tmp_path]) as planned:
        gone.unlink()
        items = list(read(planned))
    assert 3 == len(items)
    assert {"c"} == {item.text for item in items if hasattr(item, "text")}


def test_progress_hears_all_bytes_of_both_passes(tmp_path: Path) -> None:
    session = Session().user("a").record("system").talk("b")
    for line in copied(session.lines, TWO):
        session.raw(line)
    path = session.write(tmp_path / "a.jsonl")
    scanned: list[int] = []
    told: list[int] = []
    with plan([path], scanned.append) as planned:
        assert sum(scanned) == planned.bytes == path.stat().st_size
        assert 2 == len(list(read(planned, told.append)))
        assert sum(told) == planned.bytes_to_read < planned.bytes


def test_a_plan_can_be_read_twice(tmp_path: Path) -> None:
    with plan([Session().user("a").raw(b"torn").write(tmp_path / "a.jsonl")]) as planned:
        assert list(read(planned)) == list(read(planned))


def test_an_export_of_the_web_is_the_same_session(tmp_path: Path) -> None:
    session = Session().user("a").call("Bash", {}, "c").result("c", "out").talk("b")
    records = [json.loads(line) for line in session.lines]
    for name, indent in (("compact", None), ("indented", 2)):
        (tmp_path / name).write_text(json.dumps({"version": 1, "title": 'a "b"', "loglines": records}, indent=indent))
    path = session.write(tmp_path / "a.jsonl")
    assert said(path) == said(tmp_path / "compact") == said(tmp_path / "indented")
    assert said(path) == said(tmp_path)


def test_a_cut_export_gives_its_whole_records_and_says_so(tmp_path: Path) -> None:
    records = [json.loads(line) for line in Session().user("a").talk("b").user("c").lines]
    path = tmp_path / "cut.json"
    path.write_text(json.dumps({"loglines": records})[:-20])
    assert ["a", "b"] == texts(path)
    assert 1 == len(bad(path))
