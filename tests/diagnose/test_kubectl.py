"""The kubectl tool through the one way of calling tools."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from truepenny.command.kubectl import KubectlCommand, read
from truepenny.diagnose.cluster import Clusters
from truepenny.diagnose.kubectl import judge, kubectl_tool
from truepenny.execute.ending import Outcome
from truepenny.text.redact import Redactor
from truepenny.tool.admission import Admission, Policy
from truepenny.tool.autonomy import Autonomy
from truepenny.tool.contract import CallContext
from truepenny.tool.decision import Verdict
from truepenny.tool.invoke import Invocation, invoke
from truepenny.tool.registry import Registry
from truepenny.tool.view import model_content

from .fake_kubectl import FakeKubectl

pytestmark = pytest.mark.anyio


async def call(clusters: Clusters, arguments: Mapping[str, Any], scratch: Path) -> Invocation:
    registry = Registry((kubectl_tool(clusters),))
    context = CallContext("user", "session", "call_1", scratch, Redactor())
    admission = Admission(Policy(autonomy=Autonomy.READ_ONLY))
    return await invoke("kubectl", arguments, context, registry, admission)


async def test_a_read_is_admitted_when_only_reading_is_allowed(fake: FakeKubectl) -> None:
    clusters = Clusters((fake.says("NAME\nweb\n").cluster(),))
    done = await call(clusters, {"args": ["get", "pods"]}, fake.folder)
    assert done.decision.verdict is Verdict.ALLOW
    assert done.result.outcome is Outcome.SUCCESS
    assert done.result.text == "NAME\nweb\n"


async def test_a_forbidden_command_is_denied_before_it_runs(fake: FakeKubectl) -> None:
    clusters = Clusters((fake.cluster(),))
    done = await call(clusters, {"args": ["get", "secret", "db", "-o", "json"]}, fake.folder)
    assert done.decision.verdict is Verdict.DENY
    assert (done.decision.reason, done.decision.matched) == ("secret_values", "secret")
    assert done.result.outcome is Outcome.REFUSED
    assert isinstance(read(done.result.facts.hint.split()), KubectlCommand)
    assert fake.calls == []


async def test_arguments_that_make_no_command_are_invalid(fake: FakeKubectl) -> None:
    clusters = Clusters((fake.cluster(),))
    for args in (["get"], ["get", "pods", "-n"], ["top"]):
        done = await call(clusters, {"args": args}, fake.folder)
        assert done.decision.verdict is Verdict.ALLOW
        assert done.result.outcome is Outcome.INVALID_ARGUMENTS
    for arguments in ({}, {"args": []}, {"args": "get pods"}, {"args": ["version"], "x": 1}):
        assert (await call(clusters, arguments, fake.folder)).result.facts.reason == "arguments"
    assert fake.calls == []


async def test_the_cluster_is_named_unless_there_is_one(fake: FakeKubectl) -> None:
    both = Clusters((fake.cluster("stage"), fake.cluster("prod")))
    done = await call(both, {"args": ["get", "pods"]}, fake.folder)
    assert done.result.facts.reason == "cluster_ambiguous"
    assert done.result.facts.detail["available_clusters"] == ["stage", "prod"]
    done = await call(both, {"args": ["get", "pods"], "cluster": "nope"}, fake.folder)
    assert done.result.facts.reason == "cluster_not_bound"
    done = await call(Clusters(), {"args": ["get", "pods"]}, fake.folder)
    assert done.result.outcome is Outcome.MISSING_DEPENDENCY
    assert fake.calls == []
    done = await call(both, {"args": ["get", "pods"], "cluster": "prod"}, fake.folder)
    assert done.result.facts.source["cluster"] == "prod"
    assert fake.calls[0]["argv"][:2] == ["--context", "prod-context"]


async def test_limits_of_a_call_are_kept(fake: FakeKubectl) -> None:
    clusters = Clusters((fake.says("x" * 5000).cluster(),))
    done = await call(clusters, {"args": ["version"], "max_bytes": 1024}, fake.folder)
    assert len(done.result.text) <= 1024
    arguments = {"args": ["version"], "max_bytes": 2_000_000}
    assert (await call(clusters, arguments, fake.folder)).result.facts.reason == "arguments"


async def test_the_model_reads_facts_before_the_answer(fake: FakeKubectl) -> None:
    fake.says("", "No resources found in shop namespace.\n")
    arguments = {"args": ["get", "pods", "-n", "shop"]}
    done = await call(Clusters((fake.cluster(),)), arguments, fake.folder)
    (text,) = model_content(done.result)
    header, _, body = text.text.partition("\n\n")
    assert header.startswith("[outcome no_match")
    assert "cluster one" in header
    assert "namespace shop" in header
    assert "shop" in body


def test_the_judge_leaves_unusable_arguments_to_the_call() -> None:
    assert judge({"args": ["get"]}).verdict is Verdict.ALLOW
    assert judge({"args": ["delete", "pod", "x"]}).verdict is Verdict.DENY


def test_the_example_and_the_schema_are_usable(fake: FakeKubectl) -> None:
    tool = kubectl_tool(Clusters((fake.cluster(),)))
    assert tool.parameters["additionalProperties"] is False
    assert isinstance(read(tool.example["args"]), KubectlCommand)
