"""The session store: each user sees their own, one process at a time has a session open."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from truepenny.agent.sessions import NoSession, SessionStore
from truepenny.agent.stats import stats
from truepenny.errors import LockBusy, PolicyDenied, StorageFailed
from truepenny.model.message import StopReason, UserMessage
from truepenny.model.usage import Cost, Usage
from truepenny.system.clock import ManualClock
from truepenny.system.ids import CountingIds

from .scripted import calls, says
from .world import Gate, agent_with, collect

pytestmark = pytest.mark.anyio


async def test_sessions_are_listed_newest_first(tmp_path: Path) -> None:
    clock, ids = ManualClock(), CountingIds()
    store = SessionStore(tmp_path, "ada", clock=clock, ids=ids)
    assert list(store.list()) == []
    for _ in range(3):
        session = await store.create({"origin": "cli"})
        await session.accept("t1", UserMessage(says(f"prompt  of\n{session.id}").content))
        await session.close()
        clock.advance(60)
    entries = store.list()
    assert [entry.id for entry in entries] == ["session_3", "session_2", "session_1"]
    assert entries[0].prompt == "prompt of session_3" and entries[0].turns == 1
    assert all(entry.readable and not entry.damaged for entry in entries)
    assert store.read("session_1").header["about"] == {"origin": "cli"}


async def test_another_user_gets_nothing(tmp_path: Path) -> None:
    session = await SessionStore(tmp_path, "ada").create()
    await session.close()
    other = SessionStore(tmp_path, "bob")
    assert list(other.list()) == []
    with pytest.raises(NoSession):
        other.read(session.id)
    with pytest.raises(NoSession):
        await other.open(session.id)
    for bad in ("../ada/" + session.id, "..", "", ".", "/etc"):
        with pytest.raises(PolicyDenied):
            other.read(bad)
    with pytest.raises(PolicyDenied):
        SessionStore(tmp_path, "../ada").list()


async def test_a_link_out_of_the_users_folder_is_refused(tmp_path: Path) -> None:
    session = await SessionStore(tmp_path, "ada").create()
    await session.close()
    bob = tmp_path / "sessions" / "bob"
    bob.mkdir()
    (bob / session.id).symlink_to(tmp_path / "sessions" / "ada" / session.id)
    store = SessionStore(tmp_path, "bob")
    with pytest.raises(PolicyDenied):
        store.read(session.id)
    assert list(store.list()) == []


async def test_a_folder_that_others_may_write_in_is_not_trusted(tmp_path: Path) -> None:
    store = SessionStore(tmp_path, "ada")
    planted = tmp_path / "sessions" / "ada" / "planted"
    planted.mkdir(parents=True)
    (planted / "transcript.jsonl").write_bytes(b"")
    planted.parent.chmod(0o777)
    for use in (store.list, lambda: store.read("planted")):
        with pytest.raises(PolicyDenied):
            use()
    for opening in (store.open("planted"), store.create()):
        with pytest.raises(PolicyDenied):
            await opening
    planted.parent.chmod(0o700)
    assert [entry.readable for entry in store.list()] == [False]


async def test_folders_and_files_are_private(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        session = await SessionStore(tmp_path / "state", "ada").create()
    finally:
        os.umask(old)
    for path in (session.folder, session.scratch, session.folder.parent):
        assert stat.S_IMODE(path.stat().st_mode) == 0o700, path
    for path in session.folder.glob("*.jsonl"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600, path
    await session.close()


async def test_a_session_is_open_once(tmp_path: Path) -> None:
    store = SessionStore(tmp_path, "ada")
    session = await store.create()
    with pytest.raises(LockBusy):
        await store.open(session.id)
    await session.close()
    await session.close()
    await (await store.open(session.id)).close()


async def test_a_state_folder_that_cannot_be_made_is_a_clear_failure(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file", encoding="utf-8")
    with pytest.raises(StorageFailed) as caught:
        await SessionStore(tmp_path / "state", "ada").create()
    assert caught.value.exit_code == 5 and caught.value.remedy


async def test_an_unreadable_transcript_is_listed_but_not_opened(tmp_path: Path) -> None:
    store = SessionStore(tmp_path, "ada")
    session = await store.create()
    await session.close()
    (session.folder / "transcript.jsonl").write_bytes(b"rubbish\n")
    [entry] = store.list()
    assert not entry.readable and entry.damaged
    with pytest.raises(NoSession):
        await store.open(session.id)


async def test_a_cut_write_is_named_when_the_session_goes_on(tmp_path: Path) -> None:
    async with agent_with(tmp_path, [says("one")]) as (agent, _):
        await collect(agent)
        name, folder = agent.session.id, agent.session.folder
    with (folder / "transcript.jsonl").open("ab") as file:
        file.write(b'{"type":"mess')
    with (folder / "ledger.jsonl").open("ab") as file:
        file.write(b'{"hash":')
    async with agent_with(tmp_path, [says("two")], session_id=name) as (agent, _):
        await collect(agent, turn_id="later")
    found = SessionStore(tmp_path, "ada").read(name)
    assert (found.malformed, found.tail) == (1, "none"), "kept, and counted"
    kinds = [record.get("kind") for record in found.records if record["type"] == "repair"]
    assert kinds == ["cut_write", "ledger_damaged"]


async def test_a_steer_that_was_accepted_survives_the_process(tmp_path: Path) -> None:
    gate = Gate()
    name = ""
    async with agent_with(tmp_path, [calls(("c1", "gate", {}))], gate.tool) as (agent, _):
        session = agent.session
        name = session.id
        await session.accept("t1", UserMessage(says("Why?").content))
        from truepenny.agent.session import Steer

        await session.accept_steer("t1", Steer("s1", "look at staging"))
        await session.accept_steer("t1", Steer("s2", "and then?", "end"))
    script = [says("staging is fine"), says("then nothing")]
    async with agent_with(tmp_path, script, session_id=name) as (agent, model):
        events = await collect(agent, "go on", turn_id="later")
    delivered = [event.steer for event in events if event.type == "steer_delivered"]  # type: ignore[union-attr]
    assert delivered == ["s1", "s2"]
    texts = [m.content[0].text for m in model.seen[-1] if isinstance(m, UserMessage)]  # type: ignore[union-attr]
    assert texts == ["Why?", "go on", "look at staging", "and then?"]
    async with agent_with(tmp_path, [says("x")], session_id=name) as (agent, _):
        assert not agent.session.steers and not agent.session.follow_ups


async def test_a_call_without_a_result_may_or_may_not_have_run(tmp_path: Path) -> None:
    async with agent_with(tmp_path, []) as (agent, _):
        session = agent.session
        await session.accept("t1", UserMessage(says("Why?").content))
        message = calls(("c1", "echo", {}), ("c2", "echo", {}))
        session.append("t1", message)
        verdict = {"verdict": "allow", "reason": "", "rule": ""}
        session.start_call("t1", message.tool_calls[0], {}, verdict, "read", runs=True)
        session.note("t1", "message", role="nobody")
        # The process ends here: nothing more is written.
        name = session.id
    session = await SessionStore(tmp_path, "ada").open(name)
    first, second = session.history.messages[-2:]
    await session.close()
    assert "process_ended" in str(first.content) and "never_ran" in str(second.content)
    found = SessionStore(tmp_path, "ada").read(name)
    reasons = [r["facts"]["reason"] for r in found.records if r["type"] == "result"]
    assert reasons == ["process_ended", "never_ran"]
    assert [r["unusable"] for r in found.records if r["type"] == "resume"] == [1]
    counted = stats(found)
    assert counted.unfinished == 1 and counted.calls == {"interrupted": 2}


async def test_statistics_add_what_was_measured_and_never_across_bases(tmp_path: Path) -> None:
    script = [
        calls(("c1", "echo", {}), usage=Usage(10, 5, cost=Cost(0.25, "USD", "api"))),
        says("done", usage=Usage(20, None, cost=Cost(0.5, "USD", "api"))),
        says("cut", stop=StopReason.MAX_TOKENS, usage=Usage(cost=Cost(9.0, "USD", "estimated"))),
    ]
    async with agent_with(tmp_path, script) as (agent, _):
        await collect(agent)
        await collect(agent, "more")
        found = SessionStore(tmp_path, "ada").read(agent.session.id)
    counted = stats(found)
    assert counted.costs == {"api": {"USD": 0.75}, "estimated": {"USD": 9.0}}
    assert counted.usage is not None
    assert (counted.usage.input_tokens, counted.usage.output_tokens) == (30, 5)
    assert counted.usage.cache_read_tokens is None, "unmeasured is not zero"
    assert counted.stops == {"completed": 1, "cut_answer": 1}
    assert counted.to_json()["costs"][0] == {"basis": "api", "currency": "USD", "amount": 0.75}
