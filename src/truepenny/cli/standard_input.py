"""Standard input as context for a prompt: bounded, decoded strictly, never waited for in vain."""

from __future__ import annotations

import os
import select
import stat
from dataclasses import dataclass

from truepenny.errors import UsageError

MAX_BYTES = 1024 * 1024
"""More would fill a model's window; the middle is left out and counted."""

PATIENCE_SECONDS = 3.0
"""A pipe that stays silent this long from the start is one that nobody will ever write to
(a service's inherited input, say); a command that never returns is worse than one that says so."""


@dataclass(frozen=True, slots=True)
class Piped:
    """What came. `text` is empty where nothing did; `notice` is for the person."""

    text: str
    notice: str = ""


def read_piped(descriptor: int = 0, *, wait: bool = False) -> Piped:
    """Read what is piped or redirected into us; a terminal is never read.

    With `wait` a silent pipe is waited for until it is written to or closed.

    Raises UsageError for input that is not UTF-8, naming the byte: it may be a wrong file, and a
    repaired one would be evidence of nothing.
    """
    try:
        mode = os.fstat(descriptor).st_mode
    except OSError:
        return Piped("")  # Closed: there is no standard input.
    if not (stat.S_ISFIFO(mode) or stat.S_ISREG(mode) or stat.S_ISSOCK(mode)):
        return Piped("")
    patience = None if wait or stat.S_ISREG(mode) else PATIENCE_SECONDS
    if not select.select([descriptor], [], [], patience)[0]:
        return Piped(
            "", "standard input is open but silent; it was not read (--stdin waits for it)"
        )
    data, total = _drain(descriptor)
    return _decoded(data, total)


def _drain(descriptor: int) -> tuple[bytes, int]:
    """Return the first bytes, at most the limit, and how many there were in all."""
    kept, total = bytearray(), 0
    while chunk := os.read(descriptor, 65536):
        total += len(chunk)
        kept += chunk[: max(MAX_BYTES - len(kept), 0)]
    return bytes(kept), total


def _decoded(data: bytes, total: int) -> Piped:
    cut = total > len(data)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        if cut and error.end == len(data) and error.reason == "unexpected end of data":
            text = data[: error.start].decode("utf-8")  # The limit fell inside a character.
        else:
            raise UsageError(
                f"is not UTF-8: byte {error.start} is 0x{data[error.start]:02x}",
                where="standard input",
                remedy="Convert it first, e.g. `iconv -f latin1 -t utf-8 FILE | truepenny run …`.",
            ) from None
    if not cut:
        return Piped(text)
    marker = f"\n[cut here: {total - len(text.encode())} of {total} bytes are missing]"
    return Piped(text + marker, f"standard input: kept {len(data)} of {total} bytes")
