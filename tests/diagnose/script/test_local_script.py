"""local_script: in a sandbox, with the credential of one cluster and no other."""

from __future__ import annotations

import os
from typing import Any

import pytest

from tests.diagnose.fake_kubectl import FakeKubectl
from tests.diagnose.script.shelf import Shelf
from truepenny.config.settings import SandboxSettings
from truepenny.diagnose.cluster import Clusters
from truepenny.diagnose.cluster_kubeconfig import Context
from truepenny.diagnose.script.local_script import local_script_tool
from truepenny.execute.ending import Outcome
from truepenny.text.redact import Redactor
from truepenny.tool.contract import CallContext
from truepenny.tool.result import Result

pytestmark = pytest.mark.anyio

ENV = {"PATH": os.environ["PATH"], "SECRET_TOKEN": "hunter2hunter2"}

READS = b"""import os
print(open(os.environ["KUBECONFIG"]).read(), os.environ.get("SECRET_TOKEN"), os.listdir("."))
print("status: ok")
"""


async def call(
    fake: FakeKubectl, script: str, clusters: Clusters, shelf: Shelf | None = None, **more: Any
) -> Result:
    tool = local_script_tool(clusters, shelf or Shelf(), SandboxSettings(), ENV)
    context = CallContext("user", "session", "call_1", fake.folder, Redactor())
    return await tool.run({"skill": "try", "script": script, **more}, context)


async def test_a_script_runs_in_a_sandbox_without_a_cluster(fake: FakeKubectl) -> None:
    shelf = Shelf()
    shelf.bodies["reads.py"] = ("python3", READS)
    result = await call(fake, "reads.py", Clusters(), shelf)
    assert result.text == " None []\nstatus: ok\n"
    assert result.facts.detail["status"] == "ok"
    assert result.facts.sandbox in ("bwrap", "landlock")
    assert result.facts.source == {}


async def test_it_gets_a_kubeconfig_of_one_cluster(fake: FakeKubectl) -> None:
    shelf = Shelf()
    shelf.bodies["reads.py"] = ("python3", READS)
    fake.says('{"current-context": "one-context"}')
    result = await call(fake, "reads.py", Clusters((fake.cluster(),)), shelf)
    assert result.outcome is Outcome.SUCCESS
    assert '"current-context": "one-context"' in result.text
    assert "['kubeconfig']" in result.text
    assert "hunter2" not in result.text
    assert result.facts.source["cluster"] == "one"
    assert any("credential of cluster one" in note for note in result.facts.notes)
    argv = fake.calls[0]["argv"]
    assert argv[argv.index("config") :][:4] == ["config", "view", "--raw", "--minify"]


async def test_several_clusters_are_never_guessed_between(fake: FakeKubectl) -> None:
    both = Clusters((fake.cluster("one"), fake.cluster("two")))
    result = await call(fake, "probe.sh", both)
    assert (result.outcome, result.facts.reason) == (Outcome.INVALID_ARGUMENTS, "cluster_ambiguous")
    assert fake.calls == []


async def test_what_it_cannot_have_stops_it(fake: FakeKubectl) -> None:
    plugin = fake.cluster(context=Context("one-context", server="api:6443", plugin="aws"))
    result = await call(fake, "probe.sh", Clusters((plugin,)))
    assert result.outcome is Outcome.CHANNEL_FAILED
    assert "aws" in result.text
    broken = await call(fake.says("", "boom\n", 1), "probe.sh", Clusters((fake.cluster(),)))
    assert "boom" in broken.text
    assert broken.facts.completeness.state == "unknown"
    guarded = Clusters((fake.cluster(require_read_only=True),))
    refused = await call(fake, "probe.sh", guarded)
    assert (refused.outcome, refused.facts.reason) == (Outcome.REFUSED, "credential_unknown")
