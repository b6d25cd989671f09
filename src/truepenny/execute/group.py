"""Process groups by number: whether anybody is in one, how many, and a signal to all.

The kernel keeps a group's number taken while it has a member, so a number that was our child's
and still names a group names ours.
"""

from __future__ import annotations

import os

import anyio

POLL_SECONDS = 0.01
"""How often an ending group is looked at: the kernel tells its end to nobody."""

_PROC = "/proc"


def send(group: int, number: int) -> None:
    """Signal all members; a group that is gone or not ours to signal is left alone."""
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        pass


def members(group: int) -> int:
    """Count the living members. Where there is no /proc, 1 stands for "some"."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return 0
    except PermissionError:
        pass  # They exist.
    try:
        entries = os.listdir(_PROC)
    except OSError:
        return 1
    return sum(_lives_in(entry, group) for entry in entries if entry.isdecimal())


async def emptied(group: int, patience: float) -> bool:
    """Wait at most `patience` seconds until no member lives; return whether that came true."""
    with anyio.move_on_after(patience):
        while members(group):  # noqa: ASYNC110  nothing else can tell
            await anyio.sleep(POLL_SECONDS)
        return True
    return False


def _lives_in(pid: str, group: int) -> bool:
    try:
        with open(f"{_PROC}/{pid}/stat", "rb") as file:
            # The name in parentheses may hold anything; the fields begin after the last one.
            state, _, its_group = file.read().rpartition(b")")[2].split()[:3]
    except (OSError, ValueError):
        return False  # It went away while we looked.
    return state not in (b"Z", b"X") and int(its_group) == group
