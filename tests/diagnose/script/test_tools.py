"""Which script tools there are: one for each place that something can run in."""

from __future__ import annotations

from pathlib import Path

from tests.diagnose.fake_kubectl import FakeKubectl
from tests.diagnose.host.conftest import World
from tests.diagnose.script.shelf import Shelf
from truepenny.config.settings import SandboxSettings
from truepenny.diagnose import script_tools
from truepenny.diagnose.cluster import Clusters
from truepenny.tool.contract import ActionClass


def test_each_place_has_its_tool(tmp_path: Path, fake: FakeKubectl) -> None:
    world = World(tmp_path)
    alone = script_tools(Clusters(), world.hosts, Shelf(), SandboxSettings(), {})
    assert [tool.name for tool in alone] == ["local_script"]
    world.entries["web"] = {
        "address": "web.example", "user": "ops", "auth": "password", "password": "env:X",
    }  # fmt: skip
    clusters = Clusters((fake.cluster(),))
    every = script_tools(clusters, world.hosts, Shelf(), SandboxSettings(), {})
    assert {"local_script", "pod_script", "host_script"} <= {tool.name for tool in every}
    # Nobody judges a script's text: running one is never a read.
    assert {tool.action_class for tool in every} == {ActionClass.EXECUTE}
