"""The tool server as a program: `python -m truepenny.workspace.server --fd N`."""

from __future__ import annotations

import ctypes
import logging
import os
import socket
import sys

UNUSABLE = 2
"""Exit code for words or a descriptor that it cannot use."""

_PR_SET_DUMPABLE = 4


def main(words: list[str]) -> int:
    """Serve the inherited socket and return the exit code."""
    connection = _connection(words)
    if isinstance(connection, str):
        sys.stderr.write(f"tool server: {connection}\n")
        return UNUSABLE
    # Nothing that a library logs may quote a frame.
    logging.disable(logging.CRITICAL)
    # Commands run as the same account: they may not look into this process or take its socket.
    ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    import anyio

    from truepenny.execute.guard import GUARD

    from .serve import serve

    GUARD.start()  # a kill during the very first command leaves nothing behind either
    return anyio.run(serve, connection, dict(os.environ))


def _connection(words: list[str]) -> socket.socket | str:
    if len(words) != 2 or words[0] != "--fd" or not words[1].isdecimal():
        return "usage: --fd NUMBER"
    descriptor = int(words[1])
    try:
        connection = socket.socket(fileno=descriptor)
    except (OSError, OverflowError):
        return f"descriptor {descriptor} is no socket"
    if connection.family != socket.AF_UNIX or connection.type != socket.SOCK_STREAM:
        connection.detach()
        return f"descriptor {descriptor} is no unix stream socket"
    os.set_inheritable(descriptor, False)
    return connection


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
