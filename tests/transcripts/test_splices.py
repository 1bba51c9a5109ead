"""Files spoiled at random: nothing raises, no whole record is lost, and the second reading is the first again."""

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from transcript_kit import ONE, TWO, Session, all_of, said, text_block

from eukhe.world.transcripts.lines import parse


def talk_of_all_kinds() -> Session:
    session = Session().user("go").answer(text_block("I look."), {"type": "thinking", "thinking": "x"})
    session.call("Bash", {"command": "ls -l", "deep": [{"type": "user"}]}, "c1").result("c1", "a\nb")
    session.queue("enqueue", "and the docs").talk("working").queue("remove").attached("and the docs")
    session.call("Task", {"prompt": "p"}, "c2").result("c2", [text_block("report")]).record("progress", data={"x": 1})
    session.user("a caveat", isMeta=True).user([{"type": "tool_result", "tool_use_id": "c9"}, text_block("so")])
    return session.user("<bash-input>ls</bash-input>").talk("done \U0001f642 äöü")


SESSION = talk_of_all_kinds()
DATA = SESSION.bytes()
# Records that say one thing each, whatever stands around them.
PLAIN = [Session(TWO, seed=f"plain {n}").user(f"whole {n}").lines[0] for n in range(6)]


@contextmanager
def file_of(data: bytes) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.jsonl"
        # A head that is a session's, so that the file is read however little is left of the rest.
        path.write_bytes(b'{"type":"summary","summary":"s","leafUuid":"x"}\n' + data)
        yield path


junk = st.binary(max_size=12) | st.sampled_from(
    [
        b"{",
        b"}",
        b'"',
        b"\\",
        b"\n",
        b"\0" * 40,
        b"\xff",
        b"\xe2\x80\xa8",
        b"[",
        b",",
        b'{"type":"user",',
        b"\\ud800",
        b"{}",
    ]
)
splices = st.lists(st.tuples(st.integers(0, len(DATA)), st.integers(0, 60), junk), min_size=1, max_size=8)


def spliced(data: bytes, cuts: list[tuple[int, int, bytes]]) -> bytes:
    for at, length, new in cuts:
        data = data[:at] + new + data[at + length :]
    return data


@given(splices)
def test_any_splice_is_read_the_same_twice_and_never_raises(cuts: list[tuple[int, int, bytes]]) -> None:
    with file_of(spliced(DATA, cuts)) as path:
        first = all_of(path)
        assert first == all_of(path)
        keys = [message.key for message in said(path)]
        assert len(keys) == len(set(keys))


@given(st.lists(st.sampled_from(SESSION.lines + PLAIN) | st.binary(max_size=80), max_size=30))
def test_any_lines_in_any_order_are_read_and_no_whole_record_is_lost(lines: list[bytes]) -> None:
    with file_of(b"\n".join(lines)) as path:
        found = [message.text for message in said(path)]
    for n, line in enumerate(PLAIN):
        assert found.count(f"whole {n}") == (line in lines)


torn = st.sampled_from(SESSION.lines).flatmap(lambda line: st.integers(1, len(line) - 1).map(lambda end: line[:end]))


@given(st.lists(torn | st.sampled_from(PLAIN), min_size=1, max_size=6))
def test_whole_records_among_torn_ones_on_one_line_are_all_found(parts: list[bytes]) -> None:
    found = [record.get("message", {}).get("content") for record in parse(b"".join(parts)).records]
    wanted = [json.loads(part)["message"]["content"] for part in parts if part in PLAIN]
    assert wanted == [content for content in found if isinstance(content, str) and content.startswith("whole")]


@given(st.data())
def test_the_order_and_the_cuts_of_copies_change_nothing(data: st.DataObject) -> None:
    """Checkpoints of two sessions, cut at any line, under any names, in any order: the longest ones' messages."""
    sessions = [talk_of_all_kinds(), Session(TWO, "2026-03-01T09:00:07+00:00").user("else").talk("so").user("thus")]
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for n, session in enumerate(sessions):
            whole = Path(folder) / f"{data.draw(st.integers(0, 9))}-{n}-whole"
            paths.append(session.write(whole))
            for k, cut in enumerate(data.draw(st.lists(st.integers(1, len(session.lines)), max_size=2))):
                early = Session()
                early.lines = session.lines[:cut]
                paths.append(early.write(Path(folder) / f"{data.draw(st.integers(0, 9))}-{n}-{k}"))
        given_in_order = data.draw(st.permutations(paths))
        assert said(*(path for path in paths if path.name.endswith("whole"))) == said(*given_in_order)


def test_the_sessions_that_are_spoiled_here_are_whole_before() -> None:
    with file_of(DATA) as path:
        assert 12 == len(said(path))
    assert ONE == SESSION.session
