"""What is said of a crash whose log holds no reason."""

from __future__ import annotations

from tests.diagnose.triage.build import crashing, ended, pod, waiting
from tests.diagnose.triage.test_rules import examine_world
from tests.diagnose.triage.world import Objects
from truepenny.diagnose.triage.finding import Finding


def crash(code: int, log: str | None) -> Finding:
    world = Objects([crashing(code)], logs=lambda *_: log)
    (incident,) = examine_world(world).incidents
    return incident.root


def test_a_log_that_ends_within_a_line_is_said_to() -> None:
    found = crash(78, '{"level":"info"}\n{"level":"fat')
    assert "ends in the middle of a line" in found.sentence and "78" in found.sentence
    assert found.confidence == "low"
    assert "the place is not known" in found.steps[0].text


def test_a_conventional_exit_code_alone_is_no_certain_cause() -> None:
    for code, log, said in (
        (78, "starting\n", "its log does not say why"),
        (64, "", "its log is empty"),
        (1, None, "there is no log of it"),
        (2, "line\n" * 80, "the last 80 lines of its log do not say why"),
    ):
        found = crash(code, log)
        assert said in found.sentence and found.confidence == "low", found.sentence


def test_a_log_that_says_why_leaves_no_such_words() -> None:
    found = crash(78, "cannot parse /etc/app/app.yaml: line 3: did not find expected key")
    assert found.cause == "crash_configuration" and "log" not in found.sentence
    assert found.confidence == "medium"


def test_the_termination_message_stands_in_for_a_log_that_is_refused() -> None:
    last = ended(1, message="connecting\nDB_URL is not set")
    broken = pod(state=waiting("CrashLoopBackOff"), last=last, restarts=4, ready=False)
    (incident,) = examine_world(Objects([broken], forbidden=["logs"])).incidents
    assert incident.root.cause == "missing_environment"
    assert "termination message" in incident.root.sure_because
    assert any("forbidden" in each for each in incident.root.not_checked)
    assert incident.root.evidence[-1].excerpt.endswith(".message: DB_URL is not set")
