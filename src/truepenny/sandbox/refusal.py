"""Which system calls no sandboxed process may make, as data, each with its reason.

Everything else is allowed, up to the newest call that the table was made with: what a later kernel
adds does not exist inside until somebody has looked at it. `EPERM` is the answer where a program
expects to be refused, `ENOSYS` where it then falls back to another call.
"""

from __future__ import annotations

import errno
import socket
import stat
from collections.abc import Iterator
from dataclasses import dataclass

from .plan import Network, Plan

WORD = 0xFFFFFFFF
"""The half of an argument that is looked at; all of those here are 32 bits wide to the kernel."""

NEW_NAMESPACES = 0x7E020000
"""CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID and NEWNET."""

NEW_TIME = 0x80
"""CLONE_NEWTIME; to `clone` the same bit is part of a signal's number."""

TIOCSTI, TIOCLINUX = 0x5412, 0x541C
"""Typing into a terminal, and pasting into a console: whoever started us would run it."""

SOCKET_TYPE = 0xF
"""The part of a socket's type that is no flag."""

PERSONALITIES = (0x0, 0x8, 0x20000, 0x20008, 0x40000, WORD)
"""Plain, 32 bits, an old version's name, both, no random addresses (sanitizers), and the query.
The others make memory executable or map page zero, which exploits need and programs do not."""

CONNECTED = (int(socket.SOCK_STREAM), int(socket.SOCK_SEQPACKET))
"""Types of a unix socket that send nothing before they are connected. A raw one is a datagram
socket to the kernel, by an old rule."""

AF_NETLINK, NETLINK_ROUTE = 16, 0


@dataclass(frozen=True, slots=True)
class Condition:
    """On one argument: its masked low word is one of `values`, or with `among` False none."""

    argument: int
    values: tuple[int, ...]
    mask: int = WORD
    among: bool = True


@dataclass(frozen=True, slots=True)
class Refusal:
    """Calls that are refused, always or when all conditions hold."""

    calls: tuple[str, ...]
    why: str
    when: tuple[Condition, ...] = ()
    answer: int = errno.EPERM


ALWAYS = (
    Refusal(
        ("ptrace", "process_vm_readv", "process_vm_writev", "pidfd_getfd", "kcmp"),
        "reads or changes another process",
    ),
    Refusal(("migrate_pages", "move_pages"), "moves another process's memory"),
    Refusal(
        ("io_uring_setup", "io_uring_enter", "io_uring_register"),
        "makes calls that no filter sees",
        answer=errno.ENOSYS,
    ),
    Refusal(("bpf", "perf_event_open"), "runs programs in the kernel or watches it"),
    Refusal(("userfaultfd",), "holds the kernel up in the middle of a copy"),
    Refusal(("add_key", "request_key", "keyctl"), "reaches keys that no namespace separates"),
    Refusal(
        (
            "mount",
            "umount2",
            "pivot_root",
            "chroot",
            "move_mount",
            "open_tree",
            "open_tree_attr",
            "fsopen",
            "fsconfig",
            "fsmount",
            "fspick",
            "mount_setattr",
        ),
        "rebuilds the tree of files that the plan made",
    ),
    Refusal(("setns",), "enters another namespace"),
    Refusal(("open_by_handle_at",), "opens a file without a path to it"),
    Refusal(("fanotify_init",), "watches the files of others"),
    Refusal(
        ("init_module", "finit_module", "delete_module", "kexec_load", "kexec_file_load"),
        "changes the kernel",
    ),
    Refusal(
        ("reboot", "swapon", "swapoff", "acct", "quotactl", "quotactl_fd", "vhangup", "syslog"),
        "administers the machine",
    ),
    Refusal(
        ("clock_settime", "settimeofday", "clock_adjtime", "adjtimex"), "sets the machine's clock"
    ),
    Refusal(("sethostname", "setdomainname"), "renames the machine"),
    Refusal(("iopl", "ioperm", "modify_ldt"), "reaches hardware or the processor's tables"),
    Refusal(
        ("clone3",),
        "has its flags where no filter sees them; libc falls back to clone",
        answer=errno.ENOSYS,
    ),
    Refusal(
        ("clone",),
        "makes namespaces, in which more of the kernel can be reached",
        (Condition(0, (0,), NEW_NAMESPACES, among=False),),
    ),
    Refusal(
        ("unshare",),
        "makes namespaces, in which more of the kernel can be reached",
        (Condition(0, (0,), NEW_NAMESPACES | NEW_TIME, among=False),),
    ),
    Refusal(("ioctl",), "types into a terminal", (Condition(1, (TIOCSTI, TIOCLINUX)),)),
    Refusal(
        ("personality",),
        "weakens the protection of memory",
        (Condition(0, PERSONALITIES, among=False),),
    ),
    Refusal(
        ("chmod", "fchmod"),
        "makes a program that gives others this account's rights",
        (Condition(1, (0,), stat.S_ISUID, among=False),),
    ),
    Refusal(
        ("fchmodat", "fchmodat2"),
        "makes a program that gives others this account's rights",
        (Condition(2, (0,), stat.S_ISUID, among=False),),
    ),
)


SHARED = (
    Refusal(
        ("shmget", "shmat", "shmctl", "semget", "semop", "semctl", "semtimedop"),
        "reaches memory that the account's other processes share",
    ),
    Refusal(
        ("msgget", "msgsnd", "msgrcv", "msgctl", "mq_open", "mq_unlink"),
        "reaches message queues of the account's other processes",
    ),
    Refusal(
        ("prlimit64",),
        "changes the limits of another process",
        (Condition(0, (0,), among=False),),
    ),
    Refusal(("listmount", "statmount"), "shows the mounts of the machine", answer=errno.ENOSYS),
)
"""What namespaces keep apart, for where there are none."""


def refusals(plan: Plan, *, namespaces: bool) -> Iterator[Refusal]:
    """Yield what is refused under a plan. `namespaces` says that the back end gives the process a
    network, a file tree and System V objects of its own; where it does not, calls are all that
    keeps it from those of the machine.
    """
    yield from ALWAYS
    if not namespaces:
        yield from SHARED
    inet = namespaces or plan.network is not Network.NONE
    families = (int(socket.AF_UNIX),)
    if inet:
        families += (int(socket.AF_INET), int(socket.AF_INET6), AF_NETLINK)
    yield Refusal(
        ("socket", "socketpair"),
        "reaches networks or kernel services that the plan does not have",
        (Condition(0, families, among=False),),
        errno.EAFNOSUPPORT,
    )
    if inet:
        yield Refusal(
            ("socket",),
            "configures the kernel; reading routes and addresses is left",
            (Condition(0, (AF_NETLINK,)), Condition(2, (NETLINK_ROUTE,), among=False)),
            errno.EAFNOSUPPORT,
        )
    elif not plan.sockets:
        yield Refusal(("connect",), "reaches a service of the machine through its socket file")
        yield Refusal(
            ("socket", "socketpair"),
            "reaches a service of the machine without connecting first",
            (
                Condition(0, (int(socket.AF_UNIX),)),
                Condition(1, CONNECTED, SOCKET_TYPE, among=False),
            ),
        )
