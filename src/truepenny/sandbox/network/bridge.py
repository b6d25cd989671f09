"""From 127.0.0.1 inside the sandbox to the proxy's unix socket outside.

This file runs inside, by itself, with whatever Python 3.9 or newer is there: the standard library
alone, and little of it, for modules are most of what a start costs. Its words:

    python3 -I -S bridge.py SOCKET PORT REPORT -- PROGRAM [ARGUMENT ...]

It listens, leaves a grandchild behind that carries the bytes, and becomes the program, so the
program keeps its process, its input and its exit code. The grandchild is no child of the program
(one that waits for all of its children would wait for ever), holds none of its descriptors, and
ends when it ends. Why the program could not start goes to the descriptor REPORT, which the program
never has, as `word: message`; a text on standard error could be anybody's.
"""

from __future__ import annotations

# Below `socket`, which takes longer to load than all the rest of this takes to run.
import _socket
import errno
import os
import select
import sys

PIECE = 64 * 1024
"""Bytes that are held for each direction of a connection."""

MOST_CONNECTIONS = 128
"""Twice what the proxy takes, so that it is the proxy that refuses."""

ALIVE_SECONDS = 1.0
"""How often is looked whether the program lives, where the kernel cannot tell it."""

FAILED = 127
REPORTED = 1000
"""Bytes of a report: less than a pipe takes at once."""


def main(words: list[str]) -> None:
    """Listen, leave the carrier behind, become the program."""
    path, port, report, program = words[0], int(words[1]), int(words[2]), words[4:]
    os.set_inheritable(report, False)
    try:
        server = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM)
        server.setsockopt(_socket.SOL_SOCKET, _socket.SO_REUSEADDR, 1)
        server.bind(("127.0.0.1", port))
        server.listen(64)
        server.setblocking(False)
        leave_behind(server, path)
    except OSError as error:
        fail(report, "sandbox", f"the bridge to the proxy: {error.strerror}")
    else:
        server.close()
        address = f"http://127.0.0.1:{port}"
        for name in ("HTTPS_PROXY", "HTTP_PROXY"):
            os.environ[name] = os.environ[name.lower()] = address
        for name in ("NO_PROXY", "no_proxy"):
            os.environ[name] = ""
        try:
            os.execvp(program[0], program)
        except FileNotFoundError as error:
            fail(report, "missing", f"{program[0]}: {error.strerror}")
        except (OSError, ValueError) as error:
            fail(report, "not_executable", f"{program[0]}: {error}")


def fail(report: int, word: str, message: str) -> None:
    """Say why, and end."""
    os.write(report, f"{word}: {message}".encode("utf-8", "replace")[:REPORTED])
    os._exit(FAILED)


def leave_behind(server: _socket.socket, path: str) -> None:
    """Start the grandchild that carries the bytes."""
    program = os.getpid()
    try:
        watched = os.pidfd_open(program)
    except (AttributeError, OSError):
        watched = -1
    child = os.fork()
    if child:
        _, status = os.waitpid(child, 0)
        if watched >= 0:
            os.close(watched)
        if status:
            raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN))
        return
    code = FAILED
    try:
        os.setsid()  # the program's group is counted and ended; this is not part of it
        if os.fork() == 0:
            carry(server, path, watched, program)
        code = 0
    finally:
        os._exit(code)


