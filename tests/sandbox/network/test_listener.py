"""The socket itself: whose it is, who may connect, and how it ends."""

from __future__ import annotations

import errno
import os
import socket
import stat
import tempfile
from pathlib import Path

import anyio
import pytest

from tests.privilege import without_privilege
from truepenny.errors import CouldNotRun
from truepenny.sandbox.network.listener import ACCEPT_PAUSES, MOST_PATH, bind, listening, peer
from truepenny.sandbox.network.stream import Stream
from truepenny.sandbox.plan import Account
from truepenny.system.clock import ManualClock

from .wire import ME, talk

pytestmark = pytest.mark.anyio


async def answering(stream: Stream) -> None:
    await stream.send(b"hello")


async def test_the_socket_is_for_one_account_alone(tmp_path: Path) -> None:
    path = tmp_path / "s"
    before = os.umask(0)
    try:
        async with listening(path, ME, answering, most=1, busy_answer=b""):
            found = path.lstat()
            assert stat.S_ISSOCK(found.st_mode)
            assert stat.S_IMODE(found.st_mode) == 0o600
            assert found.st_uid == ME.uid
            assert await talk(path) == b"hello"
    finally:
        os.umask(before)
    assert not path.exists()


async def test_another_account_is_sent_away_unread() -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o711)
        path = Path(folder, "s")
        async with listening(path, ME, answering, most=1, busy_answer=b"") as state:
            path.chmod(0o666)  # as if the mode had been the only guard
            with without_privilege(), socket.socket(socket.AF_UNIX) as client:
                other = os.geteuid() != ME.uid
                client.connect(str(path))
                client.setblocking(False)
                with anyio.fail_after(10):
                    await anyio.wait_readable(client)
                # An ordinary user cannot be anybody else, and is answered.
                assert client.recv(100) == (b"" if other else b"hello")
            assert state.strangers == int(other)
            assert await talk(path) == b"hello"


async def test_the_kernel_says_who_connects() -> None:
    left, right = socket.socketpair()
    with left, right:
        assert peer(left) == (os.getpid(), os.geteuid(), os.getegid())


async def test_a_socket_for_another_account_belongs_to_it(tmp_path: Path) -> None:
    path = tmp_path / "s"
    other = Account("other", ME.uid + 1, ME.gid + 1, drop=True)
    if os.geteuid() != 0:
        with pytest.raises(CouldNotRun):
            bind(path, other)
        return
    with bind(path, other):
        assert (path.stat().st_uid, path.stat().st_gid) == (other.uid, other.gid)


async def test_too_long_a_path_is_said(tmp_path: Path) -> None:
    with pytest.raises(CouldNotRun, match=str(MOST_PATH)):
        bind(tmp_path / ("x" * MOST_PATH), ME)


async def test_a_path_that_is_taken_is_said(tmp_path: Path) -> None:
    (tmp_path / "s").write_text("", encoding="utf-8")
    with pytest.raises(CouldNotRun, match="in use"):
        bind(tmp_path / "s", ME)
    assert (tmp_path / "s").exists()


class Broken(socket.socket):
    """A socket that cannot take connections a given number of times."""

    failures = 0

    def accept(self) -> tuple[socket.socket, object]:
        if self.failures:
            self.failures -= 1
            raise OSError(errno.EMFILE, "Too many open files")
        return super().accept()


@pytest.mark.parametrize("failures", [1, len(ACCEPT_PAUSES), len(ACCEPT_PAUSES) + 1])
async def test_taking_connections_is_tried_again_and_then_given_up(
    tmp_path: Path, failures: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, clock = tmp_path / "s", ManualClock()
    monkeypatch.setattr(socket, "socket", Broken)
    monkeypatch.setattr(Broken, "failures", failures)
    async with listening(path, ME, answering, most=1, busy_answer=b"", clock=clock) as state:
        with anyio.fail_after(10):
            async with await anyio.connect_unix(path) as client:
                if failures <= len(ACCEPT_PAUSES):
                    assert await client.receive() == b"hello"
                    assert clock.monotonic() == sum(ACCEPT_PAUSES[:failures])
                else:
                    while not state.problem:
                        await anyio.lowlevel.checkpoint()
                    assert "open files" in state.problem
                    assert clock.monotonic() == sum(ACCEPT_PAUSES)


async def test_a_handler_that_loses_its_peer_hurts_nobody(tmp_path: Path) -> None:
    async def lost(stream: Stream) -> None:
        if await stream.receive() == b"lost":
            raise ConnectionResetError
        await stream.send(b"hello")

    path = tmp_path / "s"
    async with listening(path, ME, lost, most=2, busy_answer=b""):
        assert await talk(path, b"lost") == b""
        assert await talk(path, b"x") == b"hello"


async def test_a_handler_that_fails_is_counted_and_the_others_are_served(tmp_path: Path) -> None:
    async def faulty(stream: Stream) -> None:
        if await stream.receive() == b"bad":
            raise ValueError("a fault of ours")
        await stream.send(b"hello")

    path = tmp_path / "s"
    async with listening(path, ME, faulty, most=2, busy_answer=b"") as state:
        assert await talk(path, b"bad") == b""
        assert await talk(path, b"x") == b"hello"
        assert state.faults == 1


async def test_what_the_caller_raises_comes_out_as_it_is(tmp_path: Path) -> None:
    with pytest.raises(CouldNotRun, match="as it is"):
        async with listening(tmp_path / "s", ME, answering, most=1, busy_answer=b""):
            raise CouldNotRun("as it is")
    assert not (tmp_path / "s").exists()
