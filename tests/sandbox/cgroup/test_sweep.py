from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path, PurePosixPath

from tests.sandbox.cgroup.real import finish, limited, remains, start
from truepenny.sandbox.cgroup.choice import layout, sweep
from truepenny.sandbox.cgroup.group import ControlGroup
from truepenny.sandbox.cgroup.hierarchy import Hierarchy
from truepenny.sandbox.cgroup.name import new_name, owner_is_dead
from truepenny.sandbox.cgroup.sweep import Swept, sweep_hierarchies
from truepenny.sandbox.level import LimitLayout
from truepenny.sandbox.plan import ResourceLimits
from truepenny.system.process_identity import read_stat


def name_of_the_dead() -> str:
    """Return a group's name as a process made it that has ended since."""
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "from truepenny.sandbox.cgroup.name import new_name as n; print(n())",
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def test_names_are_ours_and_never_twice() -> None:
    names = {new_name() for _ in range(20)}
    stat = read_stat(os.getpid())
    assert stat is not None
    assert len(names) == 20
    for name in names:
        assert name is not None
        parts = name.split("-")
        assert parts[:2] == ["truepenny", str(os.getpid())]
        assert parts[3] == str(stat.start)
        assert not owner_is_dead(name)


def test_death_is_proven_never_guessed() -> None:
    dead = name_of_the_dead()
    assert owner_is_dead(dead)
    word, pid, _, start_ticks, number = dead.split("-")
    other_namespace = "-".join((word, pid, "1", start_ticks, number))
    assert not owner_is_dead(other_namespace)
    for name in ("truepenny-1-2-3", "truepenny-x-1-1-1", "other", f"{dead}-1", ""):
        assert not owner_is_dead(name)


def test_a_number_that_came_again_is_another_owner() -> None:
    own = new_name()
    assert own is not None
    word, pid, namespace, start_ticks, number = own.split("-")
    assert owner_is_dead("-".join((word, pid, namespace, str(int(start_ticks) - 1), number)))


def test_what_the_dead_left_is_ended_and_removed_and_the_rest_stays() -> None:
    ours = limited()
    if ours is None:
        assert layout() is LimitLayout.RLIMITS
        assert sweep() == Swept()
        return
    left = ControlGroup.make(name_of_the_dead(), ours.hierarchies, ResourceLimits())
    process = start(left, "cat")
    # Another process of ours may be quicker: each sweeps at its first use.
    assert left.name not in sweep().left
    assert not remains(left)
    assert finish(process)[0] != 0
    assert len(remains(ours)) == len(ours.directories)
    assert left.remove()
    assert ours.remove()


def test_a_part_of_a_group_is_removed_too() -> None:
    ours = limited()
    if ours is None:
        return
    name = name_of_the_dead()
    Path(ours.hierarchies[0].folder, name).mkdir()
    assert name not in sweep_hierarchies(ours.hierarchies).left
    assert not Path(ours.hierarchies[0].folder, name).exists()
    assert ours.remove()


def test_the_dead_may_have_been_in_a_group_beside_ours(tmp_path: Path) -> None:
    name = name_of_the_dead()
    for folder in ("top/own", f"top/other/{name}", "top/third", f"pids/{name}"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "top/file").touch()
    hierarchies = (
        Hierarchy(tmp_path / "top/own", PurePosixPath("/top/own"), ("memory",), unified=False),
        Hierarchy(tmp_path / "pids", PurePosixPath("/"), ("pids",), unified=False),
    )
    assert sweep_hierarchies(hierarchies) == Swept(removed=(name,))
    assert not list(tmp_path.rglob(name))
    assert (tmp_path / "top/third").is_dir()
