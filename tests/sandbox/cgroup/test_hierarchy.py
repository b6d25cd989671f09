from __future__ import annotations

from pathlib import Path, PurePosixPath

import pytest

from truepenny.sandbox.cgroup.hierarchy import Candidate, candidates, memberships
from truepenny.sandbox.level import LimitLayout

ALL = "cpuset cpu io memory pids"


class Machine:
    """A /proc and trees of control groups as plain files."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.mounts: list[str] = []
        self.proc = root / "proc"
        (self.proc / "self").mkdir(parents=True)

    def unified(self, point: str = "fs/cgroup", root: str = "/") -> None:
        (self.root / point).mkdir(parents=True, exist_ok=True)
        self.mounts.append(f"30 23 0:26 {root} {self.root / point} rw - cgroup2 cgroup2 rw")

    def split(self, *controllers: str, root: str = "/") -> None:
        point = self.root / "fs/cgroup" / ",".join(controllers)
        point.mkdir(parents=True, exist_ok=True)
        self.mounts.append(
            f"31 23 0:27 {root} {point} rw - cgroup cgroup rw,{','.join(controllers)}"
        )

    def group(self, path: str, *, offered: str = ALL, handed_down: str = "") -> Path:
        folder = self.root / "fs/cgroup" / path
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "cgroup.controllers").write_text(offered, encoding="ascii")
        (folder / "cgroup.subtree_control").write_text(handed_down, encoding="ascii")
        return folder

    def found(self, membership: str) -> tuple[Candidate, ...]:
        self.proc.joinpath("self/mountinfo").write_text("\n".join(self.mounts), encoding="utf-8")
        self.proc.joinpath("self/cgroup").write_text(membership, encoding="utf-8")
        return candidates(self.proc)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_a_delegated_unit_is_the_first_choice(machine: Machine) -> None:
    machine.unified()
    unit = machine.group("system.slice/truepenny.service")
    machine.group("system.slice/truepenny.service/supervisor", offered="")
    found = machine.found("0::/system.slice/truepenny.service/supervisor\n")
    first = found[0].hierarchies[0]
    assert found[0].layout is LimitLayout.CGROUP_V2
    assert first.folder == unit
    assert first.inside == PurePosixPath("/system.slice/truepenny.service")
    assert first.hand_down
    assert first.unified


def test_the_last_unit_of_the_path_is_ours(machine: Machine) -> None:
    machine.unified()
    unit = machine.group("user.slice/user@1000.service/app.slice/ours.service")
    machine.group("user.slice/user@1000.service", handed_down=ALL)
    path = "/user.slice/user@1000.service/app.slice/ours.service/leaf/deeper"
    machine.group(path[1:])
    assert machine.found(f"0::{path}\n")[0].hierarchies[0].folder == unit


def test_beside_a_terminals_scope_only_where_controllers_are_handed_down(machine: Machine) -> None:
    machine.unified()
    machine.group("app.slice/terminal.scope")
    beside = machine.group("app.slice", handed_down="")
    assert machine.found("0::/app.slice/terminal.scope\n") == ()
    machine.group("app.slice", handed_down="cpu memory pids")
    found = machine.found("0::/app.slice/terminal.scope\n")
    assert [one.folder for one in found[0].hierarchies] == [beside]
    # What systemd manages is not switched by us.
    assert not found[0].hierarchies[0].hand_down


def test_a_controller_that_is_missing_spoils_the_layout(machine: Machine) -> None:
    machine.unified()
    machine.group("a.service", offered="memory pids")
    machine.group("a.service/leaf")
    assert machine.found("0::/a.service/leaf\n") == ()


def test_a_container_at_the_root_of_its_own_view(machine: Machine) -> None:
    machine.unified()
    root = machine.group("")
    found = machine.found("0::/\n")
    assert [one.hierarchies[0].folder for one in found] == [root]
    assert found[0].hierarchies[0].hand_down


def test_version_1_is_below_our_own_groups(machine: Machine) -> None:
    machine.split("memory")
    machine.split("pids")
    machine.split("cpu", "cpuacct")
    own = machine.root / "fs/cgroup/memory/we"
    own.mkdir()
    found = machine.found("4:memory:/we\n3:cpu,cpuacct:/\n2:pids:/\n1:name=systemd:/\n0::/\n")
    assert [one.layout for one in found] == [LimitLayout.CGROUP_V1]
    places = {one.controllers: one.folder for one in found[0].hierarchies}
    assert places == {
        ("memory",): own,
        ("pids",): machine.root / "fs/cgroup/pids",
        ("cpu",): machine.root / "fs/cgroup/cpu,cpuacct",
    }


def test_version_1_in_a_container_that_does_not_show_our_group(machine: Machine) -> None:
    for name in ("memory", "pids", "cpu"):
        machine.split(name, root="/docker/abc")
    found = machine.found("4:memory:/elsewhere\n3:cpu:/docker/abc\n2:pids:/docker/abc\n")
    assert {str(one.inside) for one in found[0].hierarchies} == {"/docker/abc"}


@pytest.mark.parametrize("missing", ["memory", "pids", "cpu"])
def test_version_1_needs_all_three(machine: Machine, missing: str) -> None:
    for name in {"memory", "pids", "cpu"} - {missing}:
        machine.split(name)
    assert machine.found("4:memory:/\n3:cpu:/\n2:pids:/\n") == ()


def test_a_tree_that_is_mounted_twice_is_not_used_twice(machine: Machine) -> None:
    for name in ("memory", "pids", "cpu", "pids"):
        machine.split(name)
    assert machine.found("4:memory:/\n3:cpu:/\n2:pids:/\n") == ()


def test_a_hybrid_without_controllers_in_the_unified_tree_is_version_1(machine: Machine) -> None:
    machine.unified("fs/cgroup/unified")
    machine.group("unified", offered="hugetlb")
    for name in ("memory", "pids", "cpu"):
        machine.split(name)
    found = machine.found("4:memory:/\n3:cpu:/\n2:pids:/\n0::/\n")
    assert [one.layout for one in found] == [LimitLayout.CGROUP_V1]


def test_a_mount_point_with_a_blank(machine: Machine) -> None:
    (machine.root / "fs/a b").mkdir(parents=True)
    machine.mounts.append(f"1 2 0:1 / {machine.root}/fs/a\\040b rw - cgroup2 x rw")
    folder = machine.root / "fs/a b"
    (folder / "cgroup.controllers").write_text(ALL, encoding="ascii")
    assert machine.found("0::/\n")[0].hierarchies[0].folder == folder


def test_nothing_readable_is_nothing(tmp_path: Path) -> None:
    assert candidates(tmp_path) == ()


def test_memberships() -> None:
    text = "12:cpu,cpuacct:/a b\n1:name=systemd:/x:y\n0::/u\nrubbish\n"
    found = memberships(text)
    assert found["cpu"] == found["cpuacct"] == PurePosixPath("/a b")
    assert found[""] == PurePosixPath("/u")
    assert found["name=systemd"] == PurePosixPath("/x:y")
