"""Starting a process in its own session, or saying exactly why it cannot start."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from truepenny.errors import ConfigurationError, CouldNotRun, TruepennyError
from truepenny.sandbox.confinement import Confinement
from truepenny.system.descendants import RUN_VARIABLE, adopt_orphans, new_cookie

from .command import Command
from .execution import StartFailure, StartFault
from .guard import GUARD

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

PATH_SHOWN = 120
"""Characters of a PATH that a message shows: about a line and a half of a terminal."""


@dataclass(slots=True)
class Started:
    """A running process that leads its own group, and our ends of its pipes, non-blocking.

    `cookie` is in the environment of it and of all that it starts. `announced` is what the guard
    was told of the start, to be released once it holds the group. Call `give_back` once, when the
    process has ended.
    """

    popen: subprocess.Popen[bytes]
    stdout: int
    stderr: int
    stdin: int | None
    cookie: str
    confinement: Confinement | None = None
    starter: _Starter | None = None
    announced: str = ""

    @property
    def pid(self) -> int:
        """The process id, which is the group's id too."""
        return self.popen.pid

    def give_back(self) -> None:
        """Return what the confinement took, and let the starting thread end."""
        if self.starter is not None:
            self.starter.release()
        if self.confinement is not None:
            self.confinement.close()


class _Starter:
    """The thread of one start. It takes on the confinement's limits, starts the process, and lives
    until the process has ended: one with a parent death signal dies with the thread that started
    it, not with us."""

    def __init__(self, confinement: Confinement) -> None:
        self._confinement = confinement
        self._done = threading.Event()

    def spawn(self, command: Command, argv: tuple[str, ...], program: str) -> Started:
        """Start the process; what fails in the thread is raised here."""
        outcome: list[Started | BaseException] = []
        tried = threading.Event()

        def work() -> None:
            try:
                self._take_on()
                outcome.append(_spawn(command, argv, program, self._confinement))
            except BaseException as error:
                outcome.append(error)
                return
            finally:
                tried.set()
            self._done.wait()

        threading.Thread(target=work, name="truepenny-start", daemon=True).start()
        tried.wait()
        result = outcome[0]
        if isinstance(result, BaseException):
            raise result
        result.starter = self
        return result

    def _take_on(self) -> None:
        if self._confinement.before_start is None:
            return
        try:
            self._confinement.before_start()
        except OSError as error:
            # Told apart from a program that cannot start.
            raise CouldNotRun(f"no sandbox: {error}") from error

    def release(self) -> None:
        """Let the thread end."""
        self._done.set()


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
    where = "" if os.sep in name else f" on PATH ({_shown(path)})"
    return StartFailure(StartFault.MISSING_PROGRAM, name, f"there is no program {name}{where}")


def _shown(path: str) -> str:
    if len(path) <= PATH_SHOWN:
        return path
    head = path[:PATH_SHOWN].rpartition(os.pathsep)[0] or path[:PATH_SHOWN]
    count = path.count(os.pathsep) + 1
    return f"{head}{os.pathsep}… {count} folder{'' if count == 1 else 's'} in all"


def start(command: Command) -> Started | StartFailure:
    """Start it. Nothing is left open when it cannot start."""
    fault = StartFault.UNUSABLE_ARGUMENTS
    if not command.argv or not command.argv[0]:
        return StartFailure(fault, "", "there is no program to run")
    if any("\0" in text for text in (*command.argv, *command.env, *command.env.values())):
        return StartFailure(fault, command.argv[0], "an argument or variable has a NUL character")
    adopt_orphans()
    if command.sandbox is None:
        return _announced((), lambda: _start_bare(command))
    try:
        confinement = command.sandbox.confine(command.cwd)
    except CouldNotRun as error:
        return StartFailure(StartFault.SANDBOX, command.argv[0], _line(error))
    except OSError as error:
        fault = _BY_ERRNO.get(error.errno or 0)
        fault = fault if fault is StartFault.NO_RESOURCES else StartFault.SANDBOX
        return StartFailure(fault, command.argv[0], f"no sandbox: {error}")
    try:
        folders = () if confinement.group is None else confinement.group.directories
        started = _announced(folders, lambda: _start_confined(command, confinement))
    except CouldNotRun as error:
        started = StartFailure(StartFault.SANDBOX, command.argv[0], _line(error))
    except ConfigurationError as error:
        started = StartFailure(StartFault.UNUSABLE_ARGUMENTS, command.argv[0], _line(error))
    except BaseException:
        _undo(confinement)
        raise
    if isinstance(started, StartFailure):
        _undo(confinement)
    return started


