"""pod_script: the script goes through kubectl's standard input, and only its own end counts."""

from __future__ import annotations

from typing import Any

import pytest

from tests.diagnose.fake_kubectl import FakeKubectl
from tests.diagnose.script.shelf import Shelf
from truepenny.diagnose.cluster import Clusters
from truepenny.diagnose.script.pod_script import pod_script_tool
from truepenny.execute.ending import Leg, Outcome
from truepenny.text.redact import Redactor
from truepenny.tool.contract import CallContext
from truepenny.tool.result import Result

pytestmark = pytest.mark.anyio

IN_THE_CONTAINER = """
import subprocess
done = subprocess.run(sys.argv[sys.argv.index("--") + 1:])
if done.returncode:
    sys.stderr.write(f"command terminated with exit code {done.returncode}\\n")
sys.exit(done.returncode)
"""

MISSING = (
    'OCI runtime exec failed: exec failed: unable to start container process: exec: "bash": '
    "executable file not found in $PATH: unknown\ncommand terminated with exit code 127\n"
)


async def call(fake: FakeKubectl, script: str, **more: Any) -> Result:
    tool = pod_script_tool(Clusters((fake.cluster(),)), Shelf())
    context = CallContext("user", "session", "call_1", fake.folder, Redactor())
    arguments = {"namespace": "shop", "pod": "web-0", "skill": "try", "script": script, **more}
    return await tool.run(arguments, context)


async def test_a_script_runs_in_the_container(fake: FakeKubectl) -> None:
    result = await call(fake.does(IN_THE_CONTAINER), "probe.sh", args=["a b"], container="app")
    assert (result.outcome, result.facts.detail["status"]) == (Outcome.SUCCESS, "ok")
    assert result.text.startswith("got a b\nstatus: ok\n")
    assert "hunter2" not in result.text
    argv = fake.calls[0]["argv"]
    assert argv[argv.index("exec") :] == [
        "exec", "-i", "-n", "shop", "web-0", "-c", "app", "--", "bash", "-s", "--", "a b",
    ]  # fmt: skip
    assert result.facts.source["container"] == "app"


async def test_a_script_cut_on_its_way_does_not_run_in_part(fake: FakeKubectl) -> None:
    cut = IN_THE_CONTAINER.replace("1:])", "1:], input=sys.stdin.buffer.read()[:-20])")
    result = await call(fake.does(cut), "probe.sh")
    assert result.outcome is Outcome.TARGET_FAILED
    assert "got" not in result.text
    assert result.facts.detail["status"] is None


async def test_a_missing_interpreter_and_a_lost_way_differ(fake: FakeKubectl) -> None:
    result = await call(fake.says("", MISSING, 127), "probe.sh")
    assert (result.outcome, result.facts.reason) == (Outcome.MISSING_DEPENDENCY, "not_in_container")
    lost = await call(fake.says("status: ok\n", "error: stream error\n", 1), "probe.sh")
    assert (lost.outcome, lost.facts.leg) == (Outcome.CHANNEL_FAILED, Leg.TRANSPORT)
    assert lost.facts.detail["status"] is None


async def test_a_name_cannot_be_a_flag(fake: FakeKubectl) -> None:
    result = await call(fake, "probe.sh", pod="--as=root")
    assert (result.outcome, result.facts.reason) == (Outcome.INVALID_ARGUMENTS, "pod")
    assert fake.calls == []
