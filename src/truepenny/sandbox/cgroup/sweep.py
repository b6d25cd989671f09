"""Removing the groups that dead owners left, with all that still runs in them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from .group import ControlGroup
from .hierarchy import Hierarchy
from .name import owner_is_dead


@dataclass(frozen=True, slots=True)
class Swept:
    """Names of groups: removed whole, and those of which something outlived even a kill."""

    removed: tuple[str, ...] = ()
    left: tuple[str, ...] = ()


def sweep_hierarchies(hierarchies: Sequence[Hierarchy]) -> Swept:
    """Remove what is proven to be nobody's. A folder that cannot be listed is left as it is."""
    names: set[str] = set()
    for hierarchy in hierarchies:
        try:
            names.update(os.listdir(hierarchy.folder))
        except OSError:
            continue
    removed: list[str] = []
    left: list[str] = []
    for name in sorted(filter(owner_is_dead, names)):
        group = ControlGroup(name, hierarchies)
        group.kill()
        (removed if group.remove() else left).append(name)
    return Swept(tuple(removed), tuple(left))
