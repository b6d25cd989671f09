from __future__ import annotations

from pathlib import Path

import pytest

from tests.sandbox.inside import plan_of
from truepenny.sandbox.choice import open_sandbox
from truepenny.sandbox.explain import explain
from truepenny.sandbox.gap import GAPS
from truepenny.sandbox.level import Containment, Level, LimitLayout
from truepenny.sandbox.plan import Account, Mode, Mount, Network, Plan, Profile, ResourceLimits

PLAN = Plan(
    Profile.COMMAND,
    (
        Mount(Mode.READ, Path("/usr"), "programs", Path("/usr")),
        Mount(Mode.LINK, Path("/bin"), "programs", Path("usr/bin")),
        Mount(Mode.WRITE, Path("/work"), "the workspace", Path("/tmp")),
        Mount(Mode.READ, Path("/data"), "data", Path("/no/such/data")),
    ),
    Path("/work"),
    Account("ada", 1000, 1000, drop=True),
    masks=(Path("/work/secret"),),
    limits=ResourceLimits(memory=64 * 1024 * 1024, processes=16, cpu=0.5, open_files=None),
)


def test_the_text() -> None:
    containment = Containment(Level.BWRAP, LimitLayout.CGROUP_V2, "ada", "none")
    text = explain(PLAN, containment)
    assert text.splitlines()[:12] == [
        "path          how                  why",
        "/usr          read                 programs",
        "/bin          link (usr/bin)       programs",
        "/work         write (/tmp)         the workspace",
        "/data         not there, left out  data",
        "/work/secret  hidden               our own files, or secrets",
        "",
        "held by: namespaces of its own (bubblewrap)",
        "runs as: ada (uid 1000), never as root",
        "network: none",
        "limits: 64 MiB of memory, 16 processes, 0.5 processors; by cgroup_v2",
        "not stopped:",
    ]


@pytest.mark.parametrize("level", list(Level))
@pytest.mark.parametrize("network", list(Network))
def test_every_gap_is_explained(level: Level, network: Network) -> None:
    words = tuple(gap.word for gap in GAPS)
    text = explain(PLAN, Containment(level, LimitLayout.NONE, "ada", str(network), words))
    assert all(f"  {gap.word}: {gap.meaning}" in text for gap in GAPS)


def test_no_limit_is_said() -> None:
    none = ResourceLimits(None, None, None, None, None)
    plan = Plan(Profile.COMMAND, (), Path("/"), PLAN.account, limits=none)
    assert "limits: none; by none" in explain(plan, Containment())


def test_without_walls_it_does_not_look_like_some(folder: Path) -> None:
    plan = plan_of(folder)
    text = explain(plan, open_sandbox(plan, "none").containment)
    assert "held by: NOTHING" in text
    assert "network: all that this machine reaches" in text
