"""pod_exec through the real kubectl against the practice cluster."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.demo.practice import SmallWorld, binaries, make
from truepenny.demo.cluster import PracticeCluster
from truepenny.diagnose.cluster import Clusters
from truepenny.diagnose.pod.pod_exec import pod_exec_tool
from truepenny.execute.ending import Leg, Outcome
from truepenny.text.redact import Redactor
from truepenny.tool.contract import CallContext

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("cut", [False, True])
async def test_a_stream_without_a_status_leaves_the_end_unknown(tmp_path: Path, cut: bool) -> None:
    spec = {"containers": [{"name": "c"}]}
    status = {"phase": "Running", "containerStatuses": [{"name": "c", "state": {"running": {}}}]}
    world = SmallWorld([make("Pod", "p", spec=spec, status=status)])
    world.commands["hostname"] = (b"p\n", b"", 0)
    with PracticeCluster(world, ["cut:exec"] if cut else []) as cluster:
        env = {"PATH": os.environ["PATH"]}
        bound = Clusters.from_kubeconfig(cluster.kubeconfig, env=env, path=binaries()[0])
        context = CallContext("user", "session", "call_1", tmp_path, Redactor())
        arguments = {"namespace": "shop", "pod": "p", "command": "hostname"}
        result = await pod_exec_tool(bound).run(arguments, context)
    facts = result.facts
    assert facts.source["container"] == "c"
    assert result.text.startswith("p\n")
    if cut:
        assert (result.outcome, facts.reason) == (Outcome.CHANNEL_FAILED, "stream_cut")
        assert (facts.leg, facts.completeness.state) == (Leg.TRANSPORT, "unknown")
        assert any("still runs" in note for note in facts.notes)
    else:
        assert (result.outcome, result.text) == (Outcome.SUCCESS, "p\n")
