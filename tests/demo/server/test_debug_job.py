"""A debug Job in the practice cluster: made, entered by the real kubectl, and deleted."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.demo.practice import Kubectl, SmallWorld, binaries, fetch, make
from truepenny.demo.cluster import PracticeCluster
from truepenny.demo.host.machine import Machine, Recorded
from truepenny.diagnose.cluster import Cluster, Clusters
from truepenny.diagnose.node.debug_pods import DebugPods
from truepenny.diagnose.node.node_exec import node_exec_tool
from truepenny.execute.ending import Outcome
from truepenny.text.redact import Redactor
from truepenny.tool.contract import CallContext
from truepenny.tool.result import Result

pytestmark = pytest.mark.anyio

DF = "Filesystem Size Used\n/dev/vda1 96G 89G\n"


def world(*, write: bool = True) -> SmallWorld:
    ready = {"conditions": [{"type": "Ready", "status": "True"}]}
    node = make("Node", "worker-1", namespace="", status=ready)
    machine = Machine("worker-1", "10.0.0.11", jump="none", answers={"df -h /": Recorded(DF)})
    return SmallWorld(
        [node, make("Namespace", "default", namespace="")],
        permissions={"write": write},
        hosts=() if not write else (Machine("none", "10.0.0.2"), machine),
    )


async def call(cluster: PracticeCluster, folder: Path, command: str, image: str = "b:1") -> Result:
    env = {"PATH": os.environ["PATH"]}
    (bound,) = Clusters.from_kubeconfig(cluster.kubeconfig, env=env, path=binaries()[0])
    allowed = Cluster(
        bound.name, bound.kubeconfig, bound.context, bound.kubectl, debug_jobs=True,
        debug_image=image,
    )  # fmt: skip
    tool = node_exec_tool(Clusters((allowed,)), DebugPods())
    context = CallContext("user", "session", "call_1", folder, Redactor())
    return await tool.run({"node": "worker-1", "command": command}, context)


async def test_a_node_is_read_through_a_job_that_is_gone_behind_it(tmp_path: Path) -> None:
    with PracticeCluster(world()) as cluster:
        told = await call(cluster, tmp_path, "df -h /")
        unknown = await call(cluster, tmp_path, "uptime")
        missing = await call(cluster, tmp_path, "df -h /", "missing:1")
        left = Kubectl(cluster, tmp_path, binaries()[0]).ok("get", "jobs,pods", "-A", "-o", "name")
    assert (told.outcome, told.text) == (Outcome.SUCCESS, DF)
    assert told.facts.detail["debug_job"]["fate"] == "deleted"
    assert unknown.outcome is Outcome.MISSING_DEPENDENCY
    assert "no recorded answer" in unknown.text
    assert missing.facts.reason == "image_pull_failed"
    assert left == ""


async def test_a_reader_makes_no_job(tmp_path: Path) -> None:
    with PracticeCluster(world(write=False)) as cluster:
        refused = await call(cluster, tmp_path, "df -h /")
    assert (refused.facts.reason, refused.facts.detail["stage"]) == ("forbidden", "create")


def test_no_other_job_is_made_or_deleted() -> None:
    place = "/apis/batch/v1/namespaces/default/jobs"
    other = json.dumps(make("Job", "backup", "batch/v1", namespace="default")).encode()
    with PracticeCluster(world()) as cluster:
        made = fetch(cluster, place, method="POST", body=other)
        gone = fetch(cluster, f"{place}/backup", method="DELETE")
    assert (made.status, gone.status) == (403, 403)
    assert b"read-only" in made.body
