"""The tool `hypothesis`: what it takes, what it refuses, and what is left of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from truepenny.agent.investigation.hypothesis import Hypotheses, from_json
from truepenny.agent.investigation.silence import Silence
from truepenny.agent.investigation.tool import hypothesis_tool
from truepenny.text.redact import Redactor
from truepenny.tool.contract import CallContext
from truepenny.tool.result import Result

pytestmark = pytest.mark.anyio

OPEN = {"id": "h1", "claim": "the disk is full", "state": "open", "confidence": "low"}


class Kept:
    """The tool over two calls that were made."""

    def __init__(self, scratch: Path) -> None:
        self.held, self.silence = Hypotheses(), Silence()
        self.tool = hypothesis_tool(self.held, self.silence, {"call_1", "call_2", "own"})
        self.context = CallContext("me", "s", "own", scratch, Redactor())

    async def put(self, **fields: Any) -> Result:
        return await self.tool.run({**OPEN, **fields}, self.context)


async def test_a_hypothesis_is_put_down_and_changed(tmp_path: Path) -> None:
    kept = Kept(tmp_path)
    await kept.put()
    result = await kept.put(state="supported", supports=["call_1", "call_1"])
    assert not result.outcome.failed
    held = list(kept.held)
    assert [(one.id, one.state, one.supports) for one in held] == [("h1", "supported", ("call_1",))]


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"supports": ["call_9"]}, "never made: call_9"),
        ({"against": ["own"]}, "never made: own"),
        ({"state": "supported"}, "needs a call in supports"),
        ({"state": "rejected"}, "needs a call in against"),
        ({"explains": "h7"}, "h7, which is not held"),
        ({"explains": "h1"}, "in a circle"),
    ],
)
async def test_what_rests_on_nothing_is_refused(
    tmp_path: Path, fields: dict[str, Any], said: str
) -> None:
    kept = Kept(tmp_path)
    result = await kept.put(**fields)
    assert result.outcome == "invalid_arguments"
    assert said in result.text
    assert len(kept.held) == 0


async def test_causes_form_no_circle(tmp_path: Path) -> None:
    kept = Kept(tmp_path)
    await kept.put()
    await kept.put(id="h2", explains="h1")
    assert "circle" in (await kept.put(explains="h2")).text


async def test_only_a_change_breaks_the_silence(tmp_path: Path) -> None:
    kept = Kept(tmp_path)
    await kept.put()
    kept.silence.calls = 20
    await kept.put()
    assert kept.silence.calls == 20
    await kept.put(confidence="medium")
    assert kept.silence.calls == 0


async def test_a_session_that_goes_on_has_its_hypotheses_again(tmp_path: Path) -> None:
    kept = Kept(tmp_path)
    result = await kept.put(against=["call_2"], state="rejected")
    record = {"type": "result", "tool": "hypothesis", "facts": {"detail": result.facts.detail}}
    again = Hypotheses()
    again.restore([{"type": "turn"}, record, {"type": "result", "tool": "hypothesis", "facts": 3}])
    assert list(again) == list(kept.held)


def test_what_is_no_hypothesis_is_not_read_as_one() -> None:
    assert from_json({**OPEN, "state": "certain"}) is None
    assert from_json({}) is None
