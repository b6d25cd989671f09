"""Landlock as the kernel takes it: rights as bits, rulesets as descriptors.

Rights are added up over a file's path: what one rule grants, no other takes away again.
"""

from __future__ import annotations

import ctypes
import functools
import os
import stat
import struct
from enum import IntFlag

from truepenny.sandbox.syscall import call

OLDEST = 4
"""Linux 6.7: the first version that holds the network too, and truncation, which came in 3."""

SCOPED = 6
"""Linux 6.12: abstract sockets and signals end at the walls."""

QUERY_VERSION = 1
PATH_BENEATH = 1


class Files(IntFlag):
    """Rights over files, in the kernel's order of bits."""

    EXECUTE = 1 << 0
    WRITE_FILE = 1 << 1
    READ_FILE = 1 << 2
    READ_DIR = 1 << 3
    REMOVE_DIR = 1 << 4
    REMOVE_FILE = 1 << 5
    MAKE_CHAR = 1 << 6
    MAKE_DIR = 1 << 7
    MAKE_REG = 1 << 8
    MAKE_SOCK = 1 << 9
    MAKE_FIFO = 1 << 10
    MAKE_BLOCK = 1 << 11
    MAKE_SYM = 1 << 12
    REFER = 1 << 13
    TRUNCATE = 1 << 14
    IOCTL_DEV = 1 << 15


DEVICES_SINCE = 5
"""The version that brought `IOCTL_DEV`, the last one of the rights above."""

READ = Files.EXECUTE | Files.READ_FILE | Files.READ_DIR

WRITE = (
    READ
    | Files.WRITE_FILE
    | Files.REMOVE_DIR
    | Files.REMOVE_FILE
    | Files.MAKE_DIR
    | Files.MAKE_REG
    | Files.MAKE_SOCK
    | Files.MAKE_FIFO
    | Files.MAKE_SYM
    | Files.REFER
    | Files.TRUNCATE
)
"""Everything but devices: no file that leads past the file system is made."""

DEVICE = Files.READ_FILE | Files.WRITE_FILE | Files.IOCTL_DEV

OF_A_FILE = Files.EXECUTE | Files.READ_FILE | Files.WRITE_FILE | Files.TRUNCATE | Files.IOCTL_DEV
"""What can be granted on something that is not a folder; the kernel refuses the others."""

TCP = 0b11
"""Binding and connecting."""

SCOPES = 0b11
"""Abstract unix sockets and signals."""


@functools.cache
def version() -> int:
    """Return the kernel's version of Landlock; 0 where it has none or it is switched off."""
    try:
        return call("landlock_create_ruleset", 0, 0, QUERY_VERSION)
    except OSError:
        return 0


def handled(of: int) -> Files:
    """Return every right over files that a version knows: all of them are refused by default."""
    every = functools.reduce(Files.__or__, Files)
    return every if of >= DEVICES_SINCE else every & ~Files.IOCTL_DEV


class Ruleset:
    """Rules being made. `close` it when the process has started. Raises OSError throughout."""

    def __init__(self, of: int, *, network: bool) -> None:
        self._handled = handled(of)
        attributes = struct.pack(
            "=QQQ", self._handled, 0 if network else TCP, SCOPES if of >= SCOPED else 0
        )
        # An older kernel knows a shorter structure, and a longer one that ends in zeros is taken.
        head = ctypes.create_string_buffer(attributes, len(attributes))
        self.descriptor = call(
            "landlock_create_ruleset", ctypes.addressof(head), len(attributes), 0
        )
        os.set_inheritable(self.descriptor, False)

    def allow(self, place: int, rights: Files) -> None:
        """Grant rights at and below the file or folder that a descriptor holds open."""
        granted = rights & self._handled
        if not stat.S_ISDIR(os.fstat(place).st_mode):
            granted &= OF_A_FILE
        attributes = struct.pack("=Qi", granted, place)
        head = ctypes.create_string_buffer(attributes, len(attributes))
        call("landlock_add_rule", self.descriptor, PATH_BENEATH, ctypes.addressof(head), 0)

    def restrict(self) -> None:
        """Put the rules over this thread and all that it starts; there is no way back.

        It needs `syscall.forbid_new_privileges` before.
        """
        call("landlock_restrict_self", self.descriptor, 0)

    def close(self) -> None:
        """Let go of it; the threads that took it on keep it."""
        os.close(self.descriptor)
