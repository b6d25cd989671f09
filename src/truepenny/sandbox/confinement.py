"""What one start of a process needs to be held: words before its own, descriptors, a step in the
thread that starts it, and what it reports back."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from .level import Containment


class Refused(StrEnum):
    """Why the program did not start inside."""

    SANDBOX = "sandbox"
    """The sandbox itself could not be made; the program was never tried."""
    DIRECTORY = "directory"
    """The working directory is not there inside."""
    MISSING = "missing"
    NOT_EXECUTABLE = "not_executable"


@dataclass(frozen=True, slots=True)
class NotStarted:
    """The account of a start that failed behind our own words; `message` is one line."""

    why: Refused
    message: str


class TaskGroup(ABC):
    """All processes of one run, wherever they hid: a control group. Made before the start."""

    directories: tuple[str, ...] = ()
    """Its folders, absolute and without blanks: whoever survives us ends and removes them."""

    @abstractmethod
    def holds(self, pid: int) -> bool:
        """Whether the process is really in it."""

    @abstractmethod
    def members(self) -> tuple[int, ...]:
        """The living processes in it."""

    @abstractmethod
    def kill(self) -> None:
        """Kill every member, also those that fork meanwhile. Does not wait."""

    @abstractmethod
    def out_of_memory(self) -> bool:
        """Whether the kernel killed a member for memory. Ask before `remove`."""

    @abstractmethod
    def remove(self) -> bool:
        """Remove the empty group; return whether nothing of it is left."""


@dataclass(slots=True)
class Confinement:
    """One start. `argv` gets the program's own words and returns all of them. `environment` gets
    the program's variables and returns those to start our words with: a loader variable such as
    LD_PRELOAD must not act on them, so some back ends hand the program its own on the inside. Call
    it exactly once, before the start.

    `descriptors` are passed on under their own numbers. `before_start` runs in a thread of its own
    that then starts the process and ends (Landlock and system call filters are per thread and
    inherited): None where nothing is needed. `verdict` is asked once, after the end, with the exit
    code and the first bytes of standard error: did the program start at all? `close` gives
    everything back; call it exactly once, after the end. The verdict may be asked after it.
    """

    containment: Containment
    argv: Callable[[tuple[str, ...]], tuple[str, ...]]
    cwd: str | None
    environment: Callable[[Mapping[str, str]], Mapping[str, str]] = dict
    descriptors: tuple[int, ...] = ()
    before_start: Callable[[], None] | None = None
    group: TaskGroup | None = None
    verdict: Callable[[int | None, str], NotStarted | None] = lambda code, stderr: None
    close: Callable[[], None] = lambda: None
