from __future__ import annotations

import errno
import json
import platform
import socket
from dataclasses import replace
from pathlib import Path

import pytest

from tests.sandbox.bpf import KILLED, answer
from tests.sandbox.filtered import PYTHON, start_after
from truepenny.errors import CouldNotRun
from truepenny.sandbox.plan import Account, Mode, Mount, Network, Plan, Profile
from truepenny.sandbox.refusal import ALWAYS, NEW_NAMESPACES, TIOCSTI, refusals
from truepenny.sandbox.seccomp import INSTRUCTION, compiled, filter_program, install
from truepenny.sandbox.syscall import (
    LAST_KNOWN,
    MACHINES,
    NUMBERS,
    Machine,
    forbid_new_privileges,
    number,
)

PLAN = Plan(Profile.COMMAND, (), Path("/"), Account("nobody", 65534, 65534, drop=False))
SOCKET = Mount(Mode.READ, Path("/run/ours.sock"), "ours", source=Path("/run/ours.sock"))
X86 = MACHINES["x86_64"]
UNIX, INET, INET6, NETLINK = 1, 2, 10, 16
STREAM, SEQUENCED, CLOEXEC = 1, 5, 0x80000
LINUX_LIMIT = 4096

machines = pytest.mark.parametrize("of", MACHINES.values(), ids=MACHINES)


def program(of: Machine, plan: Plan = PLAN, *, namespaces: bool = True) -> bytes:
    return compiled(tuple(refusals(plan, namespaces=namespaces)), of)


def asked(of: Machine, name: str, *arguments: int, plan: Plan = PLAN, ns: bool = True) -> int:
    found = number(name, of)
    assert found is not None
    return answer(program(of, plan, namespaces=ns), of, found, arguments)


@machines
def test_every_call_without_a_condition_is_refused_whatever_its_arguments(of: Machine) -> None:
    filters = program(of)
    for row in ALWAYS:
        if row.when:
            continue
        for name in row.calls:
            found = number(name, of)
            if found is not None:
                assert answer(filters, of, found) == row.answer, name
                assert answer(filters, of, found, (2**64 - 1,) * 6) == row.answer, name


@machines
def test_every_other_known_call_is_allowed(of: Machine) -> None:
    filters = program(of)
    ours = {name for row in refusals(PLAN, namespaces=True) for name in row.calls}
    theirs = {number(name, of) for name in ours}
    for found in range(LAST_KNOWN + 1):
        if found not in theirs:
            assert answer(filters, of, found) == 0, found


@machines
def test_what_a_later_kernel_adds_does_not_exist(of: Machine) -> None:
    for found in (LAST_KNOWN + 1, 1000, 0x40000000, 0x40000000 | 59, 2**32 - 1):
        assert answer(program(of), of, found) == errno.ENOSYS


@machines
def test_another_architecture_is_killed(of: Machine) -> None:
    for other in (*(one for one in MACHINES.values() if one != of), Machine(0, 0x40000003)):
        assert answer(program(of), other, 0) == KILLED


@machines
def test_namespaces_are_not_made_but_threads_and_forks_are(of: Machine) -> None:
    for bit in range(64):
        made = bool(NEW_NAMESPACES >> bit & 1)
        assert asked(of, "clone", 1 << bit) == (errno.EPERM if made else 0)
        assert asked(of, "unshare", 1 << bit) == (errno.EPERM if made or bit == 7 else 0)
    threads = 0x3D0F00
    assert asked(of, "clone", threads) == 0
    assert asked(of, "clone", threads | 0x10000000) == errno.EPERM
    assert asked(of, "clone3") == errno.ENOSYS


@machines
def test_terminals_are_not_typed_into(of: Machine) -> None:
    assert asked(of, "ioctl", 0, TIOCSTI) == errno.EPERM
    assert asked(of, "ioctl", 0, 0x541C) == errno.EPERM
    assert asked(of, "ioctl", 0, 0x5413) == 0
    # The kernel looks at the low half alone, so the filter must too.
    assert asked(of, "ioctl", 0, TIOCSTI | 1 << 32) == errno.EPERM


@machines
def test_setuid_programs_are_not_made(of: Machine) -> None:
    assert asked(of, "fchmod", 3, 0o4755) == errno.EPERM
    assert asked(of, "fchmodat", 3, 0, 0o4755) == errno.EPERM
    assert asked(of, "fchmodat2", 3, 0, 0o6755) == errno.EPERM
    assert asked(of, "fchmodat", 3, 0, 0o2755) == 0
    assert asked(of, "fchmod", 3, 0o1777) == 0


@machines
def test_memory_keeps_its_protection(of: Machine) -> None:
    assert asked(of, "personality", 0xFFFFFFFF) == 0
    assert asked(of, "personality", 0) == 0
    assert asked(of, "personality", 0x0400000) == errno.EPERM
    assert asked(of, "personality", 0x0100000) == errno.EPERM


NONE_INSIDE = {UNIX, INET, INET6, NETLINK}


@machines
@pytest.mark.parametrize(
    ("network", "namespaces", "families"),
    [
        (Network.NONE, True, NONE_INSIDE),
        (Network.PROXY, True, NONE_INSIDE),
        (Network.HOST, True, NONE_INSIDE),
        (Network.HOST, False, NONE_INSIDE),
        (Network.NONE, False, {UNIX}),
    ],
)
def test_families_of_sockets(
    of: Machine, network: Network, namespaces: bool, families: set[int]
) -> None:
    plan = replace(PLAN, network=network)
    for name in ("socket", "socketpair"):
        for family in range(48):
            expected = 0 if family in families else errno.EAFNOSUPPORT
            assert asked(of, name, family, STREAM, plan=plan, ns=namespaces) == expected


