"""The tool over the real kubectl and the practice cluster."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from truepenny.demo.cluster import PracticeCluster
from truepenny.demo.fault import Fault
from truepenny.demo.world import World
from truepenny.diagnose.cluster import Clusters
from truepenny.diagnose.triage.report import REPORT_BYTES
from truepenny.diagnose.triage.tool import triage_tool
from truepenny.text.redact import Redactor
from truepenny.tool.admission import Admission, Policy
from truepenny.tool.autonomy import Autonomy
from truepenny.tool.contract import CallContext
from truepenny.tool.invoke import invoke
from truepenny.tool.outcome import Outcome
from truepenny.tool.registry import Registry
from truepenny.tool.result import Result

pytestmark = pytest.mark.anyio


@contextmanager
def practice(scenario: str, *faults: str) -> Iterator[Clusters]:
    world = World.load(scenario, datetime.now(UTC))
    with PracticeCluster(world, faults=[Fault.parse(each) for each in faults]) as cluster:
        yield Clusters.from_kubeconfig(cluster.kubeconfig, env=dict(os.environ))


async def call(clusters: Clusters, tmp_path: Path, **arguments: Any) -> Result:
    registry = Registry([triage_tool(clusters)])
    context = CallContext("me", "s", "call_1", tmp_path, Redactor())
    admission = Admission(Policy(autonomy=Autonomy.READ_ONLY))
    return (await invoke("triage", arguments, context, registry, admission)).result


async def test_one_call_finds_the_cause_and_folds_its_symptoms(tmp_path: Path) -> None:
    with practice("checkout-oom") as clusters:
        result = await call(clusters, tmp_path, namespace="shop", object="deployment/checkout")
    assert result.outcome is Outcome.SUCCESS
    detail = result.facts.detail
    (incident,) = detail["incidents"]
    assert incident["root"] == {"kind": "Deployment", "namespace": "shop", "name": "checkout"}
    assert incident["cause"] == "out_of_memory_lowered"
    assert {each["cause"] for each in incident["symptoms"]} >= {"unavailable"}
    commands = {read["command"] for read in detail["reads"]}
    for finding in detail["findings"]:
        assert finding["evidence"] and {each["command"] for each in finding["evidence"]} <= commands
    assert len(result.text.encode()) <= REPORT_BYTES
    assert result.facts.completeness.state == "complete"
    assert result.facts.source["cluster"]


async def test_what_was_refused_makes_the_result_partial(tmp_path: Path) -> None:
    with practice("healthy", "status:403:nodes") as clusters:
        result = await call(clusters, tmp_path)
    assert result.facts.detail["incidents"] == []
    assert result.facts.completeness.state == "partial"
    gaps = result.facts.detail["coverage"]["not_checked"]
    assert {"what": "nodes", "why": "forbidden"} in gaps


@pytest.mark.parametrize(
    ("fault", "outcome", "reason"),
    [
        ("status:403", Outcome.TARGET_FAILED, "forbidden"),
        ("refuse", Outcome.CHANNEL_FAILED, "transport"),
    ],
)
async def test_a_cluster_that_tells_nothing_is_unknown_and_not_healthy(
    tmp_path: Path, fault: str, outcome: Outcome, reason: str
) -> None:
    with practice("healthy", fault) as clusters:
        result = await call(clusters, tmp_path)
    assert (result.outcome, result.facts.reason) == (outcome, reason)
    assert result.facts.completeness.state == "unknown"
    assert "nothing is known" in result.text


async def test_an_unknown_cluster_or_object_is_named(tmp_path: Path) -> None:
    with practice("healthy") as clusters:
        wrong = await call(clusters, tmp_path, cluster="other")
        missing = await call(clusters, tmp_path, namespace="shop", object="deployment/nobody")
    assert wrong.facts.reason == "cluster_not_bound"
    assert missing.facts.detail["subject"] == [] and "nobody" in missing.text
    assert (missing.outcome, missing.facts.reason) == (Outcome.TARGET_FAILED, "not_found")


async def test_an_object_that_is_in_another_namespace_is_said_to_be_there(tmp_path: Path) -> None:
    with practice("hard-wrong-namespace") as clusters:
        result = await call(clusters, tmp_path, namespace="default", object="deployment/payments")
        asked = await call(clusters, tmp_path, question="payments in monitoring does not start")
    assert (result.outcome, result.facts.reason) == (Outcome.TARGET_FAILED, "not_found")
    assert "in namespace default; there is Deployment shop/payments" in result.text
    assert asked.outcome is Outcome.SUCCESS
    assert asked.text.startswith("there is no payments in namespace monitoring")
    with practice("hard-wrong-namespace", "status:403:deployments") as clusters:
        blind = await call(clusters, tmp_path, namespace="default", object="deployment/payments")
    assert "there is Deployment" not in blind.text and "no workload" not in blind.text


async def test_a_namespace_that_is_not_there_is_no_clean_bill(tmp_path: Path) -> None:
    with practice("healthy") as clusters:
        result = await call(clusters, tmp_path, namespace="shpo")
    assert (result.outcome, result.facts.reason) == (Outcome.TARGET_FAILED, "not_found")
    assert "shop" in result.text
    with practice("healthy", "status:403:namespaces") as clusters:
        unknown = await call(clusters, tmp_path, namespace="shpo")
    assert unknown.facts.completeness.state == "partial"
    whats = [gap["what"] for gap in unknown.facts.detail["coverage"]["not_checked"]]
    assert "whether namespace shpo exists" in whats


async def test_the_reads_are_in_the_facts(tmp_path: Path) -> None:
    with practice("secrets-everywhere") as clusters:
        facts = (await call(clusters, tmp_path, namespace="shop")).facts
    assert facts.bytes.observed > facts.bytes.kept > 0
    assert facts.bytes.observed == facts.bytes.kept + facts.bytes.discarded
    assert sum(facts.redactions.values()) > 5


async def test_a_kubectl_that_is_not_there_is_a_missing_dependency(tmp_path: Path) -> None:
    with PracticeCluster(World.load("healthy")) as cluster:
        env = dict(os.environ)
        clusters = Clusters.from_kubeconfig(cluster.kubeconfig, env=env, path="/nope/kubectl")
        result = await call(clusters, tmp_path)
    assert result.outcome is Outcome.MISSING_DEPENDENCY
    assert result.facts.completeness.state == "unknown"
