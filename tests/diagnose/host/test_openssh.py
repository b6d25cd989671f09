"""Against OpenSSH's own server, where it is installed: sessions, held pipes and jumps as they are.

Without it the same is asserted of nobody who listens: a failure at its stage.
"""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import anyio
import asyncssh
import pytest

from truepenny.execute.ending import Cause, Outcome

from .conftest import World

pytestmark = pytest.mark.anyio

PROGRAM = shutil.which("sshd", path=f"{os.environ['PATH']}:/usr/sbin")


@asynccontextmanager
async def openssh(world: World) -> AsyncGenerator[bool]:
    """Serve `web`, and `inner` through it; False where no server could be started."""
    folder = world.folder / "sshd"
    folder.mkdir()
    host, login = (asyncssh.generate_private_key("ssh-ed25519") for _ in range(2))
    host.write_private_key(folder / "host_key")
    (folder / "host_key").chmod(0o600)
    login.write_public_key(folder / "authorized")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    (folder / "config").write_text(
        f"Port {port}\nListenAddress 127.0.0.1\nHostKey {folder}/host_key\n"
        f"AuthorizedKeysFile {folder}/authorized\nStrictModes no\nUsePAM no\n"
        f"PasswordAuthentication no\nPermitRootLogin yes\nPidFile none\n",
        encoding="utf-8",
    )
    entry = {
        "address": "127.0.0.1",
        "port": port,
        "user": pwd.getpwuid(os.getuid()).pw_name,
        "key": login.export_private_key().decode(),
    }
    world.entries |= {"web": entry, "inner": {**entry, "jump": "web"}}
    if PROGRAM is None:
        yield False
        return
    if os.getuid() == 0:
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen(
            [PROGRAM, "-D", "-e", "-f", folder / "config"], stdout=log, stderr=log
        )
    try:
        with anyio.fail_after(10):
            while not _listens(port):
                await anyio.lowlevel.checkpoint()
        yield True
        with anyio.fail_after(5):
            while found := _children(server.pid):
                # Its own processes end when their connection has.
                assert set(found) == {"sshd"}
                await anyio.lowlevel.checkpoint()
    finally:
        server.terminate()
        server.wait()


def _listens(port: int) -> bool:
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), 0.2):
        return True
    return False


def _children(pid: int) -> list[str]:
    """The programs below a process."""
    found: list[str] = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            name, _, rest = stat.read_text(encoding="utf-8").partition("(")[2].rpartition(")")
            if int(rest.split()[1]) == pid:
                found.append("sshd" if name.startswith("sshd") else name)
                found += _children(int(stat.parent.name))
    return found


async def test_a_real_server_is_told_from_no_server(world: World) -> None:
    async with openssh(world) as there:
        result = await world.exec("web", "echo out; exit 3")
        if not there:
            assert (result.outcome, result.facts.reason) == (Outcome.CHANNEL_FAILED, "network")
            return
        assert (result.outcome, result.text) == (Outcome.TARGET_FAILED, "out\n")
        assert result.facts.exit is not None
        assert result.facts.exit.observed == 3
        jumped = await world.exec("inner", "echo in; yes | head -1")
        assert (jumped.outcome, jumped.text) == (Outcome.SUCCESS, "in\ny\n")
        assert jumped.facts.source["way"] == "web -> inner"
        late = await world.exec("inner", "echo begun; sleep 60; true", timeout_seconds=2)
        assert (late.outcome, late.facts.cause) == (Outcome.INTERRUPTED, Cause.TIMEOUT)
        assert late.facts.detail["remote_end"] == {"state": "gone", "found": 2}
        # A real server waits for the pipe that is held, we do not.
        held = await world.exec("web", "sleep 60 & echo done")
        assert (held.outcome, held.text) == (Outcome.SUCCESS, "done\n")
        assert held.facts.detail["leftovers"] == 1
        assert held.facts.completeness.state == "complete", "ended, it let go of the pipe"
        assert held.facts.duration < 10
