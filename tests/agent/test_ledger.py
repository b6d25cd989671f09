"""The ledger: every call is in it, and no byte of it can change unseen."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from truepenny.agent import event as ev
from truepenny.agent.ledger import Head, read_ledger, verify
from truepenny.agent.sessions import SessionStore
from truepenny.model.message import Text
from truepenny.text.redact import Redactor
from truepenny.tool.admission import Policy
from truepenny.tool.autonomy import Autonomy
from truepenny.tool.contract import CallContext, Tool
from truepenny.tool.outcome import Outcome
from truepenny.tool.result import Facts, Result

from .scripted import calls, says
from .world import BOOM, ECHO, SLOW_WRITE, agent_with, collect, of_type, schema

pytestmark = pytest.mark.anyio


async def ledger_of(root: Path) -> Path:
    script = [
        calls(("c1", "echo", {"text": "hi"}), ("c2", "write", {}), ("c3", "nope", {})),
        calls(("c4", "boom", {})),
        says("done"),
    ]
    tools = (ECHO, SLOW_WRITE, BOOM)
    async with agent_with(root, script, *tools, policy=Policy(autonomy=Autonomy.READ_ONLY)) as (
        agent,
        _,
    ):
        await collect(agent)
        return agent.session.folder / "ledger.jsonl"


async def test_each_call_has_what_was_decided_and_what_came_of_it(tmp_path: Path) -> None:
    rows, found = read_ledger(await ledger_of(tmp_path))
    assert found.intact and found.rows == len(rows) == 8
    by_call = {(row["call"], row["kind"]): row for row in rows}
    assert by_call["c1", "call"]["admission"]["verdict"] == "allow"
    assert by_call["c1", "call"]["arguments"] == {"text": "hi"}
    assert by_call["c2", "call"]["admission"]["reason"] == "read_only"
    assert by_call["c2", "call"]["runs"] is False
    outcomes = {call: row["outcome"] for (call, kind), row in by_call.items() if kind == "outcome"}
    assert outcomes == {
        "c1": "success",
        "c2": "refused",
        "c3": "invalid_arguments",
        "c4": "internal_error",
    }
    assert by_call["c1", "outcome"]["facts"]["command"] == "echo"
    assert len(by_call["c1", "outcome"]["content"]["sha256"]) == 64


async def test_a_flip_of_any_byte_is_found(tmp_path: Path) -> None:
    async with agent_with(tmp_path, [calls(("c1", "echo", {})), says("done")]) as (agent, _):
        await collect(agent)
        path = agent.session.folder / "ledger.jsonl"
    whole = path.read_bytes()
    for at in range(len(whole)):
        for flip in (1, 0x20):
            changed = bytearray(whole)
            changed[at] ^= flip
            path.write_bytes(changed)
            assert verify(path).intact is False, (at, whole[at : at + 1])
    path.write_bytes(whole)
    assert verify(path).intact is True


async def test_rows_that_are_removed_or_moved_are_found(tmp_path: Path) -> None:
    path = await ledger_of(tmp_path)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([lines[0], *lines[2:]]))
    assert verify(path).broken_at == 2
    path.write_bytes(b"".join([lines[1], lines[0], *lines[2:]]))
    assert verify(path).broken_at == 1


async def test_rows_cut_off_at_the_end_are_found_with_the_recorded_head(tmp_path: Path) -> None:
    path = await ledger_of(tmp_path)
    stop = SessionStore(tmp_path, "ada").read(path.parent.name).records[-1]
    head = Head(**stop["ledger"])
    assert verify(path, head).intact is True
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:-2]))
    assert verify(path).intact is True, "the chain alone cannot tell"
    assert verify(path, head).intact is False
    path.unlink()
    assert verify(path, head).intact is None, "no ledger is not a bad one"


async def test_a_damaged_ledger_is_set_aside_and_said_so(tmp_path: Path) -> None:
    path = await ledger_of(tmp_path)
    path.write_bytes(path.read_bytes().replace(b'"hi"', b'"ho"', 1))
    name = path.parent.name
    script = [calls(("c9", "echo", {})), says("ok")]
    async with agent_with(tmp_path, script, session_id=name) as (agent, _):
        await collect(agent, turn_id="later")
    assert verify(path).intact and verify(path).rows == 2
    assert len(list(path.parent.glob("ledger.damaged-*.jsonl"))) == 1
    records = SessionStore(tmp_path, "ada").read(name).records
    assert "ledger_damaged" in [r.get("kind") for r in records if r["type"] == "repair"]


async def test_the_chain_goes_on_in_the_next_process(tmp_path: Path) -> None:
    path = await ledger_of(tmp_path)
    script = [calls(("c9", "echo", {})), says("as [c1] and [c9] show, not [call_77]")]
    async with agent_with(tmp_path, script, session_id=path.parent.name) as (agent, _):
        events = await collect(agent, turn_id="later")
    assert verify(path).rows == 10
    evidence = events[-1].evidence  # type: ignore[union-attr]
    assert evidence == {"resolved": ("c1", "c9"), "unresolved": ("call_77",)}


async def test_arguments_in_the_ledger_are_redacted(tmp_path: Path) -> None:
    redactor = Redactor()
    redactor.learn("s3cret-s3cret-s3cret", "test")
    script = [calls(("c1", "echo", {"text": "s3cret-s3cret-s3cret"})), says("done")]
    async with agent_with(tmp_path, script, redactor=redactor) as (agent, _):
        await collect(agent)
        path = agent.session.folder / "ledger.jsonl"
    assert b"s3cret-s3cret" not in path.read_bytes() and verify(path).intact


@pytest.mark.parametrize(
    "value",
    [1_730_000_000_000_000_000, 10**30, float("nan"), "half \ud800 pair", {"deep": [{}] * 3}],
    ids=["nanoseconds", "huge", "nan", "surrogate", "deep"],
)
async def test_no_argument_and_no_fact_is_too_odd_to_be_recorded(
    tmp_path: Path, value: Any
) -> None:
    async def measure(arguments: Mapping[str, Any], context: CallContext) -> Result:
        return Result(Outcome.SUCCESS, (Text("x"),), Facts(detail={"seen": arguments["at"]}))

    tool = Tool("measure", "Measures.", schema(at={}), measure)
    script = [calls(("c1", "measure", {"at": value})), says("Done [c1].")]
    async with agent_with(tmp_path, script, tool) as (agent, _):
        events = await collect(agent)
        folder = agent.session.folder
    assert events[-1].stop.completed  # type: ignore[union-attr]
    assert [done.outcome for done in of_type(events, ev.ToolFinished)] == ["success"]
    rows, checked = read_ledger(folder / "ledger.jsonl")
    assert checked.intact and [row["kind"] for row in rows] == ["call", "outcome"]
