"""A plan as people read it: what is there, how, and why; and what is not stopped."""

from __future__ import annotations

import os
from collections.abc import Iterator

from .gap import meaning
from .level import Containment, Level
from .plan import Mode, Network, Plan, ResourceLimits

HOW = {
    Mode.READ: "read",
    Mode.WRITE: "write",
    Mode.EMPTY: "empty, its own",
    Mode.LINK: "link",
    Mode.PROC: "its own",
    Mode.DEV: "its own",
}

LEVELS = {
    Level.BWRAP: "namespaces of its own (bubblewrap)",
    Level.LANDLOCK: "the kernel's file and network rules (Landlock)",
    Level.NONE: "NOTHING: the paths above are a wish, not a wall",
}

NETWORKS = {
    Network.NONE: "none",
    Network.PROXY: "only the hosts of sandbox.allow_hosts, through our proxy",
    Network.HOST: "all that this machine reaches",
}

ALWAYS = (
    "It can leave programs, also such as lend others its group's rights, and repositories with "
    "settings of their own, in a folder that it may write; they act when somebody uses them."
)
"""No level stops it, so it is no gap of one and stands in no result."""

MEBIBYTE = 1024 * 1024


def explain(plan: Plan, containment: Containment) -> str:
    """Return the text: a table of paths (path, how, why), then one line a fact."""
    rows = [("path", "how", "why"), *_rows(plan)]
    widths = [max(len(row[column]) for row in rows) for column in (0, 1)]
    table = [f"{path:{widths[0]}}  {how:{widths[1]}}  {why}" for path, how, why in rows]
    account = f"{plan.account.name} (uid {plan.account.uid})"
    facts = [
        f"held by: {LEVELS[containment.level]}",
        f"runs as: {account}{', never as root' if plan.account.drop else ''}",
        f"network: {NETWORKS[Network(containment.network)]}",
        f"limits: {_limits(plan.limits)}; by {containment.limits}",
    ]
    gaps = [f"  {gap}: {meaning(gap)}" for gap in containment.gaps]
    return "\n".join([*table, "", *facts, "not stopped:", *gaps, f"  always: {ALWAYS}"])


def _rows(plan: Plan) -> Iterator[tuple[str, str, str]]:
    for mount in (*plan.mounts, *plan.sockets):
        how = HOW[mount.mode]
        if mount.mode is Mode.LINK or mount.source not in (None, mount.destination):
            how += f" ({mount.source})"
        if mount.mode in (Mode.READ, Mode.WRITE) and not os.path.lexists(str(mount.source)):
            how = "not there, left out"
        yield str(mount.destination), how, mount.reason
    for path in plan.masks:
        yield str(path), "hidden", "our own files, or secrets"


def _limits(limits: ResourceLimits) -> str:
    words: list[str] = []
    if limits.memory is not None:
        words.append(f"{limits.memory / MEBIBYTE:g} MiB of memory")
    if limits.processes is not None:
        words.append(f"{limits.processes} processes")
    if limits.cpu is not None:
        words.append(f"{limits.cpu:g} processors")
    if limits.file_size is not None:
        words.append(f"files of {limits.file_size / MEBIBYTE:g} MiB")
    if limits.open_files is not None:
        words.append(f"{limits.open_files} open files a process")
    return ", ".join(words) or "none"
