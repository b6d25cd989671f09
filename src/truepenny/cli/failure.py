"""What a command says and exits with when it cannot go on. All messages go to stderr."""

from __future__ import annotations

import errno
import os
import sys
from contextlib import suppress
from typing import IO

import click

from truepenny.errors import TruepennyError

FAILED, USAGE, COULD_NOT_RUN, INTERRUPTED = 1, 2, 5, 130

DEBUG = "TRUEPENNY_DEBUG"
"""The variable that shows tracebacks and logs, for whoever mends a defect."""

DEFECT = f"This is a defect of truepenny, not of yours; {DEBUG}=1 shows where it is."


class Finished(Exception):
    """Ends a command with a code after it has said everything itself."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


def exit_code(error: BaseException) -> int:
    """Say what happened and return the exit code; a defect of ours is named as one.

    With `TRUEPENNY_DEBUG` set a defect is raised again, for its traceback.
    """
    error = _single(error)
    match error:
        case Finished():
            return error.code
        case click.exceptions.Exit():
            return error.exit_code
        case click.ClickException():
            with suppress(OSError):
                error.show()
            return USAGE
        case KeyboardInterrupt() | click.Abort():
            say("interrupted")
            return INTERRUPTED
        case TruepennyError():
            say(str(error))
            return error.exit_code
        case BrokenPipeError():
            # The reader has what it wanted (`| head`); a complaint would only be noise.
            detach(sys.stdout)
            return 0
        case OSError():
            say(f"{error.strerror or error}{f': {error.filename}' if error.filename else ''}")
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                say("free some space, or set TRUEPENNY_HOME to a directory that has it")
                detach(sys.stdout)
            elif error.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
                say("set TRUEPENNY_HOME to a directory that can be written")
            return COULD_NOT_RUN
        case SystemExit():
            return error.code if isinstance(error.code, int) else 1
        case _:
            if os.environ.get(DEBUG):
                raise error
            say(f"internal error: {type(error).__name__}: {error}\n  {DEFECT}")
            return FAILED


def say(message: str) -> None:
    """Write one message to stderr, harmless to a terminal; a full one is not worth dying for."""
    from .terminal import plain

    try:
        sys.stderr.write(f"truepenny: {plain(message)}\n")
        sys.stderr.flush()
    except OSError:
        pass


def detach(stream: IO[str]) -> None:
    """Point a broken stream at /dev/null, so that the interpreter's last flush stays quiet."""
    try:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, stream.fileno())
        os.close(null)
    except (OSError, ValueError):
        pass


def _single(error: BaseException) -> BaseException:
    """Unwrap groups, which structured concurrency puts around every error.

    Of several an interrupt says why all ended; else the first that is meant for a person.
    """
    if not isinstance(error, BaseExceptionGroup):
        return error
    group: BaseExceptionGroup[BaseException] = error  # pyright: ignore[reportUnknownVariableType]
    inner = [_single(one) for one in group.exceptions]
    for kind in (KeyboardInterrupt, TruepennyError, OSError):
        found = next((one for one in inner if isinstance(one, kind)), None)
        if found is not None:
            return found
    return inner[0]
