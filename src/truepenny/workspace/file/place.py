"""From the path in a call to an opened place, with nothing left to chance between check and use.

The path is walked from `/` one name at a time, each opened in the directory before it without
following links. A symbolic link is read and its text walked like the rest, so that the place that
is reached has one real path, and that path is what the rules are held against. What is used later
is the descriptor of what was checked: whoever swaps a name for a link meanwhile moves nothing
(spec/field.md B5). Linux only: it needs descriptors that only name a place (`O_PATH`).

What this cannot see: a hard link to a file that lies elsewhere. It is that file.
"""

from __future__ import annotations

import difflib
import errno
import os
import stat
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import islice
from pathlib import Path
from types import TracebackType

from truepenny.tool.outcome import Outcome

from .access import FileAccess
from .fault import FileFault, changed, failure, invalid_path, refused_place

MAX_LINKS = 40
"""Symbolic links on one path: as many as the kernel follows."""

MAX_PATH_BYTES = 4096
"""A longer path is none to the kernel either."""

MAX_NEIGHBOURS = 2000
"""Names looked at for what a missing one may have meant."""

_NAME_ONLY = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC
_DIRECTORY = _NAME_ONLY | os.O_DIRECTORY
_LISTING = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
# Never waiting for a peer, never a controlling terminal: there may be anything by now.
_CONTENT = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC

_KINDS = (
    (stat.S_ISDIR, "directory"),
    (stat.S_ISFIFO, "pipe"),
    (stat.S_ISSOCK, "socket"),
    (stat.S_ISCHR, "device"),
    (stat.S_ISBLK, "device"),
)


class Need(StrEnum):
    """What a call wants of a place."""

    READ = "read"
    WRITE = "write"


