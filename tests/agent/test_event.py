"""The run events: a closed set of flat JSON objects."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from typing import Any, get_args

import pytest

from truepenny.agent import event as ev
from truepenny.agent.stop import Stop, StopKind
from truepenny.model.failure import Failure, FailureKind
from truepenny.model.usage import Cost, Usage

from .scripted import calls, fails
from .world import agent_with, collect


def test_every_event_is_in_the_closed_set_under_its_own_name() -> None:
    kinds = get_args(ev.RunEvent)
    assert set(ev.TYPES.values()) == set(kinds) and len(ev.TYPES) == len(kinds)
    defined = {
        value
        for value in vars(ev).values()
        if isinstance(value, type) and value.__module__ == ev.__name__ and value is not ev._Fields
    }
    assert defined == set(kinds)


def test_the_names_and_keys_of_version_1_stay() -> None:
    keys = {name: [field.name for field in fields(kind)] for name, kind in ev.TYPES.items()}
    assert keys == {
        "run_started": ["session", "user", "model", "tools", "resumed", "time", "v"],
        "turn_started": ["turn", "prompt", "time"],
        "model_started": ["turn", "model", "request", "messages"],
        "text_delta": ["turn", "text"],
        "thinking_delta": ["turn", "text"],
        "quirk": ["turn", "kind", "detail"],
        "learned": ["turn", "capability", "value", "because"],
        "tool_started": ["turn", "call", "tool", "arguments", "admission", "runs"],
        "tool_progress": ["turn", "call", "tool", "line"],
        "tool_finished": [
            "turn", "call", "tool", "outcome", "failed", "facts", "summary", "progress_dropped",
        ],
        "steer_accepted": ["turn", "steer", "when", "text"],
        "steer_delivered": ["turn", "steer"],
        "repair": ["turn", "kind", "where", "detail"],
        "retry": ["turn", "kind", "message", "attempt", "delay"],
        "usage": ["turn", "model", "usage"],
        "notice": ["turn", "kind", "message"],
        "error": ["turn", "kind", "message"],
        "turn_finished": ["turn", "stop", "undelivered"],
        "run_finished": [
            "turn", "stop", "answer", "answer_state", "totals", "evidence", "claims", "hypotheses",
            "recorded", "session",
        ],
    }  # fmt: skip
    assert ev.VERSION == 1


@pytest.mark.anyio
async def test_every_event_of_a_run_is_one_line_of_json(tmp_path: Path) -> None:
    usage = Usage(10, 5, cost=Cost(0.1, "USD", "api"))
    script: list[Any] = [
        calls(("c1", "echo", {"text": "a\nb"}), ("c1", "nope", {}), text="x", usage=usage),
        fails(FailureKind.OVERLOADED, retry_after=1),
        fails(FailureKind.AUTH, status=401),
    ]
    async with agent_with(tmp_path, script) as (agent, _):
        events = await collect(agent)
    for event in events:
        made = event.to_json()
        assert json.loads(json.dumps(made)) == json.loads(json.dumps(made, default=str))
        assert made["type"] == event.type and "\n" not in json.dumps(made)
    end = events[-1].to_json()
    assert end["stop"]["kind"] == "model_failed" and end["stop"]["failure"]["status"] == 401
    assert end["totals"]["usage"]["cost"] == {"amount": 0.1, "currency": "USD", "basis": "api"}


@pytest.mark.parametrize("kind", list(StopKind))
def test_every_stop_has_an_exit_code_and_only_a_whole_answer_has_zero(kind: StopKind) -> None:
    stop = Stop(kind)
    assert (stop.exit_code == 0) is (kind is StopKind.COMPLETED) is stop.completed
    assert json.loads(json.dumps(stop.to_json()))["kind"] == kind.value


@pytest.mark.parametrize("kind", list(FailureKind))
def test_every_failure_has_an_exit_code(kind: FailureKind) -> None:
    stop = Stop(StopKind.MODEL_FAILED, failure=Failure(kind, "x"))
    assert stop.exit_code in (1, 3, 5)
