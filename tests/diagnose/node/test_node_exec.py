"""node_exec: a Job for the time of a call, gone behind it, and its fate is told."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import anyio
import pytest

from tests.diagnose.fake_kubectl import FakeKubectl
from tests.diagnose.node.fake_cluster import FakeCluster
from truepenny.diagnose.cluster import Clusters
from truepenny.diagnose.node.debug_pods import DebugPods
from truepenny.diagnose.node.node_exec import node_exec_tool
from truepenny.execute.ending import Leg, Outcome
from truepenny.system.clock import ManualClock
from truepenny.system.lock_record import LockRecord
from truepenny.text.redact import Redactor
from truepenny.tool.contract import ActionClass, CallContext
from truepenny.tool.decision import Verdict
from truepenny.tool.result import Result

pytestmark = pytest.mark.anyio


@pytest.fixture
def there(fake: FakeKubectl) -> FakeCluster:
    return FakeCluster(fake)


async def call(
    there: FakeCluster, command: str, pods: DebugPods | None = None, **more: Any
) -> Result:
    cluster = there.cluster(**more.pop("settings", {}))
    tool = node_exec_tool(Clusters((cluster,)), pods or DebugPods())
    context = CallContext("user", "session", "call_1", there.folder, Redactor())
    return await tool.run({"node": "worker-1", "command": command, **more}, context)


async def test_a_line_runs_and_the_job_is_gone_behind_it(there: FakeCluster) -> None:
    result = await call(there, "echo out; echo a | grep b")
    assert (result.outcome, result.text.splitlines()[0]) == (Outcome.NO_MATCH, "out")
    facts = result.facts
    assert facts.source["node"] == "worker-1"
    assert facts.detail["debug_job"]["fate"] == "deleted"
    assert any("Job was made" in note and "deleted" in note for note in facts.notes)
    assert there.jobs == []


async def test_what_is_made_is_bound_to_the_node_and_ends_itself(there: FakeCluster) -> None:
    there.set(fails={"delete": "Unable to connect to the server: dial tcp"})
    clock = ManualClock()
    async with anyio.create_task_group() as group:

        async def advance() -> None:
            while True:
                clock.advance(1)
                await anyio.lowlevel.checkpoint()

        group.start_soon(advance)
        result = await call(there, "uptime", DebugPods(clock))
        group.cancel_scope.cancel()
    (name,) = there.jobs
    assert result.facts.detail["debug_job"] == {
        "name": name, "namespace": "default", "fate": "left",
    }  # fmt: skip
    assert any("ends itself within 600 s" in note for note in result.facts.notes)
    job = json.loads((there.folder / "jobs" / name).read_text())
    assert job["spec"]["activeDeadlineSeconds"] == 600
    assert job["spec"]["ttlSecondsAfterFinished"] == 60
    pod = job["spec"]["template"]["spec"]
    assert (pod["nodeName"], pod["hostPID"], pod["tolerations"]) == (
        "worker-1", True, [{"operator": "Exists"}],
    )  # fmt: skip


async def test_it_is_off_unless_the_settings_allow_it(there: FakeCluster) -> None:
    result = await call(there, "uptime", settings={"debug_jobs": False})
    assert (result.outcome, result.facts.reason) == (Outcome.REFUSED, "debug_jobs_off")
    assert "clusters.one.debug_jobs = true" in result.facts.hint
    tool = node_exec_tool(Clusters((there.cluster(),)), DebugPods())
    assert tool.action_class is ActionClass.EXECUTE
    assert tool.judge is not None
    assert tool.judge({"node": "n", "command": "reboot"}).verdict is Verdict.DENY
    assert there.fake.calls == []


async def test_a_line_that_takes_too_long_is_ended_on_the_node(there: FakeCluster) -> None:
    result = await call(there, "echo begun; cat /dev/zero | wc -c", timeout_seconds=1)
    assert result.outcome is Outcome.INTERRUPTED
    assert result.text.startswith("begun")
    ended = result.facts.detail["remote_end"]
    assert ended["state"] == "gone", ended
    assert any("none is left" in note for note in result.facts.notes)
    assert there.jobs == []


async def test_the_way_in_and_the_answer_differ(there: FakeCluster) -> None:
    there.without_nsenter()
    result = await call(there, "uptime")
    assert (result.outcome, result.facts.leg) == (Outcome.CHANNEL_FAILED, Leg.NAMESPACE_ENTRY)
    there.set(ready="Unknown")
    unready = await call(there, "uptime")
    assert (unready.outcome, unready.facts.reason) == (Outcome.CHANNEL_FAILED, "node_not_ready")
    there.set(fails={"create": "Error from server (Forbidden): jobs.batch is forbidden"})
    forbidden = await call(there, "uptime")
    assert (forbidden.facts.reason, forbidden.facts.detail["stage"]) == ("forbidden", "create")
    # Refused is not made: nothing is said to be left.
    assert "debug_job" not in forbidden.facts.detail
    assert "delete" not in there.verbs()[-2:]


async def test_a_failed_start_is_remembered_for_a_minute(there: FakeCluster) -> None:
    there.set(state={"waiting": {"reason": "ImagePullBackOff"}})
    clock = ManualClock()
    pods = DebugPods(clock)
    first = await call(there, "uptime", pods)
    assert (first.facts.reason, first.facts.detail["cached"]) == ("image_pull_failed", False)
    assert there.jobs == []
    made = there.verbs().count("create")
    again = await call(there, "uptime", pods)
    assert again.facts.detail["cached"] is True
    assert there.verbs().count("create") == made
    there.set()
    clock.advance(61)
    later = await call(there, "uptime", pods)
    assert later.outcome is Outcome.SUCCESS


async def test_calls_at_once_share_a_pod_and_kept_ones_go_at_the_end(there: FakeCluster) -> None:
    async with DebugPods().open() as pods:
        async with anyio.create_task_group() as group:
            for _ in range(2):
                group.start_soon(call, there, "uptime", pods)
        assert there.verbs().count("create") == 1
        assert len(there.jobs) == 1
        await pods.evict(60.0)
        assert len(there.jobs) == 1
        await pods.evict(0.0)
        assert there.jobs == []
        kept = await call(there, "uptime", pods)
        assert kept.facts.detail["debug_job"]["fate"] == "kept"
    assert there.jobs == []


async def test_jobs_of_the_dead_are_swept_and_of_the_living_are_not(there: FakeCluster) -> None:
    mine = LockRecord.mine("debug-job").encode().decode()
    code = "from truepenny.system.lock_record import LockRecord as R; import sys; "
    code += "sys.stdout.write(R.mine('debug-job').encode().decode())"
    words = [sys.executable, "-c", code]
    dead = subprocess.run(words, capture_output=True, text=True, check=True, env=dict(os.environ))
    there.add_job("node-debug-00000001", mine)
    there.add_job("node-debug-00000002", dead.stdout)
    there.add_job("node-debug-00000003", "who knows")
    await call(there, "uptime")
    assert there.jobs == ["node-debug-00000001", "node-debug-00000003"]