def carry(server: _socket.socket, path: str, watched: int, program: int) -> None:
    """Let go of all that is the program's, and carry bytes until it ends."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in range(3):
        os.dup2(nothing, number)
    low = 3
    for number in sorted({server.fileno(), watched} - {-1}):
        os.closerange(low, number)
        low = number + 1
    os.closerange(low, os.sysconf("SC_OPEN_MAX"))
    os.chdir("/")
    Bridge(server, path).run(watched, program)


def accepted(server: _socket.socket) -> int:
    """Return the descriptor of the next connection; the one call that only `socket` wraps."""
    number: int = getattr(server, "_accept")()[0]  # noqa: B009 (no stub knows it)
    return number


class Bridge:
    """All connections in one loop. Of a pair each socket knows the other one."""

    def __init__(self, server: _socket.socket, path: str) -> None:
        self.server = server
        self.path = path
        self.poll = select.poll()
        self.halves: dict[int, Half] = {}

    def run(self, watched: int, program: int) -> None:
        """Carry bytes until the program ends."""
        listening = self.server.fileno()
        self.poll.register(listening, select.POLLIN)
        if watched >= 0:
            self.poll.register(watched, select.POLLIN)
        while True:
            events = self.poll.poll(None if watched >= 0 else ALIVE_SECONDS * 1000)
            if watched < 0:
                try:
                    os.kill(program, 0)
                except OSError:
                    return
            for number, event in events:
                if number == watched:
                    return
                if number == listening:
                    self.accept()
                elif number in self.halves:
                    self.halves[number].happened(event)

    def accept(self) -> None:
        """Take one connection and join it to a new one to the proxy."""
        try:
            number = accepted(self.server)
        except OSError:
            return
        inner = _socket.socket(fileno=number)
        outer = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
        try:
            inner.setblocking(False)
            outer.setblocking(False)  # before: with a full queue it would stop everything here
            inner.setsockopt(_socket.IPPROTO_TCP, _socket.TCP_NODELAY, 1)
            if len(self.halves) >= 2 * MOST_CONNECTIONS:
                raise BlockingIOError
            outer.connect(self.path)
        except OSError:
            inner.close()
            outer.close()
            return
        first, second = Half(self, inner), Half(self, outer)
        first.other, second.other = second, first
        for half in (first, second):
            self.halves[half.number] = half
            half.watch()


class Half:
    """One socket of a pair; `pending` is what the other one sent and this has not taken yet."""

    def __init__(self, bridge: Bridge, connection: _socket.socket) -> None:
        self.bridge = bridge
        self.socket = connection
        self.number = connection.fileno()
        self.other = self
        self.pending = b""
        self.read_all = False
        self.written_all = False
        self.watched = 0

    def happened(self, event: int) -> None:
        """Do what became possible; give both sockets back when each has passed on its end."""
        if event & select.POLLOUT:
            self.flush()
        if event & ~select.POLLOUT:
            self.read()
        if self.written_all and self.other.written_all:
            for half in (self, self.other):
                half.unwatch()
                del self.bridge.halves[half.number]
                half.socket.close()
            return
        self.watch()
        self.other.watch()

    def read(self) -> None:
        """Take a piece for the other one, whose `pending` is empty. Lost is as good as ended."""
        if self.read_all or self.other.pending:
            return
        try:
            self.other.pending = self.socket.recv(PIECE)
        except BlockingIOError:
            return
        except OSError:
            self.other.pending = b""
        self.read_all = not self.other.pending
        self.other.flush()

    def flush(self) -> None:
        """Write what is pending, and the end after the last of it."""
        try:
            if self.pending:
                self.pending = self.pending[self.socket.send(self.pending) :]
            if not self.pending and self.other.read_all and not self.written_all:
                self.written_all = True
                self.socket.shutdown(_socket.SHUT_WR)
        except BlockingIOError:
            pass
        except OSError:
            # Nobody takes it; what this one still sends is passed on all the same.
            self.pending, self.written_all, self.other.read_all = b"", True, True

    def watch(self) -> None:
        """Read only what the other one has room for; write only what is there.

        Without either it is not watched at all, or a hang-up would be told without end.
        """
        reads = 0 if self.read_all or self.other.pending else select.POLLIN
        wanted = reads | (select.POLLOUT if self.pending else 0)
        if wanted == self.watched:
            return
        if wanted:
            self.bridge.poll.register(self.number, wanted)  # changes it where it is there already
            self.watched = wanted
        else:
            self.unwatch()

    def unwatch(self) -> None:
        """Be told nothing more."""
        if self.watched:
            self.bridge.poll.unregister(self.number)
        self.watched = 0


if __name__ == "__main__":
    main(sys.argv[1:])
