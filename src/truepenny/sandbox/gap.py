"""What a level cannot stop, as data: the words of `Containment.gaps`, each with one sentence.

Results, documentation and the text that explains a sandbox read this table. A word is given only
where it is true of the start at hand: no level claims more than it holds, and none is blamed for
what a plan allows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .level import Level, LimitLayout
from .plan import Mode, Network, Plan

SCOPED = 6
"""The version of Landlock (Linux 6.12) from which signals and abstract sockets are held."""


@dataclass(frozen=True, slots=True)
class Situation:
    """A start. `landlock` is the kernel's version of it, None for the other levels.
    `unprotected` says that the plan keeps paths in a writable folder read-only which the level
    cannot keep so. `swappable` and `linkable` say what this bubblewrap cannot rule out between our
    check of the paths and its mounting them."""

    plan: Plan
    level: Level
    limits: LimitLayout
    landlock: int | None = None
    unprotected: bool = False
    swappable: bool = False
    linkable: bool = False


@dataclass(frozen=True, slots=True)
class Gap:
    """One thing that is not stopped, where `open` says so."""

    word: str
    meaning: str
    open: Callable[[Situation], bool]


def _bare(at: Situation) -> bool:
    return at.level is Level.NONE


def _landlock(at: Situation) -> bool:
    return at.level is Level.LANDLOCK


def _unscoped(at: Situation) -> bool:
    return _landlock(at) and (at.landlock or 0) < SCOPED


def _connects(at: Situation) -> bool:
    """Whether Landlock's filter lets it connect to anything."""
    return _landlock(at) and (at.plan.network is Network.HOST or bool(at.plan.sockets))


def _writes(at: Situation) -> bool:
    return _bare(at) or any(mount.mode is Mode.WRITE for mount in at.plan.mounts)


def _each(at: Situation) -> bool:
    return at.limits is LimitLayout.RLIMITS


GAPS = (
    Gap("files", "It can read and change every file that its account can.", _bare),
    Gap(
        "network",
        "It can reach every network that the machine can, whatever the plan says.",
        lambda at: _bare(at) and at.plan.network is not Network.HOST,
    ),
    Gap(
        "processes",
        "It can see all processes, and signal and read those of its account.",
        _bare,
    ),
    Gap("system_calls", "It can make every system call that its account may.", _bare),
    Gap(
        "socket_files",
        "It can connect to services of the machine through socket files that its account may use.",
        lambda at: _bare(at) or _connects(at),
    ),
    Gap(
        "shown_sockets",
        "It can connect to services of the machine whose socket files lie in a folder that it "
        "sees.",
        lambda at: at.level is Level.BWRAP,
    ),
    Gap(
        "abstract_sockets",
        "It can connect to services of the machine that listen on abstract unix sockets.",
        lambda at: (
            _bare(at)
            or (at.level is Level.BWRAP and at.plan.network is Network.HOST)
            or (_unscoped(at) and _connects(at))
        ),
    ),
    Gap(
        "signals",
        "It can signal other processes of its account.",
        lambda at: _bare(at) or _unscoped(at),
    ),
    Gap(
        "protected_paths",
        "It can change paths that the plan keeps read-only inside a writable folder.",
        lambda at: _bare(at) or (_landlock(at) and at.unprotected),
    ),
    Gap(
        "left_behind",
        "It can leave programs, and repositories with settings of their own, in a folder that it "
        "may write; they act when a person uses them there.",
        _writes,
    ),
    Gap(
        "late_swap",
        "A parallel run in the same folder that swaps a folder in the moment of the start can have "
        "another one mounted: this bubblewrap mounts by name, not by what was checked.",
        lambda at: at.swappable,
    ),
    Gap(
        "late_link",
        "A parallel run in the same folder that puts a symbolic link above a mount point in the "
        "moment of the start can have it made elsewhere, as its account (CVE-2026-87766).",
        lambda at: at.linkable,
    ),
    Gap(
        "attributes",
        "Where it knows a path, it can see a file's size, times, mode and marks, where a link "
        "leads and which files of a folder are used, and change times, mode and marks of files of "
        "its account; it can see the numbers of processes and of their descriptors.",
        lambda at: _bare(at) or _landlock(at),
    ),
    Gap(
        "scheduling",
        "It can change the priority of other processes of its account.",
        lambda at: _bare(at) or _landlock(at),
    ),
    Gap(
        "limits_per_process",
        "Memory is limited for each process, not for all of them together, and their number for "
        "the account as a whole: no control group is delegated to us.",
        lambda at: (
            _each(at)
            and (at.plan.limits.memory is not None or at.plan.limits.processes is not None)
        ),
    ),
    Gap(
        "processor_time",
        "It can keep every processor busy: no control group is delegated to us.",
        lambda at: _each(at) and at.plan.limits.cpu is not None,
    ),
    Gap(
        "stragglers",
        "A process that hides from us outlives its run: there is neither a control group nor a "
        "process tree of its own to end.",
        lambda at: _each(at) and at.level is not Level.BWRAP,
    ),
)


def gaps(at: Situation) -> tuple[str, ...]:
    """Return the words of what is open, in the order of the table."""
    return tuple(gap.word for gap in GAPS if gap.open(at))


def meaning(word: str) -> str:
    """Return the sentence of a word. Raises KeyError for one that is not in the table."""
    return {gap.word: gap.meaning for gap in GAPS}[word]
