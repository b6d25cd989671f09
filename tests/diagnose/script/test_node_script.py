"""node_script: the script goes to the node through the debug pod, and the Job goes behind it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.diagnose.fake_kubectl import FakeKubectl
from tests.diagnose.node.fake_cluster import FakeCluster
from tests.diagnose.script.shelf import Shelf
from truepenny.diagnose.cluster import Clusters
from truepenny.diagnose.node.debug_pods import DebugPods
from truepenny.diagnose.script.node_script import node_script_tool
from truepenny.execute.ending import Outcome
from truepenny.text.redact import Redactor
from truepenny.tool.contract import CallContext
from truepenny.tool.result import Result

pytestmark = pytest.mark.anyio


async def call(there: FakeCluster, script: str, **settings: Any) -> Result:
    tool = node_script_tool(Clusters((there.cluster(**settings),)), DebugPods(), Shelf())
    context = CallContext("user", "session", "call_1", there.folder, Redactor())
    arguments = {"node": "worker-1", "skill": "try", "script": script, "args": ["a b"]}
    return await tool.run(arguments, context)


async def test_a_script_runs_on_the_node(fake: FakeKubectl) -> None:
    there = FakeCluster(fake)
    result = await call(there, "probe.sh")
    assert result.text.startswith("got a b\nstatus: ok\n")
    assert (result.outcome, result.facts.detail["status"]) == (Outcome.SUCCESS, "ok")
    assert result.facts.detail["debug_job"]["fate"] == "deleted"
    assert there.jobs == []


async def test_it_is_off_unless_the_settings_allow_it(fake: FakeKubectl) -> None:
    there = FakeCluster(fake)
    result = await call(there, "probe.sh", debug_jobs=False)
    assert (result.outcome, result.facts.reason) == (Outcome.REFUSED, "debug_jobs_off")
    assert "status" not in result.facts.detail
    assert fake.calls == []