@machines
def test_the_kernel_is_asked_for_routes_alone(of: Machine) -> None:
    assert asked(of, "socket", NETLINK, 3, 0) == 0
    for protocol in range(1, 24):
        assert asked(of, "socket", NETLINK, 3, protocol) == errno.EAFNOSUPPORT


@machines
def test_without_namespaces_no_socket_file_is_reached(of: Machine) -> None:
    assert asked(of, "connect", ns=False) == errno.EPERM
    for name in ("socket", "socketpair"):
        for kind in range(16):
            expected = 0 if kind in (STREAM, SEQUENCED) else errno.EPERM
            assert asked(of, name, UNIX, kind | CLOEXEC, ns=False) == expected
            assert asked(of, name, UNIX, kind) == 0
    assert asked(of, "connect") == 0


@machines
def test_a_socket_of_ours_may_be_connected_to(of: Machine) -> None:
    plan = replace(PLAN, sockets=(SOCKET,))
    assert asked(of, "connect", plan=plan, ns=False) == 0
    assert asked(of, "socket", INET, STREAM, plan=plan, ns=False) == errno.EAFNOSUPPORT


@machines
def test_the_program_is_one_the_kernel_takes(of: Machine) -> None:
    steps = list(INSTRUCTION.iter_unpack(program(of)))
    assert len(steps) < LINUX_LIMIT
    for at, (code, then, otherwise, _) in enumerate(steps):
        assert at + 1 + max(then, otherwise) < len(steps) or code == 0x06
    assert steps[-1][0] == 0x06


def test_every_number_is_used_and_each_is_one_call() -> None:
    used = {
        name
        for plan in (PLAN, replace(PLAN, network=Network.HOST))
        for ns in (True, False)
        for row in refusals(plan, namespaces=ns)
        for name in row.calls
    }
    made = {"seccomp", "landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self"}
    made.add("openat2")
    assert used | made == set(NUMBERS)
    for of in MACHINES.values():
        found = [one for one in (number(name, of) for name in NUMBERS) if one is not None]
        assert len(found) == len(set(found))
        assert max(found) <= LAST_KNOWN


def test_an_unknown_architecture_has_no_filter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    with pytest.raises(CouldNotRun, match="riscv64"):
        filter_program(PLAN)


PROBE = """
import ctypes, json, os, socket, sys
libc = ctypes.CDLL(None, use_errno=True)
def call(*arguments):
    ctypes.set_errno(0)
    libc.syscall(*(ctypes.c_long(one) for one in arguments))
    return ctypes.get_errno()
def family(*arguments):
    try:
        socket.socket(*arguments).close()
    except OSError as error:
        return error.errno
    return 0
found = {name: call(*arguments) for name, arguments in json.loads(sys.argv[1]).items()}
for name, arguments in {"unix": (1, 1), "inet": (2, 1), "vsock": (40, 1), "alg": (38, 5),
                        "packet": (17, 3), "audit": (16, 3, 9), "route": (16, 3, 0)}.items():
    found[name] = family(*arguments)
child = os.fork()
if child == 0:
    os._exit(7)
found["fork"] = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
print(json.dumps(found))
"""


def probed(plan: Plan, *, namespaces: bool) -> dict[str, int]:
    here = MACHINES[platform.machine()]
    calls = {
        name: [number(name, here), *arguments]
        for name, arguments in {
            "ptrace": (0, 0, 0, 0),
            "bpf": (0, 0, 0),
            "io_uring_setup": (0, 0),
            "keyctl": (0, -3, 0),
            "mount": (0, 0, 0, 0, 0),
            "unshare": (0x10000000,),
            "setns": (-1, 0),
            "clone3": (0, 0),
            "ioctl": (0, TIOCSTI, 0),
            "personality": (0x0400000,),
            "open_by_handle_at": (-1, 0, 0),
            "process_vm_readv": (1, 0, 0, 0, 0, 0),
            "fchmod": (-1, 0o4755),
            "connect": (-1, 0, 0),
        }.items()
    }
    filters = filter_program(plan, namespaces=namespaces)

    def before() -> None:
        forbid_new_privileges()
        install(filters)

    done = start_after(before, [PYTHON, "-c", PROBE, json.dumps(calls)])
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_kernel_refuses_what_the_table_says() -> None:
    found = probed(PLAN, namespaces=True)
    nosys = {name for name, code in found.items() if code == errno.ENOSYS}
    assert nosys == {"io_uring_setup", "clone3"}
    refused = {name for name, code in found.items() if code == errno.EPERM}
    assert refused == {
        *("ptrace", "bpf", "keyctl", "mount", "unshare", "setns", "ioctl", "personality"),
        *("open_by_handle_at", "process_vm_readv", "fchmod"),
    }
    assert {found[name] for name in ("vsock", "alg", "packet", "audit")} == {errno.EAFNOSUPPORT}
    assert {found[name] for name in ("unix", "inet", "route")} == {0}
    assert found["connect"] == errno.EBADF
    assert found["fork"] == 7


def test_the_kernel_keeps_the_machines_sockets_away_without_namespaces() -> None:
    found = probed(PLAN, namespaces=False)
    assert found["connect"] == errno.EPERM
    assert found["inet"] == found["route"] == errno.EAFNOSUPPORT
    assert found["unix"] == 0


def test_this_process_stays_as_it_was() -> None:
    def limits() -> list[str]:
        lines = Path("/proc/thread-self/status").read_text(encoding="ascii").splitlines()
        return [line for line in lines if line.startswith(("NoNewPrivs", "Seccomp"))]

    before = limits()
    probed(PLAN, namespaces=False)
    socket.socket(socket.AF_INET, socket.SOCK_STREAM).close()
    assert limits() == before
