"""Subagents: their talk is not imported, their report is, whether or not the master's file has it."""

from pathlib import Path

from transcript_kit import TWO, Session, all_of, kinds_and_texts, said, text_block

NOTIFICATION = "<task-notification>\n<task-id>ab12</task-id>\n<result>All sound.</result>\n</task-notification>"


def agent_session(prompt: str = "look for bugs", agent: str = "ab12") -> Session:
    """A subagent's own file: an order, a step, a last word."""
    session = Session(begin="2026-03-01T09:00:01.500+00:00", seed=agent)
    fields = {"isSidechain": True, "agentId": agent}
    session.user(prompt, **fields)
    session.answer(text_block("I look."), {"type": "tool_use", "id": "x", "name": "Read", "input": {}}, **fields)
    return session.result("x", "text", **fields).talk("Two bugs.", **fields)


def master(result: bool = True, **outcome: str) -> Session:
    session = Session().user("check it").call("Task", {}, "c1")
    if result:
        session.result("c1", "Two bugs.", toolUseResult={"status": "completed", "agentId": "ab12"} | outcome)
    return session.talk("go on")


CHECKED = [("user", "check it"), ("tool", "Task {}")]


def test_an_agents_own_file_says_nothing_when_its_master_has_the_report(tmp_path: Path) -> None:
    paths = master().write(tmp_path / "a.jsonl"), agent_session().write(tmp_path / "a" / "agent-ab12.jsonl")
    assert [*CHECKED, ("work", "Two bugs."), ("eukhe", "go on")] == kinds_and_texts(all_of(*paths))


def test_the_last_words_of_an_agent_are_its_report_when_its_masters_file_has_none(tmp_path: Path) -> None:
    paths = master(result=False).write(tmp_path / "a.jsonl"), agent_session().write(tmp_path / "agent-ab12.jsonl")
    assert [*CHECKED, ("eukhe", "go on"), ("work", "Two bugs.")] == kinds_and_texts(all_of(*paths))
    assert [("work", "Two bugs.")] == kinds_and_texts(all_of(paths[1]))


def test_a_launch_note_is_no_report_and_a_notification_is(tmp_path: Path) -> None:
    launched = master(status="async_launched")
    agent = agent_session().write(tmp_path / "agent.jsonl")
    assert ("work", "Two bugs.") in kinds_and_texts(all_of(launched.write(tmp_path / "a.jsonl"), agent))
    launched.user(NOTIFICATION)
    reports = [
        pair for pair in kinds_and_texts(all_of(launched.write(tmp_path / "a.jsonl"), agent)) if pair[0] == "work"
    ]
    assert [("work", "All sound.")] == reports


def test_a_notification_in_the_queue_counts_as_the_report(tmp_path: Path) -> None:
    launched = master(status="async_launched").queue("enqueue", NOTIFICATION).queue("remove")
    paths = launched.write(tmp_path / "a.jsonl"), agent_session().write(tmp_path / "agent.jsonl")
    assert [("work", "All sound.")] == [pair for pair in kinds_and_texts(all_of(*paths)) if pair[0] == "work"]


def test_a_subagent_inside_its_masters_file_says_nothing(tmp_path: Path) -> None:
    session = Session().user("check it").call("Task", {}, "c1")
    for line in agent_session().lines:
        session.raw(line)
    assert CHECKED == kinds_and_texts(all_of(session.write(tmp_path / "a.jsonl")))


def test_an_agent_that_only_warmed_a_cache_reports_nothing(tmp_path: Path) -> None:
    assert [] == all_of(agent_session("Warmup").write(tmp_path / "agent.jsonl"))


def test_of_an_agents_growing_files_the_last_words_count(tmp_path: Path) -> None:
    session = agent_session()
    early = Session(seed="x").raw(session.lines[0]).raw(session.lines[1]).write(tmp_path / "z.jsonl")
    assert [("work", "I look.")] == kinds_and_texts(all_of(early))
    assert [("work", "Two bugs.")] == kinds_and_texts(all_of(early, session.write(tmp_path / "a.jsonl")))


def test_every_agent_reports_for_itself(tmp_path: Path) -> None:
    paths = [agent_session(agent=name).write(tmp_path / f"{name}.jsonl") for name in ("ab12", "cd34")]
    assert 2 == len(said(*paths))
    assert 2 == len({message.key for message in said(*paths)})


def test_an_agent_without_an_id_says_nothing(tmp_path: Path) -> None:
    session = Session(TWO).user("order", isSidechain=True).talk("report", isSidechain=True)
    assert [] == all_of(session.write(tmp_path / "a.jsonl"))
