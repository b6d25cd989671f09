"""The messages, version 1 (assistant spec 2.7): closed types, unknown ones and fields refused.

    to the server    hello, call, abort, shutdown
    from the server  ready, update, result, fatal

`hello` comes first and is answered by `ready` or `fatal`. Each `call` gets any number of `update`s
and then exactly one `result`, also when it was aborted; results come in any order.
"""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

PROTOCOL = 1
"""The version that both ends must speak; there is no talk about others."""

MAX_ID = 200
"""Characters of a call's id."""


class _Message(msgspec.Struct, forbid_unknown_fields=True, tag_field="type"):
    pass


class Hello(_Message, tag="hello"):
    """What the server is to be. Paths are absolute, as seen from inside.

    `subprocess_env` is the whole environment of commands: empty is empty and inherits nothing.
    `level` and `containment` are the words of the sandbox that holds the server; it cannot know
    them itself, and repeats them in its facts. `deferred_dir` is where commands may leave whole
    outputs. Limits: seconds, lines, bytes.
    """

    protocol: int
    cwd: str
    subprocess_env: dict[str, str]
    read_roots: list[str]
    write_roots: list[str]
    denied_roots: list[str]
    hidden_roots: list[str]
    deferred_dir: str
    level: str = "none"
    limits: str = "none"
    account: str = ""
    network: str = "host"
    gaps: list[str] = []
    bash_timeout_seconds: float = 120.0
    max_read_lines: int = 2000
    max_read_bytes: int = 51_200


class Call(_Message, tag="call"):
    """One admitted call. `id` is unique on the connection."""

    id: str
    tool: str
    args: dict[str, Any]


class Abort(_Message, tag="abort"):
    """Stop a call; one that has ended meanwhile is no fault."""

    id: str


class Shutdown(_Message, tag="shutdown"):
    """Stop all calls and end."""


class Ready(_Message, tag="ready"):
    """The server takes calls, for these tools."""

    protocol: int
    tools: list[str]


class Update(_Message, tag="update"):
    """A line of progress of a call."""

    id: str
    text: str


class Outcome(_Message, tag="result"):
    """What a call came to: a result as `truepenny.tool.codec` writes it."""

    id: str
    result: dict[str, Any]


class Fatal(_Message, tag="fatal"):
    """The server cannot go on; `message` quotes nothing of any frame."""

    message: str


ToServer = Hello | Call | Abort | Shutdown
FromServer = Ready | Update | Outcome | Fatal

T = TypeVar("T")


class ProtocolFault(Exception):
    """A frame is no message, or not one that may come now. Quotes no content."""


class Codec:
    """Writes messages, and reads those of one direction."""

    def __init__(self, accepted: Any) -> None:
        self._decoder = msgspec.json.Decoder(accepted)
        self._encoder = msgspec.json.Encoder()

    def encode(self, message: _Message) -> bytes:
        """Return the payload."""
        return self._encoder.encode(message)

    def decode(self, payload: bytes) -> Any:
        """Return the message. Raises ProtocolFault."""
        try:
            message = self._decoder.decode(payload)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            # Its text may quote a value of the frame: the kind alone is told.
            raise ProtocolFault(f"a frame is no message of ours ({type(error).__name__})") from None
        ident = getattr(message, "id", "x")
        if not 0 < len(ident) <= MAX_ID:
            raise ProtocolFault("a call has no usable id")
        return message


def server_codec() -> Codec:
    """Return the codec of the server's end."""
    return Codec(ToServer)


def client_codec() -> Codec:
    """Return the codec of the client's end."""
    return Codec(FromServer)