@dataclass(slots=True)
class Place:
    """One opened place; close it, or use it as a context.

    `path` is its real path. `parent` is a descriptor of the directory that holds it under `name`
    (empty for `/`); where `missing` names directories that are not there yet, of the last one that
    is. `node` and `found` are the thing itself, None where there is none. `linked` says that a
    symbolic link led here.
    """

    path: Path
    name: str
    parent: int
    node: int | None = None
    found: os.stat_result | None = None
    missing: tuple[str, ...] = ()
    linked: bool = False
    held: ExitStack = field(default_factory=ExitStack)

    def __enter__(self) -> Place:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Give the descriptors back; safe to call again."""
        self.held.close()

    @property
    def kind(self) -> str:
        """What is there: `file`, `directory`, `pipe`, `socket`, `device`, or nothing."""
        if self.found is None:
            return ""
        mode = self.found.st_mode
        return next((word for test, word in _KINDS if test(mode)), "file")

    def require_file(self) -> None:
        """Raise FileFault unless it is a regular file."""
        kind = self.kind
        if kind == "directory":
            hint = "name a file in it, or list it with find"
            raise invalid_path("is_directory", f"{self.path} is a directory", hint)
        if kind != "file":
            raise refused_place("not_a_file", f"{self.path} is a {kind}, not a regular file")

    def open_file(self) -> int:
        """Return a readable descriptor of the very file that was found; the caller closes it."""
        self.require_file()
        handle = self._open(self.name, _CONTENT, self.parent)
        if self.found is not None and not os.path.samestat(os.fstat(handle), self.found):
            os.close(handle)
            raise changed(self.path)
        return handle

    def open_directory(self) -> int:
        """Return a readable descriptor of the directory; the caller closes it."""
        if self.kind != "directory" or self.node is None:
            raise invalid_path("not_a_directory", f"{self.path} is not a directory")
        return self._open(".", _LISTING, self.node)

    def make_parents(self) -> int:
        """Make the missing directories, with the mode that the umask leaves; return how many."""
        made = 0
        for name in self.missing:
            try:
                os.mkdir(name, 0o777, dir_fd=self.parent)
            except FileExistsError:
                own = False
            except OSError as error:
                raise failure(error, self.path, "Making the directories of") from error
            else:
                own = True
            below = self._open(name, _DIRECTORY, self.parent)
            self.held.callback(os.close, below)
            if own:
                made += 1
                _give_to_owner(self.parent, below)
            self.parent = below
        self.missing = ()
        return made

    def _open(self, name: str, flags: int, directory: int) -> int:
        try:
            return os.open(name, flags, dir_fd=directory)
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.ENOENT, errno.ENOTDIR, errno.ENXIO):
                raise changed(self.path) from error
            raise failure(error, self.path, "Opening") from error


def find_place(access: FileAccess, argument: str, need: Need) -> Place:
    """Open what `argument` names. Raises FileFault.

    A place that is not there yet is found for WRITE, with the directories that are missing. What
    lies outside all roots gets one answer whether it exists or not.
    """
    _check(argument)
    with ExitStack() as held:
        try:
            place = _Walk(access, argument, need, held).go()
        except OSError as error:
            raise failure(error, Path(argument), "Opening") from error
        place.held = held.pop_all()
    return place


class _Walk:
    def __init__(self, access: FileAccess, argument: str, need: Need, held: ExitStack) -> None:
        self._held = held
        self._access = access
        self._argument = argument
        self._need = need
        whole = argument if argument.startswith("/") else f"{access.cwd}/{argument}"
        self._pending = whole.split("/")[::-1]  # the next name is the last one
        self._names: list[str] = []
        self._directories = [self._hold(os.open("/", _DIRECTORY))]
        self._links = 0

    def go(self) -> Place:
        while name := self._next():
            try:
                node = os.open(name, _NAME_ONLY, dir_fd=self._directories[-1])
            except FileNotFoundError:
                return self._absent(name)
            except OSError as error:
                fault = failure(error, self._at(name), "Opening")
                ours = fault.outcome is Outcome.INTERNAL_ERROR  # it says nothing about the path
                raise (fault if ours else self._hidden(name, fault)) from error
            self._hold(node)
            found = os.fstat(node)
            if stat.S_ISLNK(found.st_mode):
                self._follow(node, name)
            elif stat.S_ISDIR(found.st_mode):
                self._names.append(name)
                self._directories.append(node)
            elif self._pending:  # also by a slash at the end, which asks for a directory
                fault = invalid_path("not_a_directory", f"{self._at(name)} is not a directory")
                raise self._hidden(name, fault)
            else:
                self._names.append(name)
                return self._end(node, self._directories[-1])
        above = self._directories[-2] if self._names else self._directories[-1]
        return self._end(self._directories[-1], above)

    def _next(self) -> str:
        while self._pending:
            name = self._pending.pop()
            if name == "..":
                # The directory that was really come through, not what its name says by now.
                if self._names:
                    self._names.pop()
                    self._directories.pop()
            elif name not in ("", "."):
                return name
        return ""

    def _follow(self, node: int, name: str) -> None:
        self._links += 1
        if self._links > MAX_LINKS:
            fault = FileFault(
                "link_circle", f"{self._at(name)}: the symbolic links lead in a circle"
            )
            raise self._hidden(name, fault)
        text = os.readlink("", dir_fd=node)
        if text.startswith("/"):
            self._names.clear()
            del self._directories[1:]
        self._pending.extend(text.split("/")[::-1])

    def _absent(self, name: str) -> Place:
        rest = [part for part in reversed(self._pending) if part not in ("", ".")]
        path = self._at(name).joinpath(*rest)
        if self._need is Need.READ or ".." in rest:
            raise self._hidden(name, self._not_found(name, path))
        self._allow(path, self._need)
        if self._pending and self._pending[0] == "":
            hint = "leave the slash at the end out for a file"
            raise invalid_path("not_a_directory", f"there is no directory {path}", hint)
        names = (name, *rest)
        parent, linked = self._directories[-1], self._links > 0
        return Place(path, names[-1], parent, missing=names[:-1], linked=linked)

    def _end(self, node: int, parent: int) -> Place:
        path = Path("/", *self._names)
        self._allow(path, self._need)
        name, linked = self._names[-1] if self._names else "", self._links > 0
        return Place(path, name, parent, node, os.fstat(node), linked=linked)

    def _allow(self, path: Path, need: Need) -> None:
        level = self._access.level(path)
        if level in (need, "write"):
            return
        if level == "read":
            hint = f"write below {_listed(self._access.roots.write)}"
            raise refused_place("read_only", f"{path} may be read but not written", hint)
        if level == "denied":
            raise refused_place("denied", f"{path} is kept from tools")
        way = " (through a symbolic link)" if self._links else ""
        raise refused_place(
            "outside_roots",
            f"{self._argument} leads outside of what may be used{way}",
            f"use a path below {_listed((self._access.cwd, *self._access.roots.read))}",
        )

    def _hidden(self, name: str, fault: FileFault) -> FileFault:
        """Return the fault, or the refusal where nobody may know what is there."""
        try:
            self._allow(self._at(name), Need.READ)
        except FileFault as refusal:
            return refusal
        return fault

    def _not_found(self, name: str, path: Path) -> FileFault:
        near: list[str] = []
        if self._access.level(self._at(name)) in ("read", "write"):
            near = difflib.get_close_matches(name, self._neighbours(), n=3)
        hint = "did you mean " + " or ".join(str(self._at(other)) for other in near)
        return FileFault("not_found", f"there is no {path}", hint if near else "")

    def _neighbours(self) -> list[str]:
        try:
            handle = os.open(".", _LISTING, dir_fd=self._directories[-1])
        except OSError:
            return []
        try:
            with os.scandir(handle) as entries:
                return [entry.name for entry in islice(entries, MAX_NEIGHBOURS)]
        finally:
            os.close(handle)

    def _at(self, name: str) -> Path:
        return Path("/", *self._names, name)

    def _hold(self, descriptor: int) -> int:
        self._held.callback(os.close, descriptor)
        return descriptor


def _check(argument: str) -> None:
    if not argument:
        raise invalid_path("path", "the path is empty")
    if "\0" in argument:
        raise invalid_path("path", "the path has a NUL character")
    try:
        size = len(os.fsencode(argument))
    except UnicodeEncodeError:
        raise invalid_path("path", "the path has half a character") from None
    if size > MAX_PATH_BYTES:
        raise invalid_path("path", f"the path is longer than {MAX_PATH_BYTES} bytes")


def _give_to_owner(parent: int, made: int) -> None:
    """Give what root made to the owner of the directory around it, or nobody else could use it."""
    if os.geteuid() != 0:
        return
    owner = os.fstat(parent)
    handle = os.open(".", _LISTING, dir_fd=made)
    try:
        with suppress(PermissionError):  # root without the right to: it stays ours
            os.fchown(handle, owner.st_uid, owner.st_gid)
    finally:
        os.close(handle)


def _listed(roots: tuple[Path, ...]) -> str:
    return ", ".join(map(str, islice(dict.fromkeys(roots), 4))) or "(there is no such root)"
