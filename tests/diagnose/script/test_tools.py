"""Which script tools there are: one for each place that something can run in."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tests.diagnose.fake_kubectl import FakeKubectl
from tests.diagnose.host.conftest import World
from tests.diagnose.script.shelf import Shelf
from truepenny.config.settings import SandboxSettings
from truepenny.diagnose import script_tools
from truepenny.diagnose.cluster import Clusters
from truepenny.skill.skills import Skills, shipped
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


def test_each_example_names_a_shipped_script_for_its_kind_of_place(
    tmp_path: Path, fake: FakeKubectl
) -> None:
    world = World(tmp_path)
    world.entries["web"] = {
        "address": "web.example", "user": "ops", "auth": "password", "password": "env:X",
    }  # fmt: skip
    clusters = Clusters((replace(fake.cluster(), debug_jobs=True),))
    skills = Skills.load((shipped(),))
    every = script_tools(clusters, world.hosts, skills, SandboxSettings(), {})
    assert len(every) == 4
    for tool in every:
        script = skills.script(tool.example["skill"], tool.example["script"])
        assert tool.name.removesuffix("_script") in script.contexts
