"""The layout of version 2 over plain files that behave as the kernel's do.

What needs the real controllers (that memory.max and cpu.max limit, that memory.events counts) is
not proven here; joining, killing and removing in a real unified tree is, in test_group.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import pytest

from truepenny.sandbox.cgroup.group import ControlGroup
from truepenny.sandbox.cgroup.hierarchy import CONTROLLERS, Hierarchy
from truepenny.sandbox.plan import ResourceLimits

FILES = (
    "cgroup.procs",
    "cgroup.kill",
    "memory.max",
    "memory.swap.max",
    "memory.events",
    "pids.max",
    "cpu.max",
)


class Tree:
    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.root = root
        self.files = list(FILES)
        (root / "cgroup.subtree_control").write_text("memory", encoding="ascii")
        monkeypatch.setattr(Path, "mkdir", lambda path, mode=0o777: self._make(path, mode))
        monkeypatch.setattr(Path, "rmdir", shutil.rmtree)

    def _make(self, path: Path, mode: int) -> None:
        os.mkdir(path, mode)
        for name in self.files:
            Path(path, name).touch()

    def group(self, limits: ResourceLimits, *, hand_down: bool = False) -> ControlGroup:
        hierarchy = Hierarchy(
            self.root, PurePosixPath("/unit"), CONTROLLERS, unified=True, hand_down=hand_down
        )
        return ControlGroup.make("truepenny-1", (hierarchy,), limits)

    def read(self, name: str) -> str:
        return (self.root / "truepenny-1" / name).read_text(encoding="ascii")

    def write(self, name: str, text: str) -> None:
        (self.root / "truepenny-1" / name).write_text(text, encoding="ascii")


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Tree]:
    with monkeypatch.context() as patched:
        yield Tree(tmp_path, patched)


def test_limits_are_in_force_before_anything_joins(tree: Tree) -> None:
    group = tree.group(ResourceLimits(memory=4096, processes=3, cpu=0.5))
    assert tree.read("memory.max") == "4096"
    assert tree.read("memory.swap.max") == "0"
    assert tree.read("pids.max") == "3"
    assert tree.read("cpu.max") == "50000 100000"
    assert len(group.descriptors) == 1
    assert os.readlink(f"/proc/self/fd/{group.descriptors[0]}").endswith("cgroup.procs")
    assert group.remove()


def test_a_kernel_without_swap_accounting_will_do(tree: Tree) -> None:
    tree.files.remove("memory.swap.max")
    assert tree.group(ResourceLimits()).remove()


def test_a_kernel_without_a_limit_will_not(tree: Tree) -> None:
    tree.files.remove("pids.max")
    with pytest.raises(FileNotFoundError):
        tree.group(ResourceLimits())
    assert not (tree.root / "truepenny-1").exists()


def test_only_missing_controllers_are_handed_down(tree: Tree) -> None:
    group = tree.group(ResourceLimits(), hand_down=True)
    control = (tree.root / "cgroup.subtree_control").read_text(encoding="ascii")
    assert control == "+pids +cpu"
    assert group.remove()


def test_one_write_kills_all(tree: Tree) -> None:
    group = tree.group(ResourceLimits())
    tree.write("cgroup.procs", f"{os.getpid()}\n")
    group.kill()
    assert tree.read("cgroup.kill") == "1"
    tree.write("cgroup.procs", "")
    assert group.remove()


def test_an_older_kernel_is_told_to_fork_no_more(tree: Tree) -> None:
    tree.files.remove("cgroup.kill")
    group = tree.group(ResourceLimits())
    group.kill()
    assert tree.read("pids.max").startswith("0")
    assert group.remove()


@pytest.mark.parametrize(
    ("events", "killed"),
    [
        ("low 0\nhigh 0\nmax 9\noom 3\noom_kill 0\noom_group_kill 0\n", False),
        ("low 0\nhigh 0\nmax 9\noom 3\noom_kill 2\noom_group_kill 0\n", True),
        ("", False),
        ("oom_kill many\n", False),
    ],
)
def test_a_kill_for_memory_is_what_the_kernel_counts(tree: Tree, events: str, killed: bool) -> None:
    group = tree.group(ResourceLimits())
    tree.write("memory.events", events)
    assert group.out_of_memory() is killed
    assert group.remove()


def test_members_of_another_process_namespace_have_no_number(tree: Tree) -> None:
    group = tree.group(ResourceLimits())
    tree.write("cgroup.procs", "0\n7\n5\n0\n")
    assert group.members() == (5, 7)
    tree.write("cgroup.procs", "")
    assert group.remove()
