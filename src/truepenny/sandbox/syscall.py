"""System calls that Python has no function for: their numbers, and a way to make one."""

from __future__ import annotations

import ctypes
import errno
import functools
import os
import platform
from typing import NamedTuple

NO_NEW_PRIVILEGES = 38
"""PR_SET_NO_NEW_PRIVS: from here on no program gains rights by being setuid."""


class Numbers(NamedTuple):
    """A call's number on each architecture; None where it does not exist there."""

    x86_64: int | None
    aarch64: int | None


class Machine(NamedTuple):
    """An architecture. `audit` is what the kernel names it in a filter's data."""

    column: int
    audit: int


MACHINES = {"x86_64": Machine(0, 0xC000003E), "aarch64": Machine(1, 0xC00000B7)}

LAST_KNOWN = 469
"""`file_setattr`, Linux 6.17: the newest call that this table was made with. Newer numbers are the
same on all architectures."""

NUMBERS: dict[str, Numbers] = {
    "acct": Numbers(163, 89),
    "add_key": Numbers(248, 217),
    "adjtimex": Numbers(159, 171),
    "bpf": Numbers(321, 280),
    "chmod": Numbers(90, None),
    "chroot": Numbers(161, 51),
    "clock_adjtime": Numbers(305, 266),
    "clock_settime": Numbers(227, 112),
    "clone": Numbers(56, 220),
    "clone3": Numbers(435, 435),
    "connect": Numbers(42, 203),
    "delete_module": Numbers(176, 106),
    "fanotify_init": Numbers(300, 262),
    "fchmod": Numbers(91, 52),
    "fchmodat": Numbers(268, 53),
    "fchmodat2": Numbers(452, 452),
    "finit_module": Numbers(313, 273),
    "fsconfig": Numbers(431, 431),
    "fsmount": Numbers(432, 432),
    "fsopen": Numbers(430, 430),
    "fspick": Numbers(433, 433),
    "init_module": Numbers(175, 105),
    "io_uring_enter": Numbers(426, 426),
    "io_uring_register": Numbers(427, 427),
    "io_uring_setup": Numbers(425, 425),
    "ioctl": Numbers(16, 29),
    "ioperm": Numbers(173, None),
    "iopl": Numbers(172, None),
    "kcmp": Numbers(312, 272),
    "kexec_file_load": Numbers(320, 294),
    "kexec_load": Numbers(246, 104),
    "keyctl": Numbers(250, 219),
    "landlock_add_rule": Numbers(445, 445),
    "landlock_create_ruleset": Numbers(444, 444),
    "landlock_restrict_self": Numbers(446, 446),
    "listmount": Numbers(458, 458),
    "migrate_pages": Numbers(256, 238),
    "modify_ldt": Numbers(154, None),
    "mount": Numbers(165, 40),
    "mount_setattr": Numbers(442, 442),
    "move_mount": Numbers(429, 429),
    "move_pages": Numbers(279, 239),
    "mq_open": Numbers(240, 180),
    "mq_unlink": Numbers(241, 181),
    "msgctl": Numbers(71, 187),
    "msgget": Numbers(68, 186),
    "msgrcv": Numbers(70, 188),
    "msgsnd": Numbers(69, 189),
    "open_by_handle_at": Numbers(304, 265),
    "openat2": Numbers(437, 437),
    "open_tree": Numbers(428, 428),
    "open_tree_attr": Numbers(467, 467),
    "perf_event_open": Numbers(298, 241),
    "personality": Numbers(135, 92),
    "pidfd_getfd": Numbers(438, 438),
    "pivot_root": Numbers(155, 41),
    "prlimit64": Numbers(302, 261),
    "process_vm_readv": Numbers(310, 270),
    "process_vm_writev": Numbers(311, 271),
    "ptrace": Numbers(101, 117),
    "quotactl": Numbers(179, 60),
    "quotactl_fd": Numbers(443, 443),
    "reboot": Numbers(169, 142),
    "request_key": Numbers(249, 218),
    "seccomp": Numbers(317, 277),
    "semctl": Numbers(66, 191),
    "semget": Numbers(64, 190),
    "semop": Numbers(65, 193),
    "semtimedop": Numbers(220, 192),
    "setdomainname": Numbers(171, 162),
    "sethostname": Numbers(170, 161),
    "setns": Numbers(308, 268),
    "settimeofday": Numbers(164, 170),
    "shmat": Numbers(30, 196),
    "shmctl": Numbers(31, 195),
    "shmget": Numbers(29, 194),
    "socket": Numbers(41, 198),
    "socketpair": Numbers(53, 199),
    "statmount": Numbers(457, 457),
    "swapoff": Numbers(168, 225),
    "swapon": Numbers(167, 224),
    "syslog": Numbers(103, 116),
    "umount2": Numbers(166, 39),
    "unshare": Numbers(272, 97),
    "userfaultfd": Numbers(323, 282),
    "vhangup": Numbers(153, 58),
}


def machine() -> Machine | None:
    """Return the architecture we run on; None for one that the table does not have."""
    return MACHINES.get(platform.machine())


def number(name: str, of: Machine) -> int | None:
    """Return a call's number on an architecture; None where it has no such call."""
    return NUMBERS[name][of.column]


def call(name: str, *arguments: int) -> int:
    """Make a call and return its result. Raises OSError with the kernel's answer, and where the
    architecture is not known as if the kernel had no such call. Pointers are addresses."""
    of = machine()
    found = None if of is None else number(name, of)
    if found is None:
        raise OSError(errno.ENOSYS, f"{name}: {os.strerror(errno.ENOSYS)}")
    return _checked(_libc().syscall(found, *(ctypes.c_long(value) for value in arguments)), name)


def forbid_new_privileges() -> None:
    """Set it for this thread and all that it starts. Raises OSError."""
    zero = ctypes.c_long(0)
    result = _libc().prctl(NO_NEW_PRIVILEGES, ctypes.c_long(1), zero, zero, zero)
    _checked(result, "prctl")


def _checked(result: int, name: str) -> int:
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{name}: {os.strerror(code)}")
    return result


@functools.cache
def _libc() -> ctypes.CDLL:
    library = ctypes.CDLL(None, use_errno=True)
    library.syscall.restype = ctypes.c_long
    return library
