"""What a command says and exits with when it cannot go on. All messages go to stderr."""

from __future__ import annotations

import errno
import os
import sys
from typing import IO

import click

from truepenny.errors import TruepennyError

USAGE, COULD_NOT_RUN, INTERRUPTED = 2, 5, 130


class Finished(Exception):
    """Ends a command with a code after it has said everything itself."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


def exit_code(error: BaseException) -> int:
    """Say what happened and return the exit code; unknown errors are raised again."""
    error = _single(error)
    match error:
        case Finished():
            return error.code
        case click.exceptions.Exit():
            return error.exit_code
        case click.ClickException():
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
            raise error


def say(message: str) -> None:
    """Write one message to stderr; a closed stderr is not worth dying for."""
    try:
        sys.stderr.write(f"truepenny: {message}\n")
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
    """Unwrap groups of one, which structured concurrency puts around every error."""
    while isinstance(error, BaseExceptionGroup):
        group: BaseExceptionGroup[BaseException] = error  # pyright: ignore[reportUnknownVariableType]
        if len(group.exceptions) != 1:
            return group
        error = group.exceptions[0]
    return error
