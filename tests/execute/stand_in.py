"""A sandbox without walls whose every step is noted: what the contract asks of whoever starts."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from truepenny.sandbox.confinement import Confinement, NotStarted, TaskGroup
from truepenny.sandbox.level import Containment, Level, LimitLayout
from truepenny.sandbox.plan import Account, Plan, Profile
from truepenny.sandbox.sandbox import Sandbox

CONTAINMENT = Containment(Level.LANDLOCK, LimitLayout.RLIMITS, "nobody", "none")


class Members(TaskGroup):
    """A group that is told who is in it."""

    def __init__(self, *, holds: bool = True, memory: bool = False) -> None:
        self.pids: set[int] = set()
        self.log: list[str] = []
        self._holds = holds
        self._memory = memory

    def holds(self, pid: int) -> bool:
        self.log.append("holds")
        return self._holds

    def members(self) -> tuple[int, ...]:
        return tuple(sorted(pid for pid in self.pids if os.path.exists(f"/proc/{pid}")))

    def kill(self) -> None:
        self.log.append("kill")
        for pid in self.pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def out_of_memory(self) -> bool:
        self.log.append("out_of_memory")
        return self._memory

    def remove(self) -> bool:
        self.log.append("remove")
        return True


class StandIn(Sandbox):
    """Confinements with what a test asks for. `closed` counts what was given back."""

    def __init__(
        self,
        *,
        words: tuple[str, ...] = (),
        group: TaskGroup | None = None,
        before_start: Callable[[], None] | None = None,
        verdict: Callable[[int | None, str], NotStarted | None] = lambda code, stderr: None,
        refuse: Exception | None = None,
        containment: Containment = CONTAINMENT,
        descriptors: tuple[int, ...] = (),
        environment: Callable[[Any], Any] = dict,
    ) -> None:
        account = Account("nobody", 65534, 65534, drop=False)
        super().__init__(Plan(Profile.COMMAND, (), Path("/"), account), containment)
        self.opened = self.closed = 0
        self._words = words
        self._group = group
        self._before_start = before_start
        self._verdict = verdict
        self._refuse = refuse
        self._descriptors = descriptors
        self._environment = environment

    def confine(self, cwd: Path | None = None) -> Confinement:
        if self._refuse is not None:
            raise self._refuse
        self.opened += 1
        return Confinement(
            containment=self.containment,
            argv=lambda program: (*self._words, *program),
            cwd=None if cwd is None else str(cwd),
            environment=self._environment,
            descriptors=self._descriptors,
            before_start=self._before_start,
            group=self._group,
            verdict=self._verdict,
            close=self._close,
        )

    def _close(self) -> None:
        self.closed += 1
