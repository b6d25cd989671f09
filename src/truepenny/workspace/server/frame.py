"""Frames: four bytes of length, most significant first, then that many bytes of a JSON object."""

from __future__ import annotations

MAX_FRAME = 32 * 1024 * 1024
"""Bytes of one frame: a picture of 20 MB as base64 fits (assistant spec 2.7)."""

HEADER = 4


class FrameFault(Exception):
    """The other end does not keep to the frames; nothing after it can be trusted."""


def frame(payload: bytes) -> bytes:
    """Return the payload with its length before it. Raises FrameFault above `MAX_FRAME`."""
    if not 0 < len(payload) <= MAX_FRAME:
        raise FrameFault(f"a frame has 1 to {MAX_FRAME} bytes, not {len(payload)}")
    return len(payload).to_bytes(HEADER, "big") + payload


class FrameReader:
    """Takes bytes as they come and returns the payloads that are whole."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._wanted: int | None = None

    def feed(self, data: bytes) -> list[bytes]:
        """Return the payloads. Raises FrameFault at a length that no frame has.

        The length is judged as soon as it is there, before anything of the frame is kept: what is
        held is never more than one frame and what was fed with its end.
        """
        self._buffer += data
        out: list[bytes] = []
        while True:
            if self._wanted is None:
                if len(self._buffer) < HEADER:
                    return out
                self._wanted = int.from_bytes(self._buffer[:HEADER], "big")
                if not 0 < self._wanted <= MAX_FRAME:
                    self._buffer.clear()
                    raise FrameFault(f"a frame has 1 to {MAX_FRAME} bytes, not {self._wanted}")
                del self._buffer[:HEADER]
            if len(self._buffer) < self._wanted:
                return out
            out.append(bytes(self._buffer[: self._wanted]))
            del self._buffer[: self._wanted]
            self._wanted = None

    def finish(self) -> None:
        """Take the end of the stream. Raises FrameFault where it is not between two frames."""
        if self._buffer or self._wanted is not None:
            raise FrameFault(f"the stream ended inside a frame, after {len(self._buffer)} bytes")
