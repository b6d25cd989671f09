"""Limits of one process each, for where no control group is delegated to us.

They are inherited, so each process of a run has them, but they are never shared: ten processes
may hold ten times the memory. `processes` counts all of the account, also those of other runs.
Nothing here limits processor time that is shared out over processes, nor memory in files of a
file system in memory. Where a control group holds the run, only what it cannot do is set here.
"""

from __future__ import annotations

import resource

from .plan import ResourceLimits

KIBIBYTE = 1024
BLOCK = 512
"""The unit of `ulimit -f` in POSIX; bash keeps to it under `--posix`."""


def rlimit_words(limits: ResourceLimits, *, grouped: bool) -> tuple[str, ...]:
    """Return words for `placement.place`: pairs of an option of `ulimit` and its value.

    `grouped` says that a control group holds memory and processes. No limit is above the one in
    force for us, which only root could raise.
    """
    found: list[str] = ["-c", "0"]  # A dump would put a process's memory into the workspace.
    if limits.open_files is not None:
        found += ["-n", str(_within(resource.RLIMIT_NOFILE, limits.open_files))]
    if limits.file_size is not None:
        size = _within(resource.RLIMIT_FSIZE, limits.file_size)
        found += ["-f", str(max(size // BLOCK, 1))]
    if not grouped and limits.memory is not None:
        # Private writable memory, not address space (-v): Go, Java and Node reserve far more
        # addresses than they ever use.
        memory = _within(resource.RLIMIT_DATA, limits.memory)
        found += ["-d", str(max(memory // KIBIBYTE, 1))]
    if not grouped and limits.processes is not None:
        found += ["-u", str(_within(resource.RLIMIT_NPROC, limits.processes))]
    return tuple(found)


def _within(kind: int, wanted: int) -> int:
    hard = resource.getrlimit(kind)[1]
    return wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
