from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.sandbox.inside import plan_of
from truepenny.errors import CouldNotRun
from truepenny.sandbox.choice import open_sandbox
from truepenny.sandbox.explain import CHANGEABLE, CLOSED, UNLISTED, explain, rows
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
    plan = replace(PLAN, mounts=PLAN.mounts[:2], masks=())
    text = explain(plan, Containment(level, LimitLayout.NONE, "ada", str(network), words))
    assert all(f"  {gap.word}: {gap.meaning}" in text for gap in GAPS)


def test_no_limit_is_said() -> None:
    none = ResourceLimits(None, None, None, None, None)
    plan = Plan(Profile.COMMAND, (), Path("/"), PLAN.account, limits=none)
    assert "limits: none\n" in explain(plan, Containment())


def test_without_walls_it_does_not_look_like_some(folder: Path) -> None:
    plan = plan_of(folder)
    text = explain(plan, open_sandbox(plan, "none").containment)
    assert "held by: NOTHING" in text
    assert "network: all that this machine reaches" in text
    assert not list(rows(plan, Level.NONE))
    assert str(folder) not in text


def test_rules_are_told_as_what_they_are(folder: Path) -> None:
    work, kept, shown = folder / "work", folder / "work" / "kept", folder / "shown"
    for path in (work, kept, shown):
        path.mkdir()
    plan = replace(
        PLAN,
        mounts=(
            Mount(Mode.PROC, Path("/proc"), "processes"),
            Mount(Mode.DEV, Path("/dev"), "devices"),
            Mount(Mode.EMPTY, Path("/tmp"), "temporary files"),
            Mount(Mode.READ, shown, "data", shown),
            Mount(Mode.WRITE, work, "the workspace", work),
            Mount(Mode.READ, kept, "kept", kept),
        ),
        masks=(shown / "secret",),
    )
    how = {row.path: row.how for row in rows(plan, Level.LANDLOCK)}
    assert how["/tmp"] == CLOSED
    assert "of processes the numbers" in how["/proc"]
    assert "null" in how["/dev"]
    assert how[str(work)] == "write"
    assert how[str(kept)] == CHANGEABLE
    assert how[str(shown)] == UNLISTED
    assert how[str(shown / "secret")] == "hidden"


def test_a_plan_that_rules_cannot_hold_is_not_told_as_held() -> None:
    with pytest.raises(CouldNotRun, match="cannot hold this plan"):
        explain(PLAN, Containment(Level.LANDLOCK))


@pytest.mark.parametrize(
    ("layout", "words"),
    [
        (LimitLayout.CGROUP_V1, "64 MiB of memory, 16 processes, 0.5 processors; by cgroup_v1"),
        (
            LimitLayout.RLIMITS,
            "64 MiB of memory for each process, 16 processes of the account; by rlimits; "
            "not held: 0.5 processors",
        ),
    ],
)
def test_a_limit_that_is_not_in_force_is_not_told_as_one(layout: LimitLayout, words: str) -> None:
    text = explain(PLAN, Containment(Level.BWRAP, layout))
    assert f"limits: {words}\n" in text
