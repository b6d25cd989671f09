"""Containers that ended and run again: what they said, and how far back that reaches."""

from __future__ import annotations

from tests.diagnose.triage.build import Json, ended, pod
from tests.diagnose.triage.test_rules import examine_world
from tests.diagnose.triage.world import Objects
from truepenny.diagnose.triage.finding import Finding


def restarted(minutes: float = 8, restarts: int = 1, name: str = "app", **more: object) -> Json:
    return pod(
        f"{name}-7d9f8b6c5d-abcde",
        owner=("ReplicaSet", f"{name}-7d9f8b6c5d"),
        last=ended(2, minutes=minutes, **more),
        restarts=restarts,
    )


def note(world: Objects) -> Finding:
    examination = examine_world(world)
    assert examination.incidents == ()
    (found,) = examination.notes
    return found


def test_the_log_before_a_late_restart_is_read_and_quoted() -> None:
    world = Objects(
        [restarted()],
        logs=lambda *asked: "panic: divide by zero\ngoroutine 1 [running]" if asked[3] else "fine",
    )
    found = note(world)
    assert "exit code 2" in found.sentence and "crash panic" in found.sentence
    assert "1 restart in 10h" in found.sentence
    assert found.evidence[-1].excerpt == "panic: divide by zero"
    assert "--previous" in found.evidence[-1].command
    assert found.not_checked == ()


def test_a_log_that_is_refused_or_gone_is_said_and_is_no_answer() -> None:
    refused = note(Objects([restarted()], forbidden=["logs"]))
    assert "could not be read (forbidden)" in refused.sentence
    assert any("forbidden" in each for each in refused.not_checked)
    gone = note(Objects([restarted()]))
    assert "there is no log of it" in gone.sentence


def test_an_old_restart_is_counted_and_not_listened_to() -> None:
    world = Objects([restarted(minutes=600, restarts=5)], logs=lambda *_: "panic: no")
    found = note(world)
    assert not [argv for argv in world.asked if argv[0] == "logs"]
    assert "5 restarts in 10h" in found.sentence and "panic" not in found.sentence
    assert any("not read" in each for each in found.not_checked)
    assert any("4 earlier runs" in each for each in found.not_checked)


def test_of_many_the_latest_are_listened_to() -> None:
    names = "abcdefg"
    world = Objects(
        [restarted(minutes=20 + place, name=name) for place, name in enumerate(names)],
        logs=lambda *_: "panic: no",
    )
    examination = examine_world(world)
    heard = [argv[1][0] for argv in world.asked if argv[0] == "logs"]
    assert sorted(heard) == ["a", "b", "c", "d"]
    assert (
        sum(any("not read" in each for each in one.not_checked) for one in examination.notes) == 3
    )


def test_a_termination_message_is_evidence_too() -> None:
    found = note(Objects([restarted(message="panic: lost")], forbidden=["logs"]))
    assert (
        found.evidence[-1].excerpt.endswith(".message: panic: lost")
        and "crash panic" in found.sentence
    )
