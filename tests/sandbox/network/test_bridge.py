"""The bridge as the program it is, beside a real unix socket; no sandbox needed."""

from __future__ import annotations

import os
import select
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import anyio
import pytest

from truepenny.sandbox.network import bridge
from truepenny.sandbox.network.listener import peer

from .wire import Names, connect_line, upstream

pytestmark = pytest.mark.anyio

CLIENT = """
import os, socket, sys
host, port = os.environ["HTTPS_PROXY"].removeprefix("http://").split(":")
connection = socket.create_connection((host, int(port)))
connection.sendall(sys.stdin.buffer.read())
connection.shutdown(socket.SHUT_WR)
while data := connection.recv(65536):
    sys.stdout.buffer.write(data)
"""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextmanager
def reporting() -> Iterator[tuple[int, int]]:
    read, write = os.pipe()
    os.set_blocking(read, False)
    try:
        yield read, write
    finally:
        os.close(read)
        os.close(write)


def bridged(
    path: Path, *program: str, stdin: bytes = b"", port: int | None = None
) -> tuple[subprocess.CompletedProcess[bytes], str]:
    """Run a program behind the bridge; return how it ended and what the bridge reported."""
    with reporting() as (read, write):
        done = subprocess.run(
            [
                *(sys.executable, "-I", "-S", bridge.__file__, str(path)),
                *(str(port or free_port()), str(write), "--", *program),
            ],
            input=stdin,
            capture_output=True,
            pass_fds=[write],
            timeout=30,
            check=False,
        )
        try:
            return done, os.read(read, 4096).decode()
        except BlockingIOError:
            return done, ""


@pytest.mark.parametrize("code", [0, 1, 42, 126, 127, 255])
def test_the_exit_code_is_the_programs(tmp_path: Path, code: int) -> None:
    done, report = bridged(tmp_path / "none", "sh", "-c", f"exit {code}")
    assert (done.returncode, report) == (code, "")


def test_a_signal_is_the_programs(tmp_path: Path) -> None:
    done, report = bridged(tmp_path / "none", "sh", "-c", "kill -KILL $$")
    assert (done.returncode, report) == (-9, "")


def test_standard_input_is_the_programs(tmp_path: Path) -> None:
    data = bytes(range(256)) * 1000
    done, _ = bridged(tmp_path / "none", "cat", stdin=data)
    assert done.stdout == data


def test_the_program_has_no_child_and_no_descriptor_of_the_bridge(tmp_path: Path) -> None:
    code = (
        "import os\n"
        "try:\n os.waitpid(-1, 0)\nexcept ChildProcessError: print('no child')\n"
        "print(sorted(map(int, os.listdir('/proc/self/fd')))[:-1])"
    )
    done, _ = bridged(tmp_path / "none", sys.executable, "-I", "-S", "-c", code)
    assert done.stdout.decode().splitlines() == ["no child", "[0, 1, 2]"]


def test_proxies_are_set_and_nothing_goes_past_them(tmp_path: Path) -> None:
    port = free_port()
    done, _ = bridged(tmp_path / "none", "env", port=port)
    env = dict(line.split("=", 1) for line in done.stdout.decode().splitlines())
    for name in ("HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"):
        assert env[name] == f"http://127.0.0.1:{port}"
    assert (env["NO_PROXY"], env["no_proxy"]) == ("", "")


def test_why_a_program_cannot_start_is_reported_past_it(tmp_path: Path) -> None:
    done, report = bridged(tmp_path / "none", "no-such-program")
    assert (done.returncode, done.stderr) == (bridge.FAILED, b"")
    assert report == "missing: no-such-program: No such file or directory"
    plain = tmp_path / "plain"
    plain.write_text("text", encoding="utf-8")
    _, report = bridged(tmp_path / "none", str(plain))
    assert report.startswith("not_executable: ")


