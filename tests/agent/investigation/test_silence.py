"""After twenty silent calls the one admission denies further ones, until something is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.agent.scripted import ScriptedModel, calls, says
from tests.agent.world import ECHO, collect, of_type
from truepenny.agent import event as ev
from truepenny.agent.agent import Agent
from truepenny.agent.investigation.investigation import Investigation
from truepenny.agent.investigation.silence import MOST_SILENT_CALLS
from truepenny.agent.limits import Limits
from truepenny.agent.sessions import SessionStore
from truepenny.system.clock import ManualClock
from truepenny.system.ids import CountingIds
from truepenny.tool.admission import Admission, Policy
from truepenny.tool.registry import Registry

pytestmark = pytest.mark.anyio


async def outcomes(tmp_path: Path, script: list[object]) -> tuple[list[str], ev.RunFinished]:
    """What each call of a scripted deep investigation came to."""
    clock, ids = ManualClock(), CountingIds()
    session = await SessionStore(tmp_path, "me", clock=clock, ids=ids).create()
    deep = Investigation(session.ledger.calls)
    agent = Agent(
        model=ScriptedModel(script),  # type: ignore[arg-type]
        registry=Registry([ECHO, deep.tool]),
        admission=Admission(Policy(), deep.silence.judge),
        session=session,
        limits=Limits(max_tool_calls=200),
        clock=clock,
        ids=ids,
        investigation=deep,
    )
    try:
        async with agent:
            events = await collect(agent)
    finally:
        await session.close()
    last = events[-1]
    assert isinstance(last, ev.RunFinished)
    done = of_type(events, ev.ToolFinished)
    return [one.facts["reason"] or one.outcome for one in done], last


def echoes(first: int, count: int, text: str = "") -> object:
    wanted = [(f"c{n}", "echo", {"text": f"line {n}"}) for n in range(first, first + count)]
    return calls(*wanted, text=text)


def hypothesis(call: str, confidence: str = "low") -> object:
    fields = {"id": "h1", "claim": "it is c1", "state": "open", "confidence": confidence}
    return calls((call, "hypothesis", {**fields, "supports": ["c1"]}))


async def test_the_call_after_twenty_silent_ones_is_denied(tmp_path: Path) -> None:
    script = [echoes(1, MOST_SILENT_CALLS), echoes(50, 2), says("Done.")]
    found, _ = await outcomes(tmp_path, script)
    assert found == ["success"] * MOST_SILENT_CALLS + ["checkpoint_due"] * 2


async def test_visible_text_or_a_changed_hypothesis_lets_calls_through_again(
    tmp_path: Path,
) -> None:
    script = [
        echoes(1, 20),
        hypothesis("x1"),
        echoes(30, 20),
        hypothesis("x2"),  # the same once more: nothing became visible
        echoes(60, 1),
        echoes(70, 20, text="Two things are left: c1 and c2."),
        says("Done."),
    ]
    found, last = await outcomes(tmp_path, script)
    assert [n for n, one in enumerate(found) if one == "checkpoint_due"] == [42]
    assert [one["id"] for one in last.hypotheses] == ["h1"]


async def test_the_end_of_a_run_tells_what_its_sentences_rest_on(tmp_path: Path) -> None:
    answer = 'It says "line 1" [c1]. It says "line 9" [c1]. The disk is full.'
    _, last = await outcomes(tmp_path, [echoes(1, 2), says(answer)])
    verdicts = [one["verdict"] for one in last.claims["sentences"]]
    assert verdicts == ["contained", "not_contained", "uncited"]
