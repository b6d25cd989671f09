"""The restricted bash, with the real kubectl and the practice cluster."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from truepenny.config.settings import SandboxSettings
from truepenny.demo.cluster import PracticeCluster
from truepenny.demo.world import World
from truepenny.diagnose.bash.tool import bash_tool
from truepenny.diagnose.cluster import Cluster, Clusters
from truepenny.execute.ending import Outcome
from truepenny.text.redact import Redactor
from truepenny.tool.admission import Admission, Policy
from truepenny.tool.autonomy import Autonomy
from truepenny.tool.contract import CallContext
from truepenny.tool.decision import Verdict
from truepenny.tool.invoke import Invocation, invoke
from truepenny.tool.registry import Registry

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def practice() -> Iterator[PracticeCluster]:
    with PracticeCluster(World.load("checkout-oom", datetime.now(UTC))) as cluster:
        yield cluster


@pytest.fixture
def clusters(practice: PracticeCluster) -> Clusters:
    return Clusters.from_kubeconfig(practice.kubeconfig, env=os.environ, name="shop")


async def call(clusters: Clusters, scratch: Path, line: str, **more: Any) -> Invocation:
    registry = Registry((bash_tool(clusters, SandboxSettings(), os.environ),))
    context = CallContext("user", "session", "call_1", scratch, Redactor())
    admission = Admission(Policy(autonomy=Autonomy.READ_ONLY))
    return await invoke("bash", {"command": line, **more}, context, registry, admission)


async def test_a_line_without_kubectl_has_neither_network_nor_kubeconfig(
    clusters: Clusters, tmp_path: Path
) -> None:
    done = await call(clusters, tmp_path, "uptime", cluster="shop")
    assert done.result.outcome is Outcome.SUCCESS
    facts = done.result.facts
    assert (facts.detail["kubeconfig"], facts.source) == ("none", {})
    assert facts.containment["network"] == "none"


async def test_kubectl_in_a_pipeline_has_a_private_kubeconfig_of_its_cluster(
    clusters: Clusters, tmp_path: Path
) -> None:
    done = await call(
        clusters, tmp_path, "kubectl get pods -n shop | grep -c ^cart", cluster="shop"
    )
    assert done.result.text == "2\n"
    facts = done.result.facts
    assert facts.detail["kubeconfig"] == "private"
    assert facts.containment["network"] == "host"
    assert (facts.source["cluster"], facts.source["namespace"]) == ("shop", "shop")
    assert facts.exit is not None
    assert facts.exit.stages == (0, 0)


async def test_one_command_alone_is_read_outside_of_the_sandbox(
    clusters: Clusters, tmp_path: Path
) -> None:
    done = await call(clusters, tmp_path, "kubectl get pods -n nowhere", cluster="shop")
    assert done.result.outcome is Outcome.NO_MATCH
    assert done.result.facts.detail["kubeconfig"] == "outside"
    assert done.result.facts.source["namespace"] == "nowhere"


async def test_filters_get_a_document_that_is_masked_already(
    clusters: Clusters, tmp_path: Path
) -> None:
    line = "kubectl get pods -n shop -o json | jq -r '.items[].kind' | sort | uniq -c"
    done = await call(clusters, tmp_path, line, cluster="shop")
    assert "Pod" in done.result.text
    facts = done.result.facts
    assert facts.detail["kubeconfig"] == "outside"
    assert facts.containment["network"] == "none"
    assert facts.exit is not None
    assert facts.exit.stages == (0, 0, 0, 0)


async def test_what_does_not_come_does_not_reach_a_filter(
    clusters: Clusters, tmp_path: Path
) -> None:
    line = "kubectl get pod nobody -n shop -o json | jq -r .kind"
    done = await call(clusters, tmp_path, line, cluster="shop")
    assert done.result.outcome is Outcome.NO_MATCH
    facts = done.result.facts
    assert "nothing behind it ran: jq -r .kind" in facts.notes
    assert facts.detail["refusal"] == "absence"


async def test_kubectl_without_a_named_cluster_fails_clearly(
    clusters: Clusters, tmp_path: Path
) -> None:
    done = await call(clusters, tmp_path, "kubectl get pods | head -3")
    assert done.result.facts.reason == "cluster_not_named"
    assert done.result.facts.detail["available_clusters"] == ["shop"]
    done = await call(clusters, tmp_path, "kubectl get pods | head -3", cluster="prod")
    assert done.result.facts.reason == "cluster_not_bound"
    done = await call(Clusters(), tmp_path, "kubectl get pods")
    assert done.result.facts.reason == "no_cluster"


async def test_a_search_in_what_failed_has_found_out_nothing(
    clusters: Clusters, tmp_path: Path
) -> None:
    line = "kubectl logs nobody -n shop --tail=5 | grep -i panic"
    done = await call(clusters, tmp_path, line, cluster="shop")
    assert done.result.outcome.failed or done.result.facts.detail["refusal"] == "absence"
    line = "kubectl get pod nobody -n shop | head -3"
    done = await call(clusters, tmp_path, line, cluster="shop")
    assert done.result.outcome is Outcome.UPSTREAM_FAILED
    assert done.result.facts.reason == "not_found"


async def test_a_cluster_that_must_be_read_only_is_asked_before_a_line(
    clusters: Clusters, tmp_path: Path
) -> None:
    bound = clusters.get("shop")
    assert isinstance(bound, Cluster)
    strict = Clusters((replace(bound, require_read_only=True),))
    for line in (
        "kubectl get pods -n shop | head -3",
        "kubectl get pods -n shop",
        "kubectl get pods -n shop -o json | jq .kind",
        "uptime; kubectl get --raw /version | head -1",
    ):
        done = await call(strict, tmp_path, line, cluster="shop")
        assert done.result.outcome is Outcome.REFUSED, line
        assert done.result.facts.reason == "credential_can_write"
    done = await call(strict, tmp_path, "kubectl version | head -1", cluster="shop")
    assert done.result.outcome is Outcome.SUCCESS


async def test_credentials_of_a_program_are_left_to_the_kubectl_tool(
    clusters: Clusters, tmp_path: Path
) -> None:
    bound = clusters.get("shop")
    assert isinstance(bound, Cluster)
    cloud = replace(bound, context=replace(bound.context, plugin="cloud-login"))
    done = await call(
        Clusters((cloud,)), tmp_path, "kubectl get pods -n shop | head -3", cluster="shop"
    )
    assert done.result.outcome is Outcome.CHANNEL_FAILED
    assert "cloud-login" in done.result.text
    assert "kubectl tool" in done.result.facts.hint


async def test_what_changes_something_is_denied(clusters: Clusters, tmp_path: Path) -> None:
    done = await call(clusters, tmp_path, "kubectl delete pod x | head -1", cluster="shop")
    assert done.decision.verdict is Verdict.DENY
    assert done.decision.reason == "verb_not_allowed"


async def test_a_path_goes_with_one_command_alone(clusters: Clusters, tmp_path: Path) -> None:
    path = ".items[].kind"
    line = "kubectl get pods -n shop -o json"
    done = await call(clusters, tmp_path, line, cluster="shop", json_path=path)
    assert set(done.result.text.split()) == {"Pod"}
    done = await call(clusters, tmp_path, f"{line} | jq .", cluster="shop", json_path=path)
    assert done.result.facts.reason == "json_path"


async def test_as_many_log_lines_as_were_asked_for_may_not_be_all(
    clusters: Clusters, tmp_path: Path
) -> None:
    for line, state in (
        ("kubectl logs deploy/checkout -n shop --tail=2", "unknown"),
        ("kubectl logs deploy/checkout -n shop --tail=2 2>/dev/null", "unknown"),
        ("kubectl logs deploy/checkout -n shop --tail=2 | head -2", "complete"),
    ):
        done = await call(clusters, tmp_path, line, cluster="shop")
        assert done.result.facts.completeness.state == state, line
