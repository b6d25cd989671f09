"""Removing the groups that dead owners left, with all that still runs in them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from .group import ControlGroup
from .hierarchy import Hierarchy
from .name import owner_is_dead

MOST_GROUPS = 1024
"""Groups beside ours that are looked into; a machine with more has other ways to clean up."""


@dataclass(frozen=True, slots=True)
class Swept:
    """Names of groups: removed whole, and those of which something outlived even a kill."""

    removed: tuple[str, ...] = ()
    left: tuple[str, ...] = ()


def sweep_hierarchies(hierarchies: Sequence[Hierarchy]) -> Swept:
    """Remove what is proven to be nobody's. A folder that cannot be listed is left as it is.

    In version 1 the dead may have been in another group than ours, beside it: each login or
    service has one.
    """
    found: dict[str, list[Hierarchy]] = {}
    for hierarchy in hierarchies:
        for place in (hierarchy, *_beside(hierarchy)):
            for name in filter(owner_is_dead, _entries(place.folder)):
                found.setdefault(name, []).append(place)
    removed: list[str] = []
    left: list[str] = []
    for name, places in sorted(found.items()):
        group = ControlGroup(name, places)
        group.kill()
        (removed if group.remove() else left).append(name)
    return Swept(tuple(removed), tuple(left))


def _beside(hierarchy: Hierarchy) -> Iterator[Hierarchy]:
    if hierarchy.unified or not hierarchy.inside.name:
        return
    folder = hierarchy.folder
    for name in _entries(folder.parent)[:MOST_GROUPS]:
        if name != folder.name:
            yield replace(hierarchy, folder=folder.parent / name)


def _entries(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []  # Not a folder, or not ours to look at.
