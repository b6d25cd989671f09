"""A result says what its run asked of the network, let through or refused."""

from __future__ import annotations

import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from truepenny.config.settings import SandboxSettings, Settings
from truepenny.sandbox.account import account_for
from truepenny.sandbox.choice import PROBES
from truepenny.sandbox.level import Level
from truepenny.text.redact import Redactor
from truepenny.tool.contract import CallContext
from truepenny.tool.outcome import Outcome
from truepenny.workspace.opening import open_workspace

from .world import folder

pytestmark = pytest.mark.anyio

ASK = """exec 3<>/dev/tcp/127.0.0.1/18080
printf 'CONNECT %s HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n' {host} >&3
head -1 <&3"""


@contextmanager
def upstream() -> Iterator[int]:
    class Hello(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            self.request.sendall(b"hello\n")

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Hello) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            thread.join()


async def test_each_connection_stands_in_the_result(tmp_path: Path) -> None:
    with folder() as root, upstream() as port:
        allowed = f"127.0.0.1:{port}"
        sandbox = SandboxSettings(network="proxy", allow_hosts=(f"{allowed} private",))
        settings = Settings(sandbox=sandbox)
        context = CallContext("me", "s", "call_1", tmp_path, Redactor())
        env = {"PATH": "/usr/bin:/bin"}
        async with open_workspace(root, tmp_path, env, settings, Redactor()) as opened:
            (bash,) = (tool for tool in opened.tools if tool.name == "bash")
            through = await bash.run({"command": ASK.format(host=allowed)}, context)
            refused = await bash.run({"command": ASK.format(host="10.0.0.1:80")}, context)
            quiet = await bash.run({"command": "true"}, context)
    if not PROBES[Level.BWRAP](account_for(Path("/"), None)).works:
        # Without a network of its own nothing is let out, and nothing runs.
        assert {one.outcome for one in (through, refused, quiet)} == {Outcome.CHANNEL_FAILED}
        return
    assert through.text.startswith("HTTP/1.1 200")
    (line,) = through.facts.detail["network"]
    assert line.startswith(f"{allowed} allowed")
    assert refused.text.startswith("HTTP/1.1 403")
    assert refused.facts.detail["network"] == ["10.0.0.1:80 not_allowed"]
    assert any("10.0.0.1:80 not_allowed" in note for note in refused.facts.notes)
    assert "network" not in quiet.facts.detail
    assert quiet.facts.containment["network"] == "proxy"
