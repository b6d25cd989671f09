from __future__ import annotations

from pathlib import Path

import pytest

from truepenny.errors import CouldNotRun
from truepenny.sandbox.landlock import grants as module
from truepenny.sandbox.landlock.grants import Grant, grants, unprotected
from truepenny.sandbox.landlock.ruleset import DEVICE, READ, WRITE, Files, handled
from truepenny.sandbox.plan import Account, Mode, Mount, Plan, Profile

ACCOUNT = Account("nobody", 65534, 65534, drop=False)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = tmp_path.resolve()
    for name in ("a/b/c", "a/d", "w"):
        (made / name).mkdir(parents=True)
    for name in ("a/one", "a/b/two", "a/b/c/three"):
        (made / name).touch()
    (made / "a/link").symlink_to("/")
    return made


def mount(mode: Mode, path: Path, source: Path | None = None, *, required: bool = False) -> Mount:
    return Mount(mode, path, "test", source or path, required)


def plan(*mounts: Mount, masks: tuple[Path, ...] = ()) -> Plan:
    return Plan(Profile.COMMAND, mounts, Path("/"), ACCOUNT, masks=masks)


def granted(made: Plan) -> dict[Path, Files]:
    found: list[Grant] = []
    for one in grants(made):
        found += [one] if isinstance(one, Grant) else one.grants()
    return {one.path: one.rights for one in found if one.path != Path("/dev/null")}


def test_a_mount_is_its_folder(root: Path) -> None:
    made = plan(mount(Mode.READ, root / "a"), mount(Mode.WRITE, root / "w"))
    assert granted(made) == {root / "a": READ, root / "w": WRITE}


def test_only_the_machines_part_of_proc_and_plain_devices(root: Path) -> None:
    made = plan(Mount(Mode.PROC, Path("/proc"), ""), Mount(Mode.DEV, Path("/dev"), ""))
    found = granted(made)
    assert found[Path("/dev/urandom")] == DEVICE
    assert Path("/proc/meminfo") in found
    assert not {Path("/proc/self"), Path("/dev"), Path("/dev/ptmx")} & set(found)
    assert found.pop(Path("/proc")) == Files.READ_DIR
    assert not any(
        rights & Files.WRITE_FILE for path, rights in found.items() if path.parts[1] == "proc"
    )
    assert granted(plan()) == {}


def test_what_is_hidden_is_granted_around(root: Path) -> None:
    made = plan(mount(Mode.READ, root / "a"), masks=(root / "a/b/c",))
    assert set(granted(made)) == {root / "a/one", root / "a/d", root / "a/b/two"}


def test_what_is_hidden_need_not_be_there(root: Path) -> None:
    made = plan(mount(Mode.READ, root / "a"), masks=(root / "a/b/later",))
    assert set(granted(made)) == {root / "a/one", root / "a/d", root / "a/b/two", root / "a/b/c"}


def test_a_mask_over_a_whole_mount_leaves_nothing(root: Path) -> None:
    assert granted(plan(mount(Mode.READ, root / "a/b"), masks=(root / "a",))) == {}


def test_order_is_meaning(root: Path) -> None:
    empty = Mount(Mode.EMPTY, root / "a", "test")
    inside = mount(Mode.READ, root / "a/b")
    assert granted(plan(inside, empty)) == {}
    assert granted(plan(empty, inside)) == {root / "a/b": READ}
    around = plan(mount(Mode.READ, root), Mount(Mode.EMPTY, root / "a", "test"), inside)
    assert set(granted(around)) == {root / "w", root / "a/b"}


@pytest.mark.parametrize("mode", ["mask", "empty"])
def test_nothing_is_hidden_where_one_may_write(root: Path, mode: str) -> None:
    hole = root / "w/secret"
    made = (
        plan(mount(Mode.WRITE, root / "w"), masks=(hole,))
        if mode == "mask"
        else plan(mount(Mode.WRITE, root / "w"), Mount(Mode.EMPTY, hole, "test"))
    )
    with pytest.raises(CouldNotRun, match="may be written"):
        granted(made)


def test_the_entries_beside_are_bounded(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_ENTRIES", 3)
    with pytest.raises(CouldNotRun, match="too many"):
        granted(plan(mount(Mode.READ, root / "a"), masks=(root / "a/b/c",)))


def test_a_path_cannot_stand_for_another(root: Path) -> None:
    with pytest.raises(CouldNotRun, match="cannot stand for"):
        granted(plan(mount(Mode.READ, root / "elsewhere", root / "a")))
    # Unless it leads there outside as well.
    (root / "name").symlink_to(root / "a")
    assert granted(plan(mount(Mode.READ, root / "name", root / "a"))) == {root / "a": READ}


def test_an_optional_mount_may_be_missing(root: Path) -> None:
    assert granted(plan(mount(Mode.READ, root / "x", root / "none"))) == {}
    with pytest.raises(CouldNotRun):
        granted(plan(mount(Mode.READ, root / "x", root / "none", required=True)))


def test_what_is_kept_read_only_in_a_writable_folder_is_not_kept(root: Path) -> None:
    inner, outer = mount(Mode.READ, root / "w/held"), mount(Mode.WRITE, root / "w")
    assert unprotected(plan(outer, inner)) == (root / "w/held",)
    assert unprotected(plan(mount(Mode.READ, root / "a"), mount(Mode.WRITE, root / "a/b"))) == ()
    empty = Mount(Mode.EMPTY, root / "w/e", "test")
    assert unprotected(plan(outer, empty, mount(Mode.READ, root / "w/e/r"))) == ()


def test_rights_are_those_that_the_kernel_knows() -> None:
    assert handled(7) == handled(5) == Files(0xFFFF)
    assert handled(4) == Files(0x7FFF)
    assert not WRITE & (Files.MAKE_CHAR | Files.MAKE_BLOCK | Files.IOCTL_DEV)
    assert WRITE & READ == READ
