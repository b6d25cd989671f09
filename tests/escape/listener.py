"""What listens on the machine outside: every kind of socket, in one thread, noting what it gets."""

from __future__ import annotations

import os
import selectors
import socket
import threading
from pathlib import Path

from .machine import has

PIECE = 4096
ANSWER = b"answered\n"


class Listeners:
    """`names` are where to reach each kind; `heard` says whether a kind got a text."""

    def __init__(self, folder: Path, mark: str) -> None:
        self._selector = selectors.DefaultSelector()
        self._got: dict[str, bytes] = {}
        self._lock = threading.Lock()
        self._open: list[socket.socket] = []
        self.names: dict[str, str] = {}
        self._inet("tcp", socket.AF_INET, socket.SOCK_STREAM, "127.0.0.1")
        self._inet("second", socket.AF_INET, socket.SOCK_STREAM, "127.0.0.1")
        self._inet("every", socket.AF_INET, socket.SOCK_STREAM, "0.0.0.0")
        self._inet("udp", socket.AF_INET, socket.SOCK_DGRAM, "127.0.0.1")
        if has("ipv6"):
            self._inet("tcp6", socket.AF_INET6, socket.SOCK_STREAM, "::1")
        for kind, type in (("stream", socket.SOCK_STREAM), ("datagram", socket.SOCK_DGRAM)):
            self._unix(f"file_{kind}", type, str(folder / f"{kind}.sock"))
            self._unix(f"abstract_{kind}", type, f"\0{mark}-{kind}")
        self._wake, self._stop = os.pipe()
        self._selector.register(self._wake, selectors.EVENT_READ, "")
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def heard(self, kind: str, text: str) -> bool:
        """Whether a listener of that kind got the text."""
        with self._lock:
            return text.encode() in self._got.get(kind, b"")

    def at(self, path: Path) -> None:
        """Listen at one more file, as the kind `file_stream`."""
        one = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        one.bind(str(path))
        os.chmod(path, 0o777)
        self._add("file_stream", one)

    def close(self) -> None:
        """Stop listening."""
        os.close(self._stop)
        self._thread.join()
        os.close(self._wake)
        for one in self._open:
            one.close()
        self._selector.close()

    def _inet(self, kind: str, family: int, type: int, host: str) -> None:
        one = socket.socket(family, type)
        one.bind((host, 0))
        self.names[kind] = str(one.getsockname()[1])
        self._add(kind, one)

    def _unix(self, kind: str, type: int, name: str) -> None:
        one = socket.socket(socket.AF_UNIX, type)
        one.bind(name)
        if name[0] != "\0":
            os.chmod(name, 0o777)
        self.names[kind] = name.replace("\0", "@")
        self._add(kind, one)

    def _add(self, kind: str, one: socket.socket) -> None:
        self._open.append(one)
        one.setblocking(False)
        if one.type == socket.SOCK_STREAM:
            one.listen(64)
            kind = f"listen {kind}"
        self._selector.register(one, selectors.EVENT_READ, kind)

    def _run(self) -> None:
        while True:
            for key, _ in self._selector.select():
                if key.fileobj == self._wake:
                    return
                assert isinstance(key.fileobj, socket.socket)
                self._serve(key.fileobj, key.data)

    def _serve(self, one: socket.socket, kind: str) -> None:
        if kind.startswith("listen "):
            client, _ = one.accept()
            client.setblocking(False)
            self._open.append(client)
            self._selector.register(client, selectors.EVENT_READ, kind.removeprefix("listen "))
            return
        try:
            data = one.recv(PIECE)
        except OSError:
            data = b""
        with self._lock:
            self._got[kind] = self._got.get(kind, b"") + data
        if one.type == socket.SOCK_DGRAM:
            return
        try:
            if data:
                one.sendall(self._answer(data))
            one.shutdown(socket.SHUT_WR)
        except OSError:
            pass
        if not data:
            self._selector.unregister(one)
            self._open.remove(one)
            one.close()

    def _answer(self, data: bytes) -> bytes:
        if b"redirect" not in data:
            return ANSWER
        place = f"http://127.0.0.1:{self.names['second']}/"
        return f"HTTP/1.1 302 Found\r\nLocation: {place}\r\nContent-Length: 0\r\n\r\n".encode()
