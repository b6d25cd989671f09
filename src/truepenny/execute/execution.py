"""The account of one process: only what was observed."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from truepenny.sandbox.level import Containment

from .capture import Captured
from .ending import Cause, ExitFact


class StartFault(StrEnum):
    """Why a process never began."""

    MISSING_PROGRAM = "missing_program"
    MISSING_INTERPRETER = "missing_interpreter"
    """The file is there; the program that its first line names, or its loader, is not."""
    NOT_EXECUTABLE = "not_executable"
    MISSING_DIRECTORY = "missing_directory"
    """The working directory, not the program, is what is not there."""
    UNUSABLE_ARGUMENTS = "unusable_arguments"
    """A NUL character, an empty list, or more than the system passes on."""
    SANDBOX = "sandbox"
    """The sandbox could not be made; the program was never tried."""
    NO_RESOURCES = "no_resources"
    """The machine is out of processes, memory or files."""


@dataclass(frozen=True, slots=True)
class StartFailure:
    """A process that never began, with the name that was at fault."""

    fault: StartFault
    subject: str
    message: str


@dataclass(frozen=True, slots=True)
class Offloaded:
    """The file that holds the whole output, redacted. `complete` False: the file was cut at
    `bytes` (its own limit, or the disk was full: `problem`)."""

    path: str
    bytes: int
    complete: bool = True
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Execution:
    """One process from start to end.

    `exit` holds the observed code or signal; both None when nobody could observe them. `cause` is
    set when something other than the process ended it. `drained` False means that a process it
    left behind still held an output pipe, or that reading was stopped: output may be incomplete.
    `leftovers` counts processes that it left behind when it ended by itself; they were ended. None:
    nobody could count them, since bubblewrap's namespace ends with the program and takes with it
    whatever is there. `survivors` are processes that not even a kill ended: normally none.
    `memory_kill` says that the kernel ended a process of the run for memory, not always the last.
    `stdin_taken` counts the bytes of standard input that were passed on. `duration`
    is in seconds. `containment` is what was verified to hold it. `remarks` are sentences about how
    it was run or read that a reader of the result must see. `excused` are the indexes of stages
    (`exit.stages`) whose failure is none: they wrote to a stage that stops reading on purpose.
    """

    exit: ExitFact = field(default_factory=ExitFact)
    cause: Cause | None = None
    failure: StartFailure | None = None
    stdout: Captured = field(default_factory=Captured)
    stderr: Captured = field(default_factory=Captured)
    duration: float = 0.0
    drained: bool = True
    leftovers: int | None = 0
    survivors: tuple[int, ...] = ()
    memory_kill: bool = False
    stdin_taken: int = 0
    containment: Containment = field(default_factory=Containment)
    offloaded: Offloaded | None = None
    remarks: tuple[str, ...] = ()
    excused: tuple[int, ...] = ()
