"""Bubblewrap's arguments, from a plan that is held. Pure: the same in, the same out.

The order is bubblewrap's order of work, so it is load-bearing: mounts as in the plan, sockets,
masks after all of them, and last of all the root made read-only, so that what is written outside
of a writable mount fails instead of vanishing at the end.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from truepenny.sandbox.held import Held, HeldMask, HeldMount
from truepenny.sandbox.plan import Mode, Network, Plan

from .program import BwrapProgram


def arguments(
    plan: Plan,
    held: Held,
    program: BwrapProgram,
    *,
    cwd: Path,
    status: int,
    variables: int,
    filters: int | None,
) -> tuple[str, ...]:
    """Return all the words up to `--`; the program's own follow.

    `status` is a descriptor that bubblewrap writes its account to, `variables` one with further
    arguments (the environment), `filters` one with the system call filter.
    """
    return (
        program.path,
        "--unshare-all",
        "--unshare-user",  # `all` alone only tries
        *(("--disable-userns",) if program.forbids_namespaces else ()),
        *(("--share-net",) if plan.network is Network.HOST else ()),
        "--die-with-parent",
        "--new-session",  # no terminal to push characters into
        *("--cap-drop", "ALL"),
        *("--json-status-fd", str(status)),
        *("--clearenv", "--args", str(variables)),
        *(word for mount in held.mounts for word in _mount(mount, plan, program)),
        *(word for mask in held.masks for word in _mask(mask)),
        *("--remount-ro", "/"),
        *("--chdir", str(cwd)),
        *(() if filters is None else ("--seccomp", str(filters))),
        "--",
    )


def _mount(held: HeldMount, plan: Plan, program: BwrapProgram) -> Iterator[str]:
    mount, destination = held.mount, str(held.mount.destination)
    if mount.mode is Mode.PROC:
        yield from ("--proc", destination)
    elif mount.mode is Mode.DEV:
        yield from ("--dev", destination)
    elif held.plain:
        yield from ("--perms", "0755", "--dir", destination)
    elif mount.mode is Mode.EMPTY:
        if program.sizes_folders and plan.limits.memory is not None:
            # Where no control group counts it, this is all that bounds it.
            yield from ("--size", str(plan.limits.memory))
        yield from ("--tmpfs", destination)
    elif mount.mode is Mode.LINK:
        yield from ("--symlink", str(mount.source), destination)
    elif held.copied:
        # In the root in memory, which is read-only by the time that the program runs.
        yield from ("--perms", "0444", "--file", str(held.descriptor), destination)
    else:
        option = "--bind" if mount.mode is Mode.WRITE else "--ro-bind"
        if program.binds_descriptors:
            yield from (f"{option}-fd", str(held.descriptor), destination)
        else:
            yield from (option, str(mount.source), destination)


def _mask(mask: HeldMask) -> Iterator[str]:
    path = str(mask.path)
    if mask.folder:
        yield from ("--perms", "0555", "--tmpfs", path, "--remount-ro", path)
    else:
        yield from ("--ro-bind", "/dev/null", path)
