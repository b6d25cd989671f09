"""One plan of what a process may reach, as data (assistant spec 3.1).

Bubblewrap's arguments, Landlock's rules, the roots of file tools and the text that people read are
all derived from this; none of them holds a second list. The order of `mounts` is the order in
which they are made: a later one covers an earlier one below the same path. `masks` come after all
of them, whatever was mounted.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path


class Profile(StrEnum):
    """What the plan is for. There is no default: a forgotten choice must not be a wide one."""

    COMMAND = "command"
    """A shell line, script or check in a workspace."""
    TOOL_SERVER = "tool_server"
    """Our own file tools inside the namespace: sees our code as well."""
    SERVICE = "service"
    """A program of somebody else's that serves us: an MCP server, an extension."""


class Mode(StrEnum):
    """How a path is there."""

    READ = "read"
    WRITE = "write"
    EMPTY = "empty"
    """A folder of its own in memory, empty at the start, gone at the end."""
    LINK = "link"
    """A symbolic link; `source` is its text."""
    PROC = "proc"
    DEV = "dev"


class Network(StrEnum):
    """What of the network is there."""

    NONE = "none"
    PROXY = "proxy"
    """Only our CONNECT proxy, with its allow-list."""
    HOST = "host"


@dataclass(frozen=True, slots=True)
class Mount:
    """One path inside. `source` as written outside, `destination` as seen inside, both absolute.

    `required` fails the plan when the source is missing; otherwise it is left out and said.
    `protected` may not be covered by a mask. `deny` keeps native file tools out, also when the
    path does not exist. `copied` says that a file may be there as a copy made at the start, which
    takes a fraction of a mount's time. `reason` is one short phrase for people.
    """

    mode: Mode
    destination: Path
    reason: str
    source: Path | None = None
    required: bool = False
    protected: bool = False
    deny: bool = False
    copied: bool = False


@dataclass(frozen=True, slots=True)
class ResourceLimits:
    """Limits of all the processes of one run together. None is no limit.

    `memory` in bytes, `processes` a count, `cpu` in processors (2.0 is two of them), `file_size`
    and `open_files` for each process.
    """

    memory: int | None = 2048 * 1024 * 1024
    processes: int | None = 512
    cpu: float | None = 2.0
    file_size: int | None = None
    open_files: int | None = 4096


@dataclass(frozen=True, slots=True)
class Account:
    """Who the process runs as. `drop` says that we are root and become it before anything else."""

    name: str
    uid: int
    gid: int
    drop: bool


@dataclass(frozen=True, slots=True)
class Plan:
    """All of it. `cwd` is a path inside. `masks` hide paths behind an empty read-only folder.

    `sockets` are unix sockets of ours that are reachable inside (destination paths).
    """

    profile: Profile
    mounts: tuple[Mount, ...]
    cwd: Path
    account: Account
    network: Network = Network.NONE
    masks: tuple[Path, ...] = ()
    sockets: tuple[Mount, ...] = ()
    limits: ResourceLimits = field(default_factory=ResourceLimits)
