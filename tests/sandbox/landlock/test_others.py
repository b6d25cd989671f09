"""Processes and services of the machine, out of reach."""

from __future__ import annotations

import os
import socket
import threading
from contextlib import closing
from pathlib import Path

import pytest

from tests.sandbox.inside import Ended, plan_of, run, shell
from tests.sandbox.landlock.held import PYTHON, landlock, victim
from truepenny.sandbox.landlock.ruleset import SCOPED, version


def python(folder: Path, program: str, **settings: object) -> Ended | None:
    sandbox = landlock(plan_of(folder, **settings))
    return None if sandbox is None else run(sandbox, PYTHON, "-c", program)


def test_processes_of_the_same_account_are_out_of_reach(folder: Path) -> None:
    plan = plan_of(folder)
    with victim(plan.account) as pid:
        program = f"""
import ctypes, os, resource
libc = ctypes.CDLL(None, use_errno=True)
def refused(what, call):
    try:
        found = call()
    except OSError as error:
        return
    print(what, found)
def raw(*arguments):
    if libc.syscall(*(ctypes.c_long(one) for one in arguments)) < 0:
        raise OSError(ctypes.get_errno(), "")
    return "done"
def read(name):
    with open("/proc/{pid}/" + name, "rb") as file:
        return file.read(100)
for name in ("cmdline", "environ", "status", "maps", "mem"):
    refused(name, lambda: read(name))
refused("fd", lambda: os.readlink("/proc/{pid}/fd/0"))
refused("exe", lambda: os.readlink("/proc/{pid}/exe"))
refused("root", lambda: os.listdir("/proc/{pid}/root/"))
refused("limits", lambda: resource.prlimit({pid}, resource.RLIMIT_CPU, (1, 1)))
refused("attach", lambda: raw(101, 16, {pid}, 0, 0))
refused("read", lambda: raw(310, {pid}, 0, 0, 0, 0, 0))
descriptor = os.pidfd_open({pid})
refused("steal", lambda: raw(438, descriptor, 0, 0))
print("looked")
"""
        done = python(folder, program)
        if done is not None:
            assert (done.out, done.err) == ("looked\n", "")


def test_signals_end_at_the_wall(folder: Path) -> None:
    plan = plan_of(folder)
    with victim(plan.account) as pid:
        sandbox = landlock(plan)
        if sandbox is None:
            return
        done = shell(sandbox, f"kill -0 {pid} && echo reached; kill -0 $$ && echo itself")
        assert ("reached" in done.out) == (version() < SCOPED)
        assert "itself" in done.out


TCP = """
import socket, sys
try:
    one = socket.create_connection(("127.0.0.1", int(sys.argv[1])), 5)
except OSError as error:
    print(type(error).__name__, error.errno)
else:
    print(one.recv(10).decode())
"""


def test_the_network_is_what_the_plan_says(folder: Path) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        port = str(server.getsockname()[1])
        closed = landlock(plan_of(folder))
        if closed is None:
            return
        assert run(closed, PYTHON, "-c", TCP, port).out == "OSError 97\n"
        is_open = landlock(plan_of(folder, network="host"))
        assert is_open is not None
        thread = threading.Thread(target=greet, args=(server,))
        thread.start()
        assert run(is_open, PYTHON, "-c", TCP, port).out == "hello\n"
        thread.join()


def greet(server: socket.socket) -> None:
    one, _ = server.accept()
    with one:
        one.sendall(b"hello")


DATAGRAM = """
import socket
for kind in (socket.SOCK_DGRAM, socket.SOCK_RAW):
    for family in (socket.AF_INET, socket.AF_INET6):
        try:
            socket.socket(family, kind).sendto(b"x", ("127.0.0.1", 9))
        except OSError as error:
            continue
        print("sent", family, kind)
print(*[one is not None for one in socket.socketpair()])
"""


def test_without_a_network_no_datagram_leaves(folder: Path) -> None:
    done = python(folder, DATAGRAM)
    if done is not None:
        assert (done.out, done.err) == ("True True\n", "")


UNIX = """
import socket, sys
def name_of(kind):
    name = sys.argv[1] % kind
    return chr(0) + name[1:] if name[0] == "@" else name
for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_SEQPACKET):
    try:
        one = socket.socket(socket.AF_UNIX, kind)
        one.connect(name_of(kind))
    except OSError as error:
        continue
    print("reached", int(kind))
try:
    here, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    here.sendto(b"x", name_of(socket.SOCK_DGRAM))
    print("reached by a pair")
except OSError as error:
    pass
for kind in (socket.SOCK_DGRAM, socket.SOCK_RAW):
    try:
        socket.socket(socket.AF_UNIX, kind).sendto(b"x", name_of(socket.SOCK_DGRAM))
    except OSError as error:
        continue
    print("reached without a connection", int(kind))
"""


def listening(template: str) -> list[socket.socket]:
    found: list[socket.socket] = []
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_SEQPACKET):
        one = socket.socket(socket.AF_UNIX, kind)
        name = template % kind
        one.bind("\0" + name[1:] if name[0] == "@" else name)
        if name[0] != "@":
            os.chmod(name, 0o777)
        if kind != socket.SOCK_DGRAM:
            one.listen()
        found.append(one)
    return found


def test_socket_files_of_the_machine_are_out_of_reach(folder: Path, outside: Path) -> None:
    template = f"{outside}/socket-%d"
    listeners = listening(template)
    sandbox = landlock(plan_of(folder))
    with_host = landlock(plan_of(folder, network="host"))
    if sandbox is not None and with_host is not None:
        assert run(sandbox, PYTHON, "-c", UNIX, template).out == ""
        # With the machine's network a filter cannot tell one connection from another: a gap.
        reached = run(with_host, PYTHON, "-c", UNIX, template).out.splitlines()
        assert reached == [
            *("reached 1", "reached 2", "reached 5"),
            *("reached without a connection 2", "reached without a connection 3"),
        ]
        confinement = with_host.confine()
        confinement.close()
        assert "socket_files" in confinement.containment.gaps
    for one in listeners:
        one.close()


@pytest.mark.parametrize("network", ["none", "host"])
def test_abstract_sockets_end_at_the_wall(folder: Path, network: str) -> None:
    template = f"@truepenny-test-{os.getpid()}-%d"
    listeners = listening(template)
    sandbox = landlock(plan_of(folder, network=network))
    if sandbox is not None:
        reached = run(sandbox, PYTHON, "-c", UNIX, template).out
        assert bool(reached) == (network == "host" and version() < SCOPED)
    for one in listeners:
        one.close()


def test_system_v_objects_are_out_of_reach(folder: Path) -> None:
    program = """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
for call in (lambda: libc.shmget(0, 4096, 0o1600), lambda: libc.msgget(0, 0o1600),
             lambda: libc.semget(0, 1, 0o1600)):
    print(call(), ctypes.get_errno())
"""
    done = python(folder, program)
    if done is not None:
        assert done.out == "-1 1\n" * 3
