"""The list of clusters, and probes that do not wait for each other."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import anyio
import pytest

from truepenny.diagnose import cluster_list
from truepenny.diagnose.cluster import Cluster, Clusters
from truepenny.diagnose.cluster_kubeconfig import Context
from truepenny.diagnose.cluster_list import cluster_list_tool
from truepenny.execute.ending import Outcome
from truepenny.text.redact import Redactor
from truepenny.tool.contract import CallContext
from truepenny.tool.result import Result

from .fake_kubectl import FakeKubectl

pytestmark = pytest.mark.anyio

VERSION = json.dumps({"clientVersion": {}, "serverVersion": {"gitVersion": "v1.37.1"}})


async def call(clusters: Clusters, scratch: Path, **arguments: Any) -> Result:
    context = CallContext("user", "session", "call_1", scratch, Redactor())
    return await cluster_list_tool(clusters).run(arguments, context)


def second(fake: FakeKubectl) -> FakeKubectl:
    folder = fake.folder / "second"
    folder.mkdir()
    return FakeKubectl(folder)


async def test_what_is_bound_is_listed_without_being_asked(fake: FakeKubectl) -> None:
    stage = fake.cluster("stage", description="for trying", current=True)
    prod = fake.cluster("prod", production=True)
    result = await call(Clusters((stage, prod)), fake.folder)
    assert json.loads(result.text) == result.facts.detail
    assert result.facts.detail["clusters"][0] == {
        "name": "stage",
        "description": "for trying",
        "api_server": "api.example:6443",
        "is_production": False,
        "contexts": ["stage-context"],
        "current_context": True,
    }
    assert result.facts.detail["clusters"][1]["is_production"]
    assert fake.calls == []


async def test_a_name_selects_and_nothing_selected_is_no_failure(fake: FakeKubectl) -> None:
    clusters = Clusters((fake.cluster("stage"), fake.cluster("prod")))
    result = await call(clusters, fake.folder, name="PRO")
    assert [entry["name"] for entry in result.facts.detail["clusters"]] == ["prod"]
    result = await call(clusters, fake.folder, name="nope")
    assert (result.outcome, result.facts.reason) == (Outcome.NO_MATCH, "nothing_found")
    result = await call(Clusters(), fake.folder)
    assert (result.outcome, result.facts.reason) == (Outcome.NO_MATCH, "no_cluster")
    assert result.facts.hint


async def test_probes_run_at_once_and_a_hung_one_holds_up_no_other(
    fake: FakeKubectl, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster_list, "PROBE_SECONDS", 1.0)
    well = fake.says(VERSION).cluster("well")
    hung = second(fake).does("import time; time.sleep(60)")
    broken = Cluster("broken", "/gone", Context(""), well.kubectl, problem="there is no kubeconfig")
    clusters = Clusters((hung.cluster("hung"), hung.cluster("hung2"), well, broken))
    with anyio.fail_after(5):
        result = await call(clusters, fake.folder, probe=True)
    entries = {entry["name"]: entry for entry in result.facts.detail["clusters"]}
    assert result.facts.duration < 2
    assert entries["well"]["probe_status"] == "ok"
    assert entries["well"]["server_version"] == "v1.37.1"
    for name in ("hung", "hung2"):
        assert entries[name]["reachable"] is None
        assert entries[name]["probe_reason"] == "timeout"
    assert entries["broken"]["reachable"] is None
    assert result.facts.completeness.state == "partial"


async def test_only_a_broken_channel_shows_that_a_cluster_is_down(fake: FakeKubectl) -> None:
    clusters = Clusters((fake.cluster(),))

    async def probed() -> dict[str, Any]:
        result = await call(clusters, fake.folder, probe=True)
        return result.facts.detail["clusters"][0]

    fake.says("{}", "The connection to the server a:1 was refused - did you\n", 1)
    assert (await probed())["reachable"] is False
    fake.says("{}", "Error from server (Forbidden): no\n", 1)
    entry = await probed()
    assert (entry["reachable"], entry["probe_reason"]) == (True, "forbidden")
    fake.path.unlink()
    entry = await probed()
    assert (entry["reachable"], entry["probe_reason"]) == (None, "missing_program")
