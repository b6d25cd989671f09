from __future__ import annotations

from functools import partial

import anyio

from truepenny.diagnose.triage.coverage import coverage
from truepenny.diagnose.triage.engine import examine, investigate
from truepenny.diagnose.triage.finding import ObjectRef
from truepenny.diagnose.triage.observation import Observation, Status, observe
from truepenny.diagnose.triage.query import CLUSTER_WIDE, NAMESPACED, Query, listing
from truepenny.diagnose.triage.report import REPORT_BYTES, report, verdict

from .build import crashing, deployment, pod, service
from .world import Objects, evidence

FIRST = [listing(group, None) for group in (*NAMESPACED, *CLUSTER_WIDE)]


def test_a_forbidden_read_is_not_checked_and_never_fine() -> None:
    known = evidence()
    world = Objects([pod()], forbidden=["nodes", "jobs"])
    examination = anyio.run(partial(investigate, known, FIRST, world.fetch))
    assert examination.gaps == {"nodes": "forbidden", "jobs": "forbidden"}
    reach = coverage(known, examination.gaps)
    assert verdict(examination.incidents, reach).startswith(
        "no problem found in what could be read"
    )
    assert "jobs, nodes: forbidden" in "; ".join(reach.missing())


def test_nothing_readable_is_nothing_known() -> None:
    async def fetch(query: Query, id: str) -> Observation:
        return Observation(id, query.argv, Status.FAILED, reason="transport")

    known = evidence()
    examination = anyio.run(partial(investigate, known, FIRST, fetch))
    assert examination.incidents == ()
    assert "nothing is known" in verdict((), coverage(known, examination.gaps))
    assert set(examination.gaps.values()) == {"transport"}


def test_a_group_that_is_refused_as_a_whole_is_asked_kind_by_kind() -> None:
    world = Objects([deployment(replicas=2, ready=1)])

    async def fetch(query: Query, id: str) -> Observation:
        if "," in query.argv[1]:
            return Observation(id, query.argv, Status.FORBIDDEN, reason="forbidden")
        return world.answer(query.argv, id)

    known = evidence()
    examination = anyio.run(partial(investigate, known, [listing("workloads", None)], fetch))
    assert [each.root.cause for each in examination.incidents] == ["unavailable"]
    assert known.status("deployments", "shop") is Status.OK


def test_what_the_budget_leaves_unread_is_named() -> None:
    world = Objects([crashing()], logs=lambda *_: "DB_URL is not set")
    examination = anyio.run(
        partial(investigate, evidence(), FIRST, world.fetch, max_reads=len(FIRST))
    )
    assert [need.argv[0] for need in examination.needs] == ["logs"]
    (incident,) = examination.incidents
    assert incident.root.not_checked


def test_a_log_that_is_refused_lowers_the_confidence_and_says_so() -> None:
    world = Objects([crashing()], forbidden=["logs"])
    examination = anyio.run(partial(investigate, evidence(), FIRST, world.fetch))
    (incident,) = examination.incidents
    assert incident.root.cause == "crash_unexplained" and incident.root.confidence == "low"
    assert any("forbidden" in each for each in incident.root.not_checked)
    assert "could not be read" in incident.root.sentence


def test_a_kind_that_an_unclear_refusal_hides_is_asked_alone_and_then_named() -> None:
    world = Objects([deployment(replicas=2, ready=1)])
    refusal = "Error from server (Forbidden): no"

    async def fetch(query: Query, id: str) -> Observation:
        if query.argv[1] == "replicasets":
            return Observation(id, query.argv, Status.FORBIDDEN, reason="forbidden")
        answer = world.say(query.argv)[1]
        if "replicasets" in query.argv[1]:
            return observe(id, query.argv, Status.FORBIDDEN, f"{answer}{refusal}", "forbidden")
        return observe(id, query.argv, Status.OK, answer)

    known = evidence()
    examination = anyio.run(partial(investigate, known, [listing("workloads", None)], fetch))
    assert known.status("deployments", "shop") is Status.OK
    assert known.status("statefulsets", "shop") is Status.OK
    assert examination.gaps == {"replicasets": "forbidden"}


def test_absence_means_nothing_before_a_list_was_read_whole() -> None:
    known = evidence()
    world = Objects([service(selector={"app": "other"})])
    known.add(world.answer(listing("network", None).argv, "read_1"))
    assert examine(known).findings == ()


def test_of_some_pods_nothing_follows_for_all() -> None:
    bad = [
        pod(ready=False),
        pod("dns-1", namespace="kube-system", labels={"k8s-app": "kube-dns"}, ready=False),
    ]
    world = Objects([*bad, service(), service("other", target=9090)])
    known = evidence()
    known.add(world.answer(listing("network", None).argv, "read_1"))
    known.add(
        Observation("read_2", listing("pods", None).argv, Status.TRUNCATED, objects=tuple(bad))
    )
    assert {each.cause for each in examine(known).findings}.isdisjoint(
        {"service_without_endpoints", "service_wrong_port", "dns_down", "dns_degraded"}
    )
    whole = evidence()
    for group in ("network", "pods"):
        whole.add(world.answer(listing(group, None).argv, f"read_{group}"))
    assert {each.cause for each in examine(whole).findings} >= {
        "service_without_endpoints",
        "service_wrong_port",
        "dns_down",
    }


def test_a_report_of_many_findings_is_bounded_and_says_what_is_missing() -> None:
    objects = [deployment(f"app-{number}", replicas=3, ready=0) for number in range(400)]
    known = evidence()
    examination = anyio.run(partial(investigate, known, FIRST, Objects(objects).fetch))
    text = report(examination, coverage(known, examination.gaps))
    assert len(text.encode()) <= REPORT_BYTES
    assert text.startswith("400 problems found")


def test_a_question_about_a_healthy_thing_listens_to_its_log() -> None:
    world = Objects([pod()], logs=lambda *_: "upstream db:5432 returned 503")
    asked = [ObjectRef("Deployment", "shop", "app")]
    quiet = anyio.run(partial(investigate, evidence(), FIRST, world.fetch, subjects=asked))
    heard = anyio.run(
        partial(investigate, evidence(), FIRST, world.fetch, subjects=asked, listen=True)
    )
    assert quiet.incidents == ()
    assert [each.root.cause for each in heard.incidents] == ["upstream_errors"]
    assert heard.incidents[0].root.confidence == "low"
