"""A plan as people read it: what is there, how, and why; and what is not stopped.

Each level makes something else of a plan, and the text says what this one makes of it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass

from .gap import meaning
from .level import Containment, Level, LimitLayout
from .plan import Mode, Mount, Network, Plan, ResourceLimits

HOW = {
    Mode.READ: "read",
    Mode.WRITE: "write",
    Mode.EMPTY: "empty, its own",
    Mode.LINK: "link",
    Mode.PROC: "its own",
    Mode.DEV: "its own",
}

CLOSED = "closed; its own is elsewhere (TMPDIR, HOME)"
CHANGEABLE = "read, but it can be changed"
UNLISTED = "read, but for what is hidden in it, and not listed"

LEVELS = {
    Level.BWRAP: "namespaces of its own (bubblewrap)",
    Level.LANDLOCK: "the kernel's file and network rules (Landlock); paths are the machine's",
    Level.NONE: "NOTHING: no path is closed to it but by the rights of the account",
}

NETWORKS = {
    Network.NONE: "none",
    Network.PROXY: "only the hosts of sandbox.allow_hosts, through our proxy",
    Network.HOST: "all that this machine reaches",
}

MEBIBYTE = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Row:
    """One path as it is inside. `mount` is what the plan says of it, None for a hidden path."""

    path: str
    how: str
    why: str
    mount: Mount | None = None


def explain(plan: Plan, containment: Containment) -> str:
    """Return the text: a table of paths (path, how, why), then one line a fact.

    Raises CouldNotRun where the level cannot hold the plan at all.
    """
    found = [(row.path, row.how, row.why) for row in rows(plan, containment.level)]
    table: list[str] = []
    if found:
        cells = [("path", "how", "why"), *found]
        widths = [max(len(row[column]) for row in cells) for column in (0, 1)]
        table = [f"{path:{widths[0]}}  {how:{widths[1]}}  {why}" for path, how, why in cells]
        table.append("")
    account = f"{plan.account.name} (uid {plan.account.uid})"
    facts = [
        f"held by: {LEVELS[containment.level]}",
        f"runs as: {account}{', never as root' if plan.account.drop else ''}",
        f"network: {NETWORKS[Network(containment.network)]}",
        f"limits: {_limits(plan.limits, containment.limits)}",
    ]
    gaps = [f"  {gap}: {meaning(gap)}" for gap in containment.gaps]
    return "\n".join([*table, *facts, "not stopped:", *gaps])


def rows(plan: Plan, level: Level) -> Iterator[Row]:
    """Yield what the level makes of each path: nothing where there is none that holds.

    Raises CouldNotRun where the level cannot hold the plan at all.
    """
    if level is Level.NONE:
        return
    words = _landlock(plan) if level is Level.LANDLOCK else {}
    for mount in (*plan.mounts, *plan.sockets):
        how = words.get(mount) or HOW[mount.mode]
        if mount.mode is Mode.LINK or mount.source not in (None, mount.destination):
            how += f" ({mount.source})"
        if mount.mode in (Mode.READ, Mode.WRITE) and not os.path.lexists(str(mount.source)):
            how = "not there, left out"
        yield Row(str(mount.destination), how, mount.reason, mount)
    for path in plan.masks:
        yield Row(str(path), "hidden", "our own files, or secrets")


def _landlock(plan: Plan) -> dict[Mount, str]:
    """Return what rules make of mounts where it is not what a mount would be: they move nothing,
    and grant or do not."""
    from .landlock.grants import DEVICES, Around, grants, unprotected

    around = {one.folder for one in grants(plan) if isinstance(one, Around)}
    changeable = frozenset(unprotected(plan))
    fixed = {
        Mode.EMPTY: CLOSED,
        Mode.LINK: "the machine's",
        Mode.PROC: "only what is about the machine; of processes the numbers",
        Mode.DEV: ", ".join(DEVICES),
    }
    found: dict[Mount, str] = {}
    for mount in plan.mounts:
        if mount.mode in fixed:
            found[mount] = fixed[mount.mode]
        elif mount.destination in changeable:
            found[mount] = CHANGEABLE
        elif mount.source in around:
            found[mount] = UNLISTED
    return found


def _limits(limits: ResourceLimits, layout: LimitLayout) -> str:
    """Return what is in force, by what, and what is set and is not."""
    each = " for each process"
    grouped = layout in (LimitLayout.CGROUP_V1, LimitLayout.CGROUP_V2)
    some = layout is not LimitLayout.NONE
    found: list[tuple[bool, str]] = []
    if limits.memory is not None:
        memory = f"{limits.memory / MEBIBYTE:g} MiB of memory"
        found.append((some, memory if grouped else memory + each))
    if limits.processes is not None:
        count = f"{limits.processes} processes"
        found.append((some, count if grouped else f"{count} of the account"))
    if limits.cpu is not None:
        found.append((grouped, f"{limits.cpu:g} processor{'' if limits.cpu == 1 else 's'}"))
    if limits.file_size is not None:
        found.append((some, f"files of {limits.file_size / MEBIBYTE:g} MiB"))
    if limits.open_files is not None:
        found.append((some, f"{limits.open_files} open files{each}"))
    held = ", ".join(text for holds, text in found if holds)
    lost = ", ".join(text for holds, text in found if not holds)
    text = f"{held}; by {layout}" if held else "none"
    return f"{text}; not held: {lost}" if lost else text
