"""A plan held by bubblewrap: one start after another, each with its own descriptors.

The words of a start: join the control group and set limits (`placement`), become the account
(`drop`, only as root), make the namespaces, run the program. Nothing runs in our own process
between fork and exec, which keeps a start at a few milliseconds.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path

from truepenny.sandbox.cgroup import layout
from truepenny.sandbox.confinement import Confinement, NotStarted
from truepenny.sandbox.gap import Situation, gaps
from truepenny.sandbox.held import hold, identities
from truepenny.sandbox.launch import Launch, prepare
from truepenny.sandbox.level import Containment, Level, LimitLayout
from truepenny.sandbox.place import is_within
from truepenny.sandbox.plan import Mode, Plan
from truepenny.sandbox.sandbox import Sandbox
from truepenny.sandbox.seccomp import filter_program
from truepenny.sandbox.trusted import ENVIRONMENT

from .arguments import arguments
from .program import LINKS, BwrapProgram
from .status import verdict

MOST_STATUS_BYTES = 64 * 1024
"""All that the pipe holds; the account has some 300 bytes."""


class BwrapSandbox(Sandbox):
    """Made by `truepenny.sandbox.choice`. What the plan's sources are is noted here, so that a
    folder that is replaced before a start is not taken for the one that was planned."""

    def __init__(self, plan: Plan, program: BwrapProgram) -> None:
        super().__init__(plan, contained(plan, program, layout()))
        self._program = program
        self._known = identities(plan)

    def confine(self, cwd: Path | None = None) -> Confinement:
        """Prepare one start; see `Sandbox.confine`."""
        with ExitStack() as stack:
            held = hold(self.plan, self._known, stack)
            launch = prepare(self.plan, stack)
            records = _Records(stack)
            variables = _memory("variables", stack)
            filters = _memory("filters", stack)
            _fill(filters, filter_program(self.plan))
            words = arguments(
                self.plan,
                held,
                self._program,
                cwd=cwd or self.plan.cwd,
                status=records.write,
                variables=variables,
                filters=filters,
            )
            bound = held.descriptors(mounted=self._program.binds_descriptors)
            return Confinement(
                containment=contained(self.plan, self._program, launch.layout),
                argv=lambda program: (*launch.words, *words, *program),
                cwd="/",
                environment=_hand_over(variables),
                descriptors=(*launch.descriptors, *bound, records.write, variables, filters),
                group=launch.group,
                verdict=_judge(launch, records),
                close=stack.pop_all().close,
            )
        raise AssertionError("a context that swallows nothing was left")


def contained(plan: Plan, program: BwrapProgram, limits: LimitLayout) -> Containment:
    """Return what is in force around a start."""
    mounts = (*plan.mounts, *plan.sockets)
    writable = [mount for mount in mounts if mount.mode is Mode.WRITE and mount.source]
    points = (*(mount.destination for mount in mounts), *plan.masks)
    sources = [mount.source for mount in mounts if mount.source and mount.mode is not Mode.LINK]
    situation = Situation(
        plan,
        Level.BWRAP,
        limits,
        swappable=not program.binds_descriptors
        and _any_below(sources, [mount.source for mount in writable if mount.source]),
        linkable=any(fault.name == LINKS for fault in program.faults)
        and _any_below(points, [mount.destination for mount in writable]),
    )
    return Containment(
        level=Level.BWRAP,
        limits=limits,
        account=plan.account.name,
        network=str(plan.network),
        gaps=gaps(situation),
    )


def _any_below(paths: Iterable[Path], folders: Collection[Path]) -> bool:
    return any(path != folder and is_within(path, folder) for path in paths for folder in folders)


def _hand_over(descriptor: int) -> Callable[[Mapping[str, str]], Mapping[str, str]]:
    """Return what writes the program's variables where bubblewrap reads them.

    Our own words never see them, so that LD_PRELOAD and its like act inside alone; and they are in
    no argument list, which everybody on the machine may read.
    """

    def environment(env: Mapping[str, str]) -> Mapping[str, str]:
        _fill(descriptor, _zero_ended(w for item in env.items() for w in ("--setenv", *item)))
        return ENVIRONMENT

    return environment


class _Records:
    """Bubblewrap's account, read once: at the verdict, or when its pipe is closed."""

    def __init__(self, stack: ExitStack) -> None:
        self._read, self.write = os.pipe()
        os.set_blocking(self._read, False)
        self._taken: bytes | None = None
        stack.callback(self._close)

    def take(self) -> bytes:
        if self._taken is None:
            try:
                self._taken = os.read(self._read, MOST_STATUS_BYTES)
            except BlockingIOError:
                self._taken = b""
        return self._taken

    def _close(self) -> None:
        self.take()
        os.close(self._read)
        os.close(self.write)


def _judge(launch: Launch, records: _Records) -> Callable[[int | None, str], NotStarted | None]:
    def judge(code: int | None, stderr: str) -> NotStarted | None:
        return launch.verdict(code, stderr) or verdict(records.take(), code, stderr)

    return judge


def _memory(name: str, stack: ExitStack) -> int:
    descriptor = os.memfd_create(f"truepenny-{name}")
    stack.callback(os.close, descriptor)
    return descriptor


def _fill(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
    os.lseek(descriptor, 0, os.SEEK_SET)


def _zero_ended(words: Iterable[str]) -> bytes:
    return b"".join(os.fsencode(word) + b"\0" for word in words)
