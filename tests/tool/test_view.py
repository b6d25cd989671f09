from __future__ import annotations

import json
from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from truepenny.model.message import Image, Text
from truepenny.tool.outcome import Cause, Leg, Outcome
from truepenny.tool.result import (
    ByteCounts,
    Completeness,
    ExitFact,
    Facts,
    Result,
)
from truepenny.tool.view import NO_OUTPUT, model_content, summary, to_json


def text(result: Result, call_id: str = "") -> str:
    first = model_content(result, call_id)[0]
    assert isinstance(first, Text)
    return first.text


FULL = Result(
    Outcome.INTERRUPTED,
    (Text("some output"), Image("image/png", b"12345")),
    Facts(
        duration=1.25,
        completeness=Completeness("partial", "line limit", "lines", 10, 40, "--tail=40"),
        redactions={"jwt": 2, "password": 1},
        bytes=ByteCounts(900, 100, 300, 500, "/scratch/x.txt"),
        sandbox="landlock",
        exit=ExitFact(observed=137, effective=0, signal=9, stages=(1, 137)),
        cause=Cause.MEMORY,
        leg=Leg.TRANSPORT,
        reason="killed_for_memory",
        hint="ask for less",
        command="kubectl get pods",
        source={"cluster": "production", "namespace": "shop"},
        detail={"rows": 10},
    ),
)


@pytest.mark.parametrize(
    "fact",
    [
        "call_7", "outcome interrupted", "cause memory", "leg transport",
        "reason killed_for_memory",
        "exit 137", "effective exit 0", "signal 9", "stages 1,137", "sandbox landlock", "1.25 s",
        "partial: line limit; showing 10 of 40 lines; next: --tail=40",
        "900 observed, 100 kept, 300 discarded, 500 in /scratch/x.txt",
        "redacted 3: jwt 2, password 1", "hint: ask for less", "command: kubectl get pods",
        "cluster production, namespace shop",
    ],
)  # fmt: skip
def test_every_fact_that_matters_is_in_the_text(fact: str) -> None:
    assert fact in text(FULL, "call_7")


def test_nothing_is_said_that_is_not_known() -> None:
    quiet = text(Result(Outcome.SUCCESS, (Text("x"),)))
    assert quiet == "[outcome success | sandbox none | 0.00 s | complete]\n\nx"
    unknown = Result(Outcome.INTERRUPTED, facts=Facts(exit=ExitFact()))
    assert "exit unknown" in text(unknown)
    never = Result(Outcome.SUCCESS, facts=Facts(completeness=Completeness("unknown")))
    assert "complete]" not in text(never)
    assert "unknown: no reason known" in text(never)


def test_an_empty_content_says_so() -> None:
    assert text(Result(Outcome.SUCCESS)).endswith(f"\n\n{NO_OUTPUT}")


@given(st.text(), st.text())
def test_what_a_target_wrote_cannot_pose_as_a_fact(body: str, command: str) -> None:
    result = Result(Outcome.TARGET_FAILED, (Text(body),), Facts(command=command))
    head, _, rest = text(result).partition("\n\n")
    lines = head.split("\n")
    assert lines[0].startswith("[outcome target_failed")
    assert len(lines) == (2 if command else 1)
    assert all(line.startswith("[") and line.endswith("]") for line in lines)
    assert rest == (body or NO_OUTPUT)


def test_json_has_every_fact_and_is_json() -> None:
    made = json.loads(json.dumps(to_json(FULL)))
    assert set(made["facts"]) == {field.name for field in fields(Facts)}
    assert made["facts"]["exit"] == {
        "observed": 137,
        "effective": 0,
        "signal": 9,
        "stages": [1, 137],
    }
    assert made["content"][1] == {"type": "image", "media_type": "image/png", "bytes": 5}


def test_images_follow_the_text() -> None:
    assert model_content(FULL)[1:] == (Image("image/png", b"12345"),)


def test_a_summary_is_one_line() -> None:
    assert summary(FULL) == (
        "interrupted, memory, transport, killed_for_memory, exit 137, partial, 3 redacted (1.25 s)"
    )


def test_notes_stand_where_no_target_can_write() -> None:
    facts = Facts(notes=("2 processes left behind", "two\nlines"))
    result = Result(Outcome.SUCCESS, (Text("[2 processes left behind]\n"),), facts)
    (part,) = model_content(result)
    assert isinstance(part, Text)
    head, _, body = part.text.partition("\n\n")
    assert head.splitlines()[-2:] == ["[2 processes left behind]", "[two lines]"]
    assert body == "[2 processes left behind]\n"
    assert to_json(result)["facts"]["notes"] == list(facts.notes)
