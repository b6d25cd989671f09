"""Every shipped incident is served whole, and every container's log answers."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.demo.practice import Kubectl, binaries
from truepenny.demo.cluster import PracticeCluster
from truepenny.demo.server.exchange import Request
from truepenny.demo.server.logs import logs
from truepenny.demo.server.objects import Objects
from truepenny.demo.server.status import Refusal
from truepenny.demo.world import World, scenarios

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)

KINDS = (
    "deploy,rs,sts,ds,job,cj,hpa,svc,endpointslices,ing,pvc,cm,secrets,sa,quota,limits,pdb,netpol"
)


def _answer(pod: Any, world: World, query: dict[str, str]) -> int:
    try:
        return logs(Request("GET", "/", query), pod, world, NOW).status
    except Refusal as refusal:
        assert refusal.code == 400
        assert "is waiting to start" in refusal.message or "previous" in refusal.message
        return refusal.code


@pytest.mark.slow
def test_nothing_is_left_out_and_logs_answer() -> None:
    for scenario in scenarios():
        world = World.load(scenario.name, NOW)
        assert Objects(world.objects).unserved == [], scenario.name
        answered = 0
        for pod in world.objects:
            if pod["kind"] != "Pod":
                continue
            for container in pod["spec"]["containers"]:
                for previous in ("false", "true"):
                    query = {"container": container["name"], "previous": previous}
                    answered += _answer(pod, world, query) == 200
        assert answered > 20, scenario.name


@pytest.mark.slow
def test_kubectl_reads_every_incident(tmp_path: Path) -> None:
    if not binaries():
        pytest.fail("no kubectl: ./dev installs one")
    for scenario in scenarios():
        world = World.load(scenario.name)
        with PracticeCluster(world) as cluster:
            kubectl = Kubectl(cluster, tmp_path / scenario.name, binaries()[0])
            scope = ("-n", "shop") if world.permissions.get("deny") else ("-A",)
            calls = [
                ("get", "pods,events,all", *scope, "-o", "wide"),
                ("describe", "pods", *scope),
                ("events", *scope),
            ]
            if scope == ("-A",):
                calls += [("describe", KINDS, *scope), ("describe", "nodes,pv,sc,ns")]
            for call, done in zip(calls, kubectl.all(calls), strict=True):
                said = done.stderr.removesuffix("No events found.\n")
                assert (done.returncode, said) == (0, ""), (scenario.name, call)
