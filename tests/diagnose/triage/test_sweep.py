"""A cluster too large to be read in full: what looks wrong is, and the rest is counted."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.demo.practice import SmallWorld, make
from truepenny.demo.cluster import PracticeCluster
from truepenny.diagnose.triage.coverage import coverage
from truepenny.diagnose.triage.engine import MAX_READS, Examination, investigate
from truepenny.diagnose.triage.evidence import Evidence
from truepenny.diagnose.triage.finding import ObjectRef
from truepenny.diagnose.triage.observation import Observation, Status
from truepenny.diagnose.triage.query import Query, listing
from truepenny.diagnose.triage.survey import pods_table
from truepenny.diagnose.triage.sweep import MOST_SPACES, NAMED_PODS, WHOLE_PODS, Sweep

from .build import Json, crashing, deployment, pod, service
from .world import Objects, evidence


class Large(Objects):
    """A cluster with kubectl's table of pods; lists of the groups in `cut` come back cut."""

    def __init__(
        self, objects: Sequence[Json], cut: Sequence[str] = (), forbidden: Sequence[str] = ()
    ) -> None:
        super().__init__(objects, forbidden=forbidden)
        self.cut = {listing(group, None).argv for group in cut}

    async def fetch(self, query: Query, id: str) -> Observation:
        argv = query.argv
        if argv in self.cut:
            self.asked.append(argv)
            return Observation(id, argv, Status.TRUNCATED, reason="output_cap")
        if argv[1] == "pods" and "wide" in argv and "pods" not in self.forbidden:
            self.asked.append(argv)
            return Observation(id, argv, Status.OK, self._table(argv))
        if argv[1] == "pods" and not argv[2].startswith("-"):
            self.asked.append(argv)
            names = argv[2 : argv.index("-n")]
            found = [
                each
                for each in self.objects
                if each["kind"] == "Pod"
                and each["metadata"]["name"] in names
                and each["metadata"]["namespace"] == argv[argv.index("-n") + 1]
            ]
            return Observation(id, argv, Status.OK, objects=tuple(dict(o) for o in found))
        return self.answer(argv, id)

    def _table(self, argv: tuple[str, ...]) -> str:
        within = argv[argv.index("-n") + 1] if "-n" in argv else None
        lines = ["NAMESPACE   NAME   READY   STATUS   RESTARTS   AGE   IP   NODE"]
        for each in self.objects:
            here = each["metadata"].get("namespace")
            if each["kind"] != "Pod" or (within and here != within):
                continue
            ready = each["status"]["containerStatuses"][0]["ready"]
            state = "1/1   Running" if ready else "0/1   CrashLoopBackOff"
            lines.append(f"{here}   {each['metadata']['name']}   {state}   0   1d   <none>   n1")
        return "\n".join(lines)


def healthy(space: str, count: int) -> list[Json]:
    return [pod(f"well-{number}", namespace=space) for number in range(count)]


def broken(space: str, count: int = 1) -> list[Json]:
    found: list[Json] = []
    for number in range(count):
        found.append(crashing(namespace=space))
        found[-1]["metadata"]["name"] = f"app-7d9f8b6c5d-{number:05}"
    return found


def within(space: str, one: Json) -> Json:
    one["metadata"]["namespace"] = space
    return one


def look(
    world: Large, sweep: Sweep | None = None, known: Evidence | None = None
) -> tuple[Evidence, Examination]:
    sweep, known = sweep or Sweep(None), known or evidence()
    step = partial(investigate, known, sweep.first(), world.fetch, follow=sweep.follow)
    return known, anyio.run(step)


def pod_reads(world: Large) -> list[tuple[str, ...]]:
    return [argv for argv in world.asked if argv[:2] == ("get", "pods") and "json" in argv]


def test_a_small_cluster_is_read_whole() -> None:
    world = Large([*healthy("a", 5), *broken("b")])
    known, examination = look(world)
    assert pod_reads(world) == [listing("pods", None).argv]
    assert known.by_row == [] and examination.gaps == {}
    assert examination.incidents


def test_of_a_large_one_the_troubled_namespaces_are_read_and_the_rest_is_counted() -> None:
    world = Large([*healthy("a", WHOLE_PODS), *healthy("b", 9), *broken("b")])
    known, examination = look(world)
    assert pod_reads(world) == [listing("pods", "b").argv]
    (incident,) = examination.incidents
    assert incident.root.object.namespace == "b"
    assert len(known.by_row) == WHOLE_PODS
    assert list(examination.gaps) == [f"{WHOLE_PODS} pods in 1 namespace"]
    reach = coverage(known, examination.gaps)
    assert (reach.by_row, reach.counts["pods"]) == (WHOLE_PODS, 10)
    assert reach.namespaces == ("a", "b")


def test_in_a_large_namespace_the_odd_pods_are_read_and_nothing_follows_for_all() -> None:
    odd = broken("a", NAMED_PODS + 3)
    world = Large([*healthy("a", WHOLE_PODS), *odd, within("a", service())])
    _, examination = look(world)
    ((_, _, *names),) = [argv[:-4] for argv in pod_reads(world)]
    assert names == [each["metadata"]["name"] for each in odd[:NAMED_PODS]]
    # The pods that were read all fail; the others, which were not, may serve.
    assert {each.cause for each in examination.findings}.isdisjoint(
        {"service_without_endpoints", "service_selects_nothing"}
    )
    assert examination.incidents
    assert examination.gaps.keys() == {
        "3 pods in 1 namespace",
        f"{WHOLE_PODS} pods in 1 namespace",
    }


