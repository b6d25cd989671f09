"""The three standard streams, made usable before anything is read or written.

A process may be started with any of them closed. Python then has no object for it, and the next
file that is opened takes its number: what was meant for the terminal would go into that file.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress

from .failure import detach, exit_code, say


def prepare() -> None:
    """Point closed streams at /dev/null, and let no character be too strange to be printed."""
    lost = sys.stdout is None  # pyright: ignore[reportUnnecessaryComparison]
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        stream = getattr(sys, name)
        mode = "w" if number else "r"
        if stream is None:
            null = os.fdopen(_null(number), mode, encoding="utf-8", closefd=False)
            setattr(sys, name, null)
        elif number:
            # Not an encoding of our choice, but one that shows what it has no letter for.
            with suppress(OSError):  # It flushes first; a full disk is told of at the end.
                stream.reconfigure(errors="backslashreplace")
    if lost:
        say("standard output is closed: what is printed is lost")


def finish(code: int) -> int:
    """Write out what is buffered and return the exit code, 5 where output was lost.

    Left to the interpreter, a full disk would end in its own complaint and the code 120.
    """
    try:
        sys.stdout.flush()
    except OSError as error:
        code = code or exit_code(error)
        detach(sys.stdout)
    try:
        sys.stderr.flush()
    except OSError:
        detach(sys.stderr)
    return code


def _null(number: int) -> int:
    """Open /dev/null, under the number of the closed stream where that is still free."""
    null = os.open(os.devnull, os.O_RDWR)
    if null == number:
        return null
    try:
        os.fstat(number)
    except OSError:
        os.dup2(null, number)
        os.close(null)
        return number
    return null
