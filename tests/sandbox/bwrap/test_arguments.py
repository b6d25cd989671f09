"""Bubblewrap's words, written out: one list that holds them all, and what each choice changes."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path

import pytest

from truepenny.sandbox.bwrap.arguments import arguments
from truepenny.sandbox.bwrap.program import BwrapProgram
from truepenny.sandbox.held import Held, HeldMask, HeldMount
from truepenny.sandbox.plan import Account, Mode, Mount, Network, Plan, Profile, ResourceLimits

PROGRAM = BwrapProgram(
    "/usr/bin/bwrap",
    (0, 12, 0),
    binds_descriptors=True,
    forbids_namespaces=True,
    sizes_folders=True,
)
ORDINARY = Account("ada", 1000, 1000, drop=False)
DROPPED = Account("ada", 1000, 1000, drop=True)
WORK = Path("/home/ada/work")


def mount(mode: Mode, path: str, source: str | None = None) -> Mount:
    return Mount(mode, Path(path), "a reason", None if source is None else Path(source))


HELD = Held(
    (
        HeldMount(mount(Mode.READ, "/usr", "/usr"), 10),
        HeldMount(mount(Mode.LINK, "/bin", "usr/bin")),
        HeldMount(mount(Mode.PROC, "/proc")),
        HeldMount(mount(Mode.DEV, "/dev")),
        HeldMount(mount(Mode.READ, "/etc/hosts", "/etc/hosts"), 13, copied=True),
        HeldMount(mount(Mode.EMPTY, "/tmp")),
        HeldMount(mount(Mode.EMPTY, "/tmp/home"), plain=True),
        HeldMount(mount(Mode.WRITE, str(WORK), str(WORK)), 11),
        HeldMount(mount(Mode.READ, "/data", "/srv/data"), 12),
    ),
    (HeldMask(WORK / "secret", True), HeldMask(WORK / "token", False)),
)


def plan(
    profile: Profile = Profile.COMMAND,
    network: Network = Network.NONE,
    account: Account = ORDINARY,
    memory: int | None = None,
) -> Plan:
    mounts = tuple(held.mount for held in HELD.mounts)
    return Plan(profile, mounts, WORK, account, network, limits=ResourceLimits(memory=memory))


def words(of: Plan, program: BwrapProgram = PROGRAM, filters: int | None = 9) -> list[str]:
    return list(arguments(of, HELD, program, cwd=of.cwd, status=7, variables=8, filters=filters))


GOLDEN = shlex.split("""
/usr/bin/bwrap --unshare-all --unshare-user --disable-userns --die-with-parent --new-session
--cap-drop ALL --json-status-fd 7 --clearenv --args 8
--ro-bind-fd 10 /usr --symlink usr/bin /bin --proc /proc --dev /dev
--perms 0444 --file 13 /etc/hosts --tmpfs /tmp --perms 0755 --dir /tmp/home
--bind-fd 11 /home/ada/work --ro-bind-fd 12 /data
--perms 0555 --tmpfs /home/ada/work/secret --remount-ro /home/ada/work/secret
--ro-bind /dev/null /home/ada/work/token
--remount-ro / --chdir /home/ada/work --seccomp 9 --
""")


@pytest.mark.parametrize("profile", list(Profile))
@pytest.mark.parametrize("account", [ORDINARY, DROPPED])
@pytest.mark.parametrize("network", list(Network))
def test_the_matrix(profile: Profile, account: Account, network: Network) -> None:
    found = words(plan(profile, network, account))
    if network is Network.HOST:
        # The proxy is reached through a socket that is mounted; only the host's network is shared.
        assert found.pop(found.index("--share-net")) == "--share-net"
    assert found == GOLDEN


def test_masks_are_the_last_mounts_and_the_root_is_closed_after_them() -> None:
    found = words(plan())
    last_mount = max(index for index, word in enumerate(found) if word in ("--bind-fd", "--tmpfs"))
    assert found[last_mount + 1] == str(WORK / "secret")
    assert found.index("--remount-ro", found.index("/dev/null")) > last_mount
    assert found[found.index("/dev/null") + 2 :][:2] == ["--remount-ro", "/"]


def test_without_mounts_by_descriptor_it_names_what_was_checked() -> None:
    found = words(plan(), replace(PROGRAM, binds_descriptors=False))
    text = " ".join(found)
    assert "--ro-bind /usr /usr" in text
    assert f"--bind {WORK} {WORK}" in text
    assert "--ro-bind /srv/data /data" in text
    assert "-fd 1" not in text


def test_what_a_program_does_not_have_is_not_asked_of_it() -> None:
    old = replace(PROGRAM, forbids_namespaces=False, sizes_folders=False)
    found = words(plan(memory=1000), old, filters=None)
    assert "--disable-userns" not in found
    assert "--size" not in found
    assert "--seccomp" not in found
    assert "--unshare-user" in found


def test_a_folder_in_memory_is_bounded_by_the_memory_of_the_run() -> None:
    found = words(plan(memory=1000))
    at = found.index("--size")
    assert found[at : at + 4] == ["--size", "1000", "--tmpfs", "/tmp"]
