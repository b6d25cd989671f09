"""Containers that ended and run again: what they said, and how far back that reaches."""

from __future__ import annotations

from tests.diagnose.triage.build import (
    Json,
    ago,
    deployment,
    ended,
    event,
    node,
    obj,
    pod,
    replicaset,
)
from tests.diagnose.triage.test_rules import examine_world
from tests.diagnose.triage.world import Objects, evidence
from truepenny.diagnose.triage.coverage import coverage
from truepenny.diagnose.triage.finding import Finding
from truepenny.diagnose.triage.query import listing

EVENTS = listing("events", None)


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


def test_an_old_change_of_a_node_is_no_news() -> None:
    well = node()
    assert [each.cause for each in examine_world(Objects([well])).notes] == ["node_recovered"]
    for state in well["status"]["conditions"]:
        state["lastTransitionTime"] = ago(300)
    assert examine_world(Objects([well])).notes == ()
    # All conditions of a node that just joined are new, and nothing recovered.
    joined = node()
    joined["metadata"]["creationTimestamp"] = ago(12)
    assert examine_world(Objects([joined])).notes == ()


def test_a_silent_node_is_told_with_its_lease_and_without_it() -> None:
    silent = node(Ready=("Unknown", "NodeStatusUnknown", "Kubelet stopped posting node status."))
    spec = {"holderIdentity": "worker-1", "renewTime": ago(12)}
    lease = obj("Lease", "worker-1", "kube-node-lease", spec=spec)
    (incident,) = examine_world(Objects([silent, lease])).incidents
    assert "renewed its lease 12m ago" in incident.root.sentence
    assert any("spec.renewTime=" in each.excerpt for each in incident.root.evidence)
    refused = examine_world(Objects([silent, lease], forbidden=["leases"]))
    (blind,) = refused.incidents
    assert "lease" not in blind.root.sentence
    assert any(each.endswith("forbidden") for each in blind.root.not_checked)
    assert any("leases" in each for each in refused.gaps)
    (without,) = examine_world(Objects([silent])).incidents
    assert any("not among those" in each for each in without.root.not_checked)


def test_a_rollout_is_dated_by_the_revisions_that_are_kept() -> None:
    kept = [replicaset("app-6f5d4c3b2b", revision="1"), replicaset(revision="2")]
    (found,) = examine_world(Objects([deployment(replicas=2, ready=1), *kept])).incidents
    assert "the ReplicaSet of revision 2 was made 10h ago" in found.root.sentence
    assert [each.excerpt.split()[2] for each in found.root.evidence[1:]] == [
        "revision=2",
        "revision=1",
    ]
    (first,) = examine_world(Objects([deployment(replicas=2, ready=1), kept[0]])).incidents
    assert "revision" not in first.root.sentence
    blind = Objects([deployment(replicas=2, ready=1), *kept], forbidden=["replicasets"])
    (unread,) = examine_world(blind).incidents
    assert "rollout history: not read whole" in unread.root.not_checked


def test_a_series_of_events_is_quoted_with_its_span() -> None:
    broken = pod(ready=False, container={"readinessProbe": {"httpGet": {"port": 8081}}})
    seen = event(broken, "Unhealthy", "Readiness probe failed: no", count=9, minutes=2)
    seen["firstTimestamp"] = ago(14)
    (found,) = examine_world(Objects([broken, seen])).incidents
    quotes = [each.excerpt for each in found.root.evidence]
    assert any("(seen 9 times in 12m, last at 2026-06-01T11:58:00Z)" in each for each in quotes)


def test_the_report_says_how_far_events_reach_back() -> None:
    known = evidence()
    known.add(Objects([event(pod(), "Pulled", "ok", minutes=41)]).answer(EVENTS.argv, "read_1"))
    assert "is from 41m ago" in coverage(known, {}).reach_back()
    none = evidence()
    none.add(Objects([]).answer(EVENTS.argv, "read_1"))
    assert "none was read" in coverage(none, {}).reach_back()
    assert coverage(evidence(), {}).reach_back() == ""
