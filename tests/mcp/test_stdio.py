"""A server over standard input and output, started, talked with and ended by us."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import anyio
import pytest
from mcp import Client

from tests.execute.script import alive
from truepenny.errors import CouldNotRun
from truepenny.execute.command import Command
from truepenny.mcp.stdio import stdio_transport

pytestmark = pytest.mark.anyio

SERVER = """
import json, os, sys
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    if asked["method"] == "initialize":
        version = asked["params"]["protocolVersion"]
        about = {"name": "small", "version": str(os.getpid())}
        answer = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": about}
    elif asked["method"] == "tools/list":
        answer = {"tools": [{"name": "t", "inputSchema": {"type": "object"}}]}
    elif asked["method"] == "tools/call":
        KIND
        answer = {"content": [{"type": "text", "text": "x" * 1_000_000}]}
    else:
        answer = {}
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": answer}), flush=True)
"""


def server(tmp_path: Path, kind: str = "pass") -> Command:
    program = tmp_path / "server.py"
    program.write_text(SERVER.replace("KIND", kind), encoding="utf-8")
    return Command((sys.executable, str(program)), {"PATH": os.defpath}, timeout=None)


async def test_calls_go_through_whole_and_the_server_ends_with_the_context(tmp_path: Path) -> None:
    async with Client(stdio_transport(server(tmp_path))) as client:
        assert client.server_info is not None
        pid = int(client.server_info.version)
        assert [tool.name for tool in (await client.list_tools()).tools] == ["t"]
        result = await client.call_tool("t", {})
        assert len(result.content[0].text) == 1_000_000
        assert alive(pid)
    assert not alive(pid)


async def test_a_server_that_dies_in_a_call_is_an_error_and_no_wait(tmp_path: Path) -> None:
    with anyio.fail_after(10):
        async with Client(stdio_transport(server(tmp_path, "os._exit(3)"))) as client:
            with pytest.raises(Exception, match=r"(?i)clos"):
                await client.call_tool("t", {})


async def test_noise_between_messages_loses_none(tmp_path: Path) -> None:
    async with Client(stdio_transport(server(tmp_path, "print('noise', flush=True)"))) as client:
        assert len((await client.call_tool("t", {})).content[0].text) == 1_000_000


async def test_a_server_that_floods_one_line_ends_the_connection(tmp_path: Path) -> None:
    flood = "[os.write(1, b'y' * 65536) for _ in range(2000)]"
    with anyio.fail_after(20):
        async with Client(stdio_transport(server(tmp_path, flood))) as client:
            with pytest.raises(Exception, match=r"(?i)clos"):
                await client.call_tool("t", {})


async def test_a_server_that_is_not_there_could_not_run() -> None:
    with pytest.raises(BaseException) as caught:
        async with stdio_transport(Command(("/no/such/server",), {})):
            pass
    error: BaseException = caught.value
    while isinstance(error, BaseExceptionGroup):
        (error,) = error.exceptions
    assert isinstance(error, CouldNotRun)
    assert error.remedy == "Install it, or name it by its path."
