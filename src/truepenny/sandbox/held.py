"""A plan held against the file system at the moment of a start: every source open, every mount
point checked, nothing behind a symbolic link.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from truepenny.errors import CouldNotRun

from .guarded import is_folder_name
from .place import NotAPlace, Place, is_within, make_point, open_place, reason
from .plan import Mode, Mount, Plan

Identities = Mapping[Path, tuple[int, int]]
"""Which folder a source was when the plan was made: device and number."""


@dataclass(frozen=True, slots=True)
class HeldMount:
    """A mount to make. `descriptor` holds its source open; None for what has none."""

    mount: Mount
    descriptor: int | None = None


@dataclass(frozen=True, slots=True)
class HeldMask:
    """A path inside to hide, which is there."""

    path: Path
    folder: bool


@dataclass(frozen=True, slots=True)
class Held:
    """What is really mounted, in order. `missing` are optional mounts that were left out."""

    mounts: tuple[HeldMount, ...]
    masks: tuple[HeldMask, ...]
    missing: tuple[Mount, ...]

    @property
    def descriptors(self) -> tuple[int, ...]:
        """All that hold a source open."""
        return tuple(held.descriptor for held in self.mounts if held.descriptor is not None)


def identities(plan: Plan) -> Identities:
    """Return which folders the plan's sources are now. What is not there has no entry."""
    found: dict[Path, tuple[int, int]] = {}
    for mount in _all(plan):
        if mount.source is None or mount.mode is Mode.LINK:
            continue
        try:
            place = open_place(mount.source)
        except (OSError, NotAPlace):
            continue
        # A file may be replaced by a newer one of the same name, as editors do; a folder is not.
        if place.is_folder:
            found[mount.source] = place.identity
        place.close()
    return found


def hold(plan: Plan, known: Identities, stack: ExitStack) -> Held:
    """Open and check everything; `stack` closes it. Mount points that are missing in a writable
    mount are made, through no link, for the account.

    Raises CouldNotRun where a required source is gone, where a folder is another one than when the
    plan was made, or where a link or the wrong kind of thing stands where something is mounted.
    """
    mounts: list[HeldMount] = []
    places: list[Place | None] = []
    missing: list[Mount] = []
    owner = (plan.account.uid, plan.account.gid) if plan.account.drop else None
    for mount in _all(plan):
        place = None
        if mount.mode in (Mode.READ, Mode.WRITE):
            place = _source(mount, known, mounts, places, owner, stack)
            if place is None:
                missing.append(mount)
                continue
        folder = place.is_folder if place is not None else True
        if mount.mode is not Mode.LINK:
            _point(mount.destination, folder, mounts, places, owner)
        mounts.append(HeldMount(mount, None if place is None else place.descriptor))
        places.append(place)
    masks: list[HeldMask] = []
    for path in plan.masks:
        below = _below(path, mounts)
        place = None if below is None else places[below]
        if below is None or place is None:
            continue  # In a folder of its own, or in none: there is nothing to hide.
        try:
            seen = open_place(path.relative_to(mounts[below].mount.destination), place.descriptor)
        except FileNotFoundError:
            continue
        except (OSError, NotAPlace) as error:
            raise _failed(f"{path} cannot be hidden: {reason(error)}") from error
        masks.append(HeldMask(path, seen.is_folder))
        seen.close()
    return Held(tuple(mounts), tuple(masks), tuple(missing))


def _all(plan: Plan) -> tuple[Mount, ...]:
    return (*plan.mounts, *plan.sockets)


def _source(
    mount: Mount,
    known: Identities,
    mounts: list[HeldMount],
    places: list[Place | None],
    owner: tuple[int, int] | None,
    stack: ExitStack,
) -> Place | None:
    """Open the source; None where an optional one is missing."""
    source = mount.source
    if source is None:
        raise _failed(f"{mount.destination} has no source")
    try:
        place = open_place(source)
    except FileNotFoundError as error:
        if mount.required:
            raise _failed(f"{source} is not there ({mount.reason})") from error
        below = _below(mount.destination, mounts)
        if not mount.deny or below is None or mounts[below].mount.mode is not Mode.WRITE:
            return None
        # Denied and not there yet: in a writable folder a command could put it there.
        _point(mount.destination, is_folder_name(mount.destination), mounts, places, owner)
        place = open_place(source)
    except (OSError, NotAPlace) as error:
        raise _failed(f"{source} cannot be mounted ({mount.reason}): {reason(error)}") from error
    stack.callback(place.close)
    if known.get(source, place.identity) != place.identity:
        raise _failed(f"{source} was replaced by another folder since the plan was made")
    return place


def _below(path: Path, mounts: list[HeldMount]) -> int | None:
    """Return the mount that a path inside lies in: the last one made at or above it."""
    best: int | None = None
    for number, held in enumerate(mounts):
        if is_within(path, held.mount.destination):
            best = number
    return best


def _point(
    path: Path,
    folder: bool,
    mounts: list[HeldMount],
    places: list[Place | None],
    owner: tuple[int, int] | None,
) -> None:
    """Check the place where something is mounted; make it where it is missing and may be made."""
    below = _below(path, mounts)
    if below is None:
        return  # In the sandbox's own root, which nobody else sees.
    over = mounts[below].mount
    if over.mode in (Mode.EMPTY, Mode.DEV):
        return
    place = places[below]
    if place is None:
        raise _failed(f"{path} cannot be mounted below {over.destination}")
    relative = path.relative_to(over.destination)
    try:
        if over.mode is Mode.WRITE:
            point = make_point(place.descriptor, relative, folder, owner)
        else:
            point = open_place(relative, place.descriptor)
    except (OSError, NotAPlace) as error:
        raise _failed(f"nothing can be mounted at {path}: {reason(error)}") from error
    kind = point.is_folder
    point.close()
    if kind != folder:
        raise _failed(f"nothing can be mounted at {path}: one is a folder, the other is not")


def _failed(message: str) -> CouldNotRun:
    return CouldNotRun(
        message,
        where="sandbox",
        remedy="Put it back as it was; symbolic links are not followed where a sandbox is made.",
    )
