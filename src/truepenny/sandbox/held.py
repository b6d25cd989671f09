"""A plan held against the file system at the moment of a start: every source open, every mount
point checked, nothing behind a symbolic link.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from truepenny.errors import CouldNotRun

from .guarded import is_folder_name
from .place import NotAPlace, Place, is_within, lineage, make_point, open_place, reason
from .plan import Mode, Mount, Plan

COPY_BYTES = 256 * 1024
"""Of a longer file a copy takes more time than a mount."""

Identities = Mapping[Path, tuple[int, int]]
"""Which folder a source was when the plan was made: device and number."""


@dataclass(frozen=True, slots=True)
class HeldMount:
    """A mount to make. `descriptor` holds its source open; None for what has none.

    Two need no mount, each of which takes a part of a millisecond: `copied` says that the
    descriptor is open for reading and its text is put there, `plain` that an empty folder is made
    in another one that is empty and in memory.
    """

    mount: Mount
    descriptor: int | None = None
    copied: bool = False
    plain: bool = False


@dataclass(frozen=True, slots=True)
class HeldMask:
    """A path inside to hide, which is there."""

    path: Path
    folder: bool


@dataclass(frozen=True, slots=True)
class Held:
    """What is really mounted, in order; optional mounts whose source is missing are left out."""

    mounts: tuple[HeldMount, ...]
    masks: tuple[HeldMask, ...]

    def descriptors(self, *, mounted: bool) -> tuple[int, ...]:
        """Return those that are read from, and where it is `mounted` by them, all the others."""
        return tuple(
            held.descriptor
            for held in self.mounts
            if held.descriptor is not None and (mounted or held.copied)
        )


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
    made = _Made((plan.account.uid, plan.account.gid) if plan.account.drop else None)
    for mount in _all(plan):
        place: Place | None = None
        if mount.mode in (Mode.READ, Mode.WRITE):
            place = _source(mount, known, made, stack)
            if place is None:
                continue
        over = made.below(mount.destination)
        if over is not None:
            made.point(mount, over, place is None or place.is_folder)
        held = HeldMount(mount, None if place is None else place.descriptor)
        if mount.copied and place is not None and over is None:
            text = _readable(place, stack)
            held = held if text is None else HeldMount(mount, text, copied=True)
        elif mount.mode is Mode.EMPTY and over is not None and over[0].mode is Mode.EMPTY:
            held = HeldMount(mount, plain=not made.covers(mount))
        made.add(held, place)
    masks = tuple(mask for path in plan.masks if (mask := made.mask(path)) is not None)
    return Held(tuple(made.mounts), masks)


class _Made:
    """The mounts so far, in order, and what lies at a path inside by them."""

    def __init__(self, owner: tuple[int, int] | None) -> None:
        self.mounts: list[HeldMount] = []
        self._owner = owner
        self._places: list[Place | None] = []
        self._latest: dict[str, int] = {}

    def add(self, held: HeldMount, place: Place | None) -> None:
        """Note a mount as made."""
        self._latest[str(held.mount.destination)] = len(self.mounts)
        self.mounts.append(held)
        self._places.append(place)

    def covers(self, mount: Mount) -> bool:
        """Whether it takes something out of sight that was mounted at or below its place."""
        return any(is_within(text, mount.destination) for text in self._latest)

    def below(self, path: Path) -> tuple[Mount, Place | None] | None:
        """Return the mount that a path inside lies in: the last one made at or above it."""
        found = [self._latest[text] for text in lineage(path) if text in self._latest]
        if not found:
            return None
        number = max(found)
        return self.mounts[number].mount, self._places[number]

    def point(self, mount: Mount, found: tuple[Mount, Place | None], folder: bool) -> None:
        """Check the place where something is mounted; make it where it is missing and may be.
        `found` is what it lies in."""
        path, (over, place) = mount.destination, found
        if over.mode in (Mode.EMPTY, Mode.DEV):
            return  # In the sandbox's own memory, which nobody else sees.
        if place is None or mount.mode is Mode.LINK:
            # A link would not be mounted but made, in what lies there for everybody.
            raise _failed(f"{path} cannot be mounted below {over.destination}")
        relative = path.relative_to(over.destination)
        try:
            if over.mode is Mode.WRITE:
                point = make_point(place.descriptor, relative, folder, self._owner)
            else:
                point = open_place(relative, place.descriptor)
        except (OSError, NotAPlace) as error:
            raise _failed(f"nothing can be mounted at {path}: {reason(error)}", error) from error
        kind = point.is_folder
        point.close()
        if kind != folder:
            raise _failed(f"nothing can be mounted at {path}: one is a folder, the other is not")

    def mask(self, path: Path) -> HeldMask | None:
        """Return how to hide a path; None where nothing is there that could be seen."""
        found = self.below(path)
        if found is None:
            return None
        over, place = found
        if place is None:
            return None  # A folder in memory has nothing of the machine's.
        try:
            seen = open_place(path.relative_to(over.destination), place.descriptor)
        except FileNotFoundError:
            return None
        except (OSError, NotAPlace) as error:
            raise _failed(f"{path} cannot be hidden: {reason(error)}", error) from error
        seen.close()
        return HeldMask(path, seen.is_folder)


def _all(plan: Plan) -> tuple[Mount, ...]:
    return (*plan.mounts, *plan.sockets)


def _source(mount: Mount, known: Identities, made: _Made, stack: ExitStack) -> Place | None:
    """Open the source; None where an optional one is missing."""
    source = mount.source
    if source is None:
        raise _failed(f"{mount.destination} has no source")
    try:
        place = open_place(source)
    except FileNotFoundError as error:
        if mount.required:
            raise _failed(f"{source} is not there ({mount.reason})") from error
        below = made.below(mount.destination)
        if not mount.deny or below is None or below[0].mode is not Mode.WRITE:
            return None
        # Denied and not there yet: in a writable folder a command could put it there, unless not
        # even we could, who have at least its rights.
        try:
            made.point(mount, below, is_folder_name(mount.destination))
        except CouldNotRun as failed:
            if _refused(failed.__cause__):
                return None
            raise
        place = open_place(source)
    except (OSError, NotAPlace) as error:
        raise _failed(
            f"{source} cannot be mounted ({mount.reason}): {reason(error)}", error
        ) from error
    stack.callback(place.close)
    if known.get(source, place.identity) != place.identity:
        raise _failed(f"{source} was replaced by another folder since the plan was made")
    return place


def _readable(place: Place, stack: ExitStack) -> int | None:
    """Open a small file that everybody may read, for copying; None for anything else."""
    if not stat.S_ISREG(place.mode) or not place.mode & stat.S_IROTH:
        return None
    try:
        # The very file that is held, not whatever has its name by now.
        found = os.open(f"/proc/self/fd/{place.descriptor}", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None  # It is mounted then.
    stack.callback(os.close, found)
    return found if os.fstat(found).st_size <= COPY_BYTES else None


def _refused(error: BaseException | None) -> bool:
    """Whether the file system refused us."""
    return isinstance(error, OSError) and error.errno in (errno.EACCES, errno.EPERM, errno.EROFS)


SHORT = (errno.EMFILE, errno.ENFILE, errno.ENOMEM)


def _failed(message: str, error: OSError | NotAPlace | None = None) -> CouldNotRun:
    remedy = "Put it back as it was; symbolic links are not followed where a sandbox is made."
    if isinstance(error, OSError) and error.errno in SHORT:
        remedy = "End something else, or raise the limit of open files."
    return CouldNotRun(message, where="sandbox", remedy=remedy)