def test_a_port_that_is_taken_is_reported(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done, report = bridged(tmp_path / "none", "true", port=taken.getsockname()[1])
    assert done.returncode == bridge.FAILED
    assert report.startswith("sandbox: the bridge to the proxy: Address already in use")


NO_SECOND_FORK = """
import importlib.util, os, sys
spec = importlib.util.spec_from_file_location("bridge", sys.argv[1])
bridge = importlib.util.module_from_spec(spec)
spec.loader.exec_module(bridge)
really, forks = os.fork, []
def fork():
    forks.append(1)
    if len(forks) == int(sys.argv[2]):
        raise BlockingIOError(11, "Resource temporarily unavailable")
    return really()
os.fork = fork
bridge.main(sys.argv[3:])
"""


@pytest.mark.parametrize("failing", [1, 2])
def test_without_room_for_the_carrier_the_program_is_not_started(
    tmp_path: Path, failing: int
) -> None:
    with reporting() as (read, write):
        words = [str(tmp_path / "none"), str(free_port()), str(write), "--", "echo", "started"]
        done = subprocess.run(
            [
                *(sys.executable, "-I", "-c", NO_SECOND_FORK, bridge.__file__, str(failing)),
                *words,
            ],
            capture_output=True,
            pass_fds=[write],
            timeout=30,
            check=False,
        )
        report = os.read(read, 4096).decode()
    assert (done.returncode, done.stdout) == (bridge.FAILED, b"")
    assert report == "sandbox: the bridge to the proxy: Resource temporarily unavailable"


async def test_bytes_go_through_and_come_back(tmp_path: Path) -> None:
    async with upstream(tmp_path) as (proxy, path, port):
        data = os.urandom(3_000_000)
        sent = connect_line("127.0.0.1", port) + data
        done, _ = await anyio.to_thread.run_sync(
            lambda: bridged(path, sys.executable, "-I", "-c", CLIENT, stdin=sent)
        )
        head, _, back = done.stdout.partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200")
        assert back == data
    assert proxy.decisions.since()[0].sent == len(data)


SLOW = """
import os, socket, sys, time
host, port = os.environ["HTTPS_PROXY"].removeprefix("http://").split(":")
connection = socket.socket()
connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
connection.connect((host, int(port)))
connection.sendall(sys.stdin.buffer.read())
time.sleep(0.3)  # until everything is full, and the other end has long gone
while data := connection.recv(65536):
    sys.stdout.buffer.write(data)
"""


async def test_what_came_before_a_hang_up_comes_whole_to_a_slow_reader(tmp_path: Path) -> None:
    data = os.urandom(500_000)
    async with upstream(tmp_path, before=data, hang_up=True) as (_, path, port):
        sent = connect_line("127.0.0.1", port)
        done, _ = await anyio.to_thread.run_sync(
            lambda: bridged(path, sys.executable, "-I", "-c", SLOW, stdin=sent)
        )
        assert done.stdout.partition(b"\r\n\r\n")[2] == data


async def test_a_refusal_comes_back_whole(tmp_path: Path) -> None:
    async with upstream(tmp_path, names=Names()) as (_, path, _port):
        sent = connect_line("evil.example", 443)
        done, _ = await anyio.to_thread.run_sync(
            lambda: bridged(path, sys.executable, "-I", "-c", CLIENT, stdin=sent)
        )
        assert done.stdout.startswith(b"HTTP/1.1 403 Forbidden\r\n")
        assert done.stdout.endswith(b"not_allowed: not on the list\n")


def test_without_a_proxy_connections_are_closed(tmp_path: Path) -> None:
    done, _ = bridged(tmp_path / "none", sys.executable, "-I", "-c", CLIENT)
    assert done.returncode in (0, 1)  # closed at once, or while it was writing
    assert done.stdout == b""


async def test_it_ends_with_the_program() -> None:
    with tempfile.TemporaryDirectory() as folder, reporting() as (_, write):
        path = Path(folder, "s")
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(str(path))
            server.listen()
            program = subprocess.Popen(
                [
                    *(sys.executable, "-I", "-S", bridge.__file__, str(path)),
                    *(str(free_port()), str(write), "--", sys.executable, "-c", HOLD),
                ],
                pass_fds=[write],
                stdout=subprocess.PIPE,
            )
            server.setblocking(False)
            with program, anyio.fail_after(30):
                await anyio.wait_readable(server)
                connection, _ = server.accept()
                carrier = os.pidfd_open(peer(connection)[0])
                try:
                    assert peer(connection)[0] != program.pid
                    program.kill()
                    await anyio.wait_readable(carrier)
                finally:
                    os.close(carrier)
                    connection.close()


HOLD = """
import os, socket
host, port = os.environ["HTTPS_PROXY"].removeprefix("http://").split(":")
connection = socket.create_connection((host, int(port)))
connection.recv(1)
"""


def test_it_does_not_hold_the_output_open(tmp_path: Path) -> None:
    # `subprocess.run` waits for the end of both pipes: it comes with the program's own.
    done, _ = bridged(tmp_path / "none", "sh", "-c", "echo out; echo err >&2")
    assert (done.stdout, done.stderr) == (b"out\n", b"err\n")


def test_it_is_not_in_the_programs_group(tmp_path: Path) -> None:
    code = (
        "import os, sys\n"
        "for pid in filter(str.isdecimal, os.listdir('/proc')):\n"
        "    try:\n"
        "        words = open(f'/proc/{pid}/cmdline', 'rb').read().split(b'\\0')\n"
        "        if sys.argv[1].encode() in words and int(pid) != os.getpid():\n"
        "            print(os.getpgid(int(pid)) == os.getpgrp(), os.getsid(int(pid)) == int(pid))\n"
        "    except OSError: pass\n"
    )
    path = tmp_path / "known-by-this-name"
    done, _ = bridged(path, sys.executable, "-I", "-c", code, str(path))
    assert done.stdout == b"False False\n"  # led by the child between, which is gone


def test_it_holds_no_descriptor_that_was_passed_to_the_program(tmp_path: Path) -> None:
    kept, passed = os.pipe()
    code = f"import os, sys; os.close({passed}); sys.stdin.read()"
    with reporting() as (_, write):
        program = subprocess.Popen(
            [
                *(sys.executable, "-I", "-S", bridge.__file__, str(tmp_path / "none")),
                *(str(free_port()), str(write), "--", sys.executable, "-c", code),
            ],
            pass_fds=[write, passed],
            stdin=subprocess.PIPE,
        )
        os.close(passed)
        with program, open(kept, "rb") as stream:
            # While the program still runs: its own is closed, so nobody else has one.
            assert select.select([stream], [], [], 10)[0]
            assert stream.read() == b""
            assert program.poll() is None
            program.communicate(timeout=30)
