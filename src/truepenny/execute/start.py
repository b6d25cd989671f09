"""Starting a process in its own session, or saying exactly why it cannot start."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
from dataclasses import dataclass

from .command import Command
from .execution import StartFailure, StartFault

_BY_ERRNO = {
    errno.EACCES: StartFault.NOT_EXECUTABLE,
    errno.EPERM: StartFault.NOT_EXECUTABLE,
    errno.ENOEXEC: StartFault.NOT_EXECUTABLE,
    errno.EISDIR: StartFault.NOT_EXECUTABLE,
    errno.ETXTBSY: StartFault.NOT_EXECUTABLE,
    errno.ENOENT: StartFault.MISSING_INTERPRETER,
    errno.E2BIG: StartFault.UNUSABLE_ARGUMENTS,
    errno.EAGAIN: StartFault.NO_RESOURCES,
    errno.ENOMEM: StartFault.NO_RESOURCES,
    errno.EMFILE: StartFault.NO_RESOURCES,
    errno.ENFILE: StartFault.NO_RESOURCES,
}


@dataclass(frozen=True, slots=True)
class Started:
    """A running process that leads its own group, and our ends of its pipes, non-blocking."""

    popen: subprocess.Popen[bytes]
    stdout: int
    stderr: int
    stdin: int | None

    @property
    def pid(self) -> int:
        """The process id, which is the group's id too."""
        return self.popen.pid


def find_program(name: str, path: str) -> str | StartFailure:
    """Return the file that a name or path means; `path` is a PATH value."""
    found = shutil.which(name, path=path)
    if found is not None:
        return found
    directories = [""] if os.sep in name else path.split(os.pathsep)
    for directory in directories:
        candidate = os.path.join(directory, name) if directory else name
        if os.path.exists(candidate):
            kind = "is a directory" if os.path.isdir(candidate) else "may not be executed"
            return StartFailure(StartFault.NOT_EXECUTABLE, candidate, f"{candidate} {kind}")
    where = "" if os.sep in name else f" on PATH ({path})"
    return StartFailure(StartFault.MISSING_PROGRAM, name, f"there is no program {name}{where}")


def start(command: Command) -> Started | StartFailure:
    """Start it. Nothing is left open when it cannot start."""
    fault = StartFault.UNUSABLE_ARGUMENTS
    if not command.argv or not command.argv[0]:
        return StartFailure(fault, "", "there is no program to run")
    if any("\0" in text for text in (*command.argv, *command.env, *command.env.values())):
        return StartFailure(fault, command.argv[0], "an argument or variable has a NUL character")
    if command.cwd is not None and not command.cwd.is_dir():
        subject = str(command.cwd)
        return StartFailure(
            StartFault.MISSING_DIRECTORY, subject, f"the working directory {subject} is not there"
        )
    program = find_program(command.argv[0], command.env.get("PATH", os.defpath))
    if isinstance(program, StartFailure):
        return program
    try:
        return _spawn(command, program)
    except OSError as error:
        kind = _BY_ERRNO.get(error.errno or 0, StartFault.NO_RESOURCES)
        return StartFailure(kind, program, f"{program} cannot start: {error.strerror or error}")


def _spawn(command: Command, program: str) -> Started:
    ours: list[int] = []
    theirs: list[int] = []
    try:
        stdin: int | None = None
        if command.stdin is not None:
            read, stdin = os.pipe()
            theirs.append(read)
            ours.append(stdin)
        for _ in range(2):
            read, write = os.pipe()
            ours.append(read)
            theirs.append(write)
        for descriptor in ours:
            os.set_blocking(descriptor, False)
        popen = subprocess.Popen(
            command.argv,
            executable=program,
            stdin=subprocess.DEVNULL if stdin is None else theirs[0],
            stdout=theirs[-2],
            stderr=theirs[-1],
            cwd=command.cwd,
            env=dict(command.env),
            start_new_session=True,
            pass_fds=command.descriptors,
        )
    except BaseException:
        for descriptor in ours:
            os.close(descriptor)
        raise
    finally:
        for descriptor in theirs:
            os.close(descriptor)
    return Started(popen, ours[-2], ours[-1], stdin)
