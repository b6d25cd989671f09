"""A filter program, run as the kernel would run it: small, and independent of what made it."""

from __future__ import annotations

import struct

from truepenny.sandbox.syscall import Machine

KILLED = -1
"""What `answer` returns where the process is killed."""


def answer(program: bytes, of: Machine, number: int, arguments: tuple[int, ...] = ()) -> int:
    """Return the error number that the call gets, 0 where it is allowed."""
    padded = (*arguments, *(0,) * (6 - len(arguments)))
    data = struct.pack("<iIQ6Q", _signed(number), of.audit, 0, *padded)
    steps = list(struct.iter_unpack("<HBBI", program))
    at, loaded = 0, 0
    while True:
        code, then, otherwise, value = steps[at]
        at += 1
        if code == 0x20:
            loaded = struct.unpack_from("<I", data, value)[0]
        elif code == 0x54:
            loaded &= value
        elif code == 0x15:
            at += then if loaded == value else otherwise
        elif code == 0x25:
            at += then if loaded > value else otherwise
        elif code == 0x06:
            return _meaning(value)
        else:
            raise AssertionError(f"instruction {code:#x} is not one of a filter's")


def _meaning(value: int) -> int:
    if value == 0x7FFF0000:
        return 0
    if value == 0x80000000:
        return KILLED
    assert value & 0xFFFF0000 == 0x00050000
    return value & 0xFFFF


def _signed(number: int) -> int:
    return number - (1 << 32) if number >= 1 << 31 else number