def _announced(
    folders: Sequence[str], make: Callable[[], Started | StartFailure]
) -> Started | StartFailure:
    """Make a start that the guard knows of before there is anything to hold."""
    announced = GUARD.expect(folders)
    try:
        started = make()
    except BaseException:
        GUARD.release(announced)
        raise
    if isinstance(started, StartFailure):
        GUARD.release(announced)
    else:
        started.announced = announced
    return started


def _start_bare(command: Command) -> Started | StartFailure:
    if command.cwd is not None and not command.cwd.is_dir():
        return _no_directory(str(command.cwd))
    program = find_program(command.argv[0], command.env.get("PATH", os.defpath))
    if isinstance(program, StartFailure):
        return program
    try:
        return _spawn(command, command.argv, program, None)
    except OSError as error:
        return _cannot(error, program)


def _start_confined(command: Command, confinement: Confinement) -> Started | StartFailure:
    if confinement.cwd is not None and not os.path.isdir(confinement.cwd):
        return _no_directory(confinement.cwd)
    argv = confinement.argv(command.argv)
    wrapped = argv[0] != command.argv[0]
    # Behind words of the sandbox the program is looked up inside, and its verdict says what was
    # found; the words themselves are files of this machine.
    program = find_program(argv[0], os.defpath if wrapped else _path(command.env))
    if isinstance(program, StartFailure):
        return StartFailure(StartFault.SANDBOX, argv[0], program.message) if wrapped else program
    try:
        if confinement.before_start is None:
            started = _spawn(command, argv, program, confinement)
        else:
            started = _Starter(confinement).spawn(command, argv, program)
    except OSError as error:
        failure = _cannot(error, program)
        if wrapped and failure.fault is not StartFault.NO_RESOURCES:
            return StartFailure(StartFault.SANDBOX, program, failure.message)
        return failure
    started.confinement = confinement
    group = confinement.group
    # One that has ended already is in no group: only a living one proves that nothing holds it.
    if group is not None and not group.holds(started.pid) and not _has_ended(started.pid):
        _discard(started)
        return StartFailure(
            StartFault.SANDBOX, command.argv[0], "the process is not in its control group"
        )
    return started


def _has_ended(pid: int) -> bool:
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _discard(started: Started) -> None:
    """End a process that must not run on, and close our ends of its pipes."""
    started.popen.kill()
    with suppress(OSError):
        os.killpg(started.pid, 9)
    started.popen.wait()
    for descriptor in (started.stdin, started.stdout, started.stderr):
        if descriptor is not None:
            os.close(descriptor)
    if started.starter is not None:
        started.starter.release()


def give_up(started: Started) -> None:
    """End a process that nobody will supervise, and give everything back."""
    _discard(started)
    GUARD.release(started.announced)
    if started.confinement is not None:
        _undo(started.confinement)


def _undo(confinement: Confinement) -> None:
    if confinement.group is not None:
        confinement.group.kill()
        confinement.group.remove()
    confinement.close()


def _path(env: Mapping[str, str]) -> str:
    return env.get("PATH", os.defpath)


def _line(error: TruepennyError) -> str:
    return " ".join(str(error).split())


def _no_directory(subject: str) -> StartFailure:
    return StartFailure(
        StartFault.MISSING_DIRECTORY, subject, f"the working directory {subject} is not there"
    )


def _cannot(error: OSError, program: str) -> StartFailure:
    kind = _BY_ERRNO.get(error.errno or 0, StartFault.NO_RESOURCES)
    return StartFailure(kind, program, f"{program} cannot start: {error.strerror or error}")


def _spawn(
    command: Command, argv: tuple[str, ...], program: str, confinement: Confinement | None
) -> Started:
    ours: list[int] = []
    theirs: list[int] = []
    cookie = new_cookie()
    passed = command.descriptors
    if confinement is not None:
        passed += confinement.descriptors
    cwd = command.cwd if confinement is None else confinement.cwd
    env: Mapping[str, str] = {**command.env, RUN_VARIABLE: cookie}
    try:
        if confinement is not None:
            # Words of the sandbox's own are known by the cookie too.
            env = {**confinement.environment(env), RUN_VARIABLE: cookie}
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
        talk = command.conversation
        popen = subprocess.Popen(
            argv,
            executable=program,
            stdin=talk[0] if talk else subprocess.DEVNULL if stdin is None else theirs[0],
            # In a conversation the captured pipe has no writer: it is empty and at its end at once.
            stdout=talk[1] if talk else theirs[-2],
            stderr=theirs[-1],
            cwd=cwd,
            env=env,
            start_new_session=True,
            pass_fds=passed,
        )
    except BaseException:
        for descriptor in ours:
            os.close(descriptor)
        raise
    finally:
        for descriptor in theirs:
            os.close(descriptor)
    return Started(popen, ours[-2], ours[-1], stdin, cookie)