def test_one_namespace_alone_is_treated_alike() -> None:
    world = Large([*healthy("a", WHOLE_PODS), *broken("a")])
    _, examination = look(world, Sweep("a"))
    (read,) = pod_reads(world)
    assert read[2] == "app-7d9f8b6c5d-00000"
    assert examination.incidents


def test_a_list_that_is_cut_all_the_same_is_followed_up() -> None:
    world = Large([*healthy("a", 9), *broken("b")], cut=["pods"])
    _, examination = look(world)
    assert pod_reads(world) == [listing("pods", None).argv, listing("pods", "b").argv]
    assert examination.incidents
    assert "9 pods in 1 namespace" in examination.gaps


def test_other_lists_that_were_cut_are_read_where_the_trouble_is() -> None:
    objects = [*healthy("a", 9), *broken("b"), within("b", deployment())]
    world = Large(objects, cut=["workloads"])
    known, examination = look(world)
    assert listing("workloads", "b").argv in world.asked
    assert listing("workloads", "a").argv not in world.asked
    assert [item.ref.namespace for item in known.items("deployments")] == ["b"]
    assert "deployments" in examination.gaps


def test_what_is_asked_about_is_read_though_it_looks_well() -> None:
    sweep = Sweep(None)
    world = Large([*healthy("a", WHOLE_PODS), *healthy("b", 3)])
    known, _ = look(world, sweep)
    assert pod_reads(world) == []
    sweep.focus([ObjectRef("Deployment", "b", "well")])
    assert sweep.follow(known) == [listing("pods", "b")]
    sweep.focus([ObjectRef("Pod", "a", "well-7")])
    ((_, _, name, *_),) = [query.argv for query in sweep.follow(known)]
    assert name == "well-7"


def test_a_service_that_reaches_no_pod_is_trouble_too() -> None:
    objects = [*healthy("a", WHOLE_PODS), *healthy("b", 3)]
    objects.append(within("b", service(selector={"app": "other"})))
    slices: Json = {"kind": "EndpointSlice", "metadata": {"name": "app-x", "namespace": "b"}}
    slices["metadata"]["labels"] = {"kubernetes.io/service-name": "app"}
    _, examination = look(Large([*objects, slices | {"endpoints": []}]))
    assert [each.cause for each in examination.findings] == ["service_selects_nothing"]


def test_the_reads_are_bounded_however_much_is_wrong() -> None:
    spaces = [f"team-{number}" for number in range(60)]
    objects = [each for space in spaces for each in (*healthy(space, 20), *broken(space))]
    world = Large(objects, cut=["workloads", "events", "network", "policy", "batch"])
    known, examination = look(world)
    assert len(pod_reads(world)) == MOST_SPACES
    assert len(known.reads) <= MAX_READS
    assert f"{60 - MOST_SPACES} pods in {60 - MOST_SPACES} namespaces" in examination.gaps
    assert len(examination.needs) + len(known.reads) > 0


def test_a_table_that_is_refused_leaves_the_plain_refusal() -> None:
    world = Large(healthy("a", 3), forbidden=["pods"])
    _, examination = look(world)
    assert examination.gaps == {"pods": "forbidden"}


def test_a_table_that_was_cut_is_not_taken_for_all() -> None:
    known, sweep = evidence(), Sweep(None)
    known.add(Observation("read_1", pods_table(None).argv, Status.TRUNCATED, "NAME   STATUS\n"))
    assert sweep.follow(known) == [listing("pods", None)]


PODS, SPACES = 5000, 50
PEAK_MEGABYTES = 160
"""Measured: 85 with kubectl's 75 the largest. Reading all pods took kubectl alone 525."""


def big_world() -> SmallWorld:
    """Pods of the usual size, one of them in trouble."""
    world, filler = SmallWorld(), "x" * 4000
    for number in range(SPACES):
        space = f"team-{number:02}"
        world.objects.append(make("Namespace", space, namespace=""))
        for each in range(PODS // SPACES):
            one: Any = pod(f"app-{each:03}", namespace=space, owner=None)
            one["metadata"]["annotations"] = {"note": filler}
            world.objects.append({"apiVersion": "v1", **one})
    bad: Any = crashing(
        137, "OOMKilled", namespace="team-37", owner=("ReplicaSet", "buy-6c5d9f8b7")
    )
    bad["metadata"]["name"] = "buy-6c5d9f8b7-abcde"
    world.objects.append({"apiVersion": "v1", **bad})
    return world


PEAK_OF_TRIAGE = """
import resource, subprocess, sys
subprocess.run([sys.executable, "-m", "truepenny", "triage"])
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""
"""A process starts with the peak of the one that forked it, so a small one stands between."""


@pytest.mark.slow
def test_five_thousand_pods_cost_little_and_hide_nothing(tmp_path: Path) -> None:
    with PracticeCluster(big_world()) as cluster:
        done = subprocess.run(
            [sys.executable, "-c", PEAK_OF_TRIAGE],
            env={
                "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
                "HOME": str(tmp_path),
                "KUBECONFIG": str(cluster.kubeconfig),
            },
            stdout=subprocess.PIPE,
            encoding="utf-8",
        )
        text, _, peak = done.stdout.rstrip().rpartition("\n")
        listed = [each.path for each in cluster.requests if each.path.endswith("/pods")]
    assert "team-37" in text
    assert f"{PODS - PODS // SPACES} pods by their row" in text
    assert "/api/v1/namespaces/team-37/pods" in listed
    assert int(peak) // 1024 < PEAK_MEGABYTES
