from __future__ import annotations

import json
from typing import Any

import pytest

from truepenny.workspace.server import protocol
from truepenny.workspace.server.protocol import (
    Abort,
    Call,
    Fatal,
    Hello,
    ProtocolFault,
    Ready,
    Shutdown,
    Update,
    client_codec,
    server_codec,
)

HELLO = Hello(1, "/w", {}, ["/r"], ["/w"], ["/d"], ["/h"], "/s", gaps=["files"])
TO_SERVER = [HELLO, Call("a", "read", {"path": "x", "deep": [1, None]}), Abort("a"), Shutdown()]
FROM_SERVER = [Ready(1, ["read"]), Update("a", "x"), protocol.Outcome("a", {"x": 1}), Fatal("m")]


def test_each_message_survives_the_trip_and_only_in_its_direction() -> None:
    server, client = server_codec(), client_codec()
    for message in TO_SERVER:
        assert server.decode(client.encode(message)) == message
        with pytest.raises(ProtocolFault):
            client.decode(client.encode(message))
    for message in FROM_SERVER:
        assert client.decode(server.encode(message)) == message
        with pytest.raises(ProtocolFault):
            server.decode(server.encode(message))


def call(**changes: Any) -> bytes:
    return json.dumps({"type": "call", "id": "a", "tool": "read", "args": {}, **changes}).encode()


@pytest.mark.parametrize(
    "payload",
    [
        b"", b"{}", b"[]", b"null", b"\xff\xfe", b'{"type":"call"}', b'{"type":"shout"}',
        b"{" * 100_000, b"[" * 5_000_000, call(id=""), call(id="x" * 300), call(id=1),
        call(args=[]), call(more=1),
        call(tool=None), b'{"type":"shutdown"} x', b'{"id":"a"}',
    ],
)  # fmt: skip
def test_what_is_no_message_is_a_fault_that_quotes_nothing(payload: bytes) -> None:
    with pytest.raises(ProtocolFault) as caught:
        server_codec().decode(payload)
    assert len(str(caught.value)) < 100


def test_an_empty_environment_stays_empty() -> None:
    assert json.loads(client_codec().encode(HELLO))["subprocess_env"] == {}
