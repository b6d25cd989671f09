"""The sandbox of one run: a plan held by a back end, from which processes are started."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path

from .confinement import Confinement
from .level import Containment
from .plan import Plan


class Sandbox(ABC):
    """A plan with the back end that holds processes to it. `truepenny.sandbox.choice` makes one.

    It costs nothing until a process is started and needs no closing: what a start takes, its
    `Confinement` gives back.
    """

    def __init__(self, plan: Plan, containment: Containment) -> None:
        self.plan = plan
        self.containment = containment

    @abstractmethod
    def confine(self, cwd: Path | None = None) -> Confinement:
        """Prepare one start in `cwd` (a path inside; None: the plan's own).

        Raises `truepenny.errors.CouldNotRun` where the plan does not hold any more: a source that
        is gone, a mount point below a symbolic link, a control group that cannot be made.
        """
