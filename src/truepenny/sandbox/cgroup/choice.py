"""Which layout works here: tried once for real, then used for every run."""

from __future__ import annotations

import functools

from truepenny.errors import CouldNotRun
from truepenny.sandbox.level import LimitLayout
from truepenny.sandbox.plan import ResourceLimits

from .group import ControlGroup
from .hierarchy import Candidate, candidates
from .name import new_name
from .sweep import Swept, sweep_hierarchies


def layout() -> LimitLayout:
    """Return what holds a run: a control group layout, or `rlimits` where none is ours to use."""
    found = _working()
    return LimitLayout.RLIMITS if found is None else found.layout


def open_group(limits: ResourceLimits) -> ControlGroup | None:
    """Make a fresh group with these limits in force; None where `layout()` is `rlimits`.

    The first call in a process removes what dead owners left. Raises CouldNotRun where groups
    work and this one could not be made: without it the run would have no limits.
    """
    found = _working()
    name = None if found is None else new_name()
    if found is None or name is None:
        return None
    try:
        return ControlGroup.make(name, found.hierarchies, limits)
    except OSError as error:
        raise CouldNotRun(
            f"no control group can be made: {error.strerror or error}",
            where="sandbox",
            remedy="Run `truepenny doctor`: it tries to make one and says what refuses it.",
        ) from error


def sweep() -> Swept:
    """Remove the groups of dead owners, and kill what runs in them."""
    found = _working()
    return Swept() if found is None else sweep_hierarchies(found.hierarchies)


@functools.cache
def _working() -> Candidate | None:
    for candidate in candidates():
        if _works(candidate):
            sweep_hierarchies(candidate.hierarchies)
            return candidate
    return None


def _works(candidate: Candidate) -> bool:
    """Try it with every limit: that the kernel takes them is the only proof."""
    name = new_name()
    if name is None:
        return False
    try:
        group = ControlGroup.make(name, candidate.hierarchies, ResourceLimits())
    except OSError:
        return False
    return group.remove()
