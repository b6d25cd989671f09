"""One request and one answer over the credential socket, each a line of JSON with a bound."""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, cast

REQUEST_BYTES = 64 * 1024
"""The line with its line break. Arguments are words; what is long goes through a file."""

ANSWER_BYTES = 1024 * 1024
"""The line with its line break; both ends keep to it."""

MOST_TEXT = 64 * 1024
"""Characters of each output in an answer: two of them, escaped at their worst (six bytes for one),
still fit into it."""

MOST_ARGUMENTS = 256


class Reason(StrEnum):
    """Why a request got nothing, beside those of a look-up (`credential.split.NotGiven`)."""

    BAD_REQUEST = "bad_request"
    TOO_LARGE = "request_too_large"
    TIMEOUT = "timeout"
    UNKNOWN_TOOL = "unknown_tool"
    """No such tool, or not one of this task."""
    ARGUMENTS = "arguments_not_allowed"
    OUTPUT = "output_too_large"
    GONE = "client_gone"
    """Who asked has closed the connection, or sent more; the program was ended."""
    OVER = "task_over"
    """The task ended before the program did."""
    BUSY = "too_many_requests"
    FAILED = "could_not_run"


@dataclass(frozen=True, slots=True)
class CredentialRequest:
    """`{"type": "credential", "name": "…"}`"""

    name: str


@dataclass(frozen=True, slots=True)
class ToolRequest:
    """`{"tool": "…", "args": ["…"]}`"""

    tool: str
    arguments: tuple[str, ...]


Request = CredentialRequest | ToolRequest


class BadRequest(ValueError):
    """The line is no request; the message says why and holds nothing of it."""


def read_request(line: bytes) -> Request:
    """Read one line. Raises BadRequest; an unknown or a repeated key is one."""
    try:
        value: object = json.loads(line.decode("utf-8"), object_pairs_hook=_object)
    except (ValueError, RecursionError):
        raise BadRequest("the line is not a JSON object with single keys") from None
    if not isinstance(value, dict):
        raise BadRequest("the line is not a JSON object")
    fields = cast("dict[str, Any]", value)
    if fields.keys() == {"type", "name"} and fields["type"] == "credential":
        if not _is_word(fields["name"]):
            raise BadRequest("`name` is not a text")
        return CredentialRequest(fields["name"])
    if fields.keys() == {"tool", "args"}:
        arguments = cast("list[Any]", fields["args"])
        if not _is_word(fields["tool"]):
            raise BadRequest("`tool` is not a text")
        if not isinstance(arguments, list) or not all(_is_word(word) for word in arguments):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise BadRequest("`args` is not a list of texts")
        if len(arguments) > MOST_ARGUMENTS:
            raise BadRequest(f"more than {MOST_ARGUMENTS} arguments")
        return ToolRequest(fields["tool"], tuple(arguments))
    raise BadRequest("it has neither `type` and `name` nor `tool` and `args`")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise BadRequest("a key is there twice")
    return made


def _is_word(value: object) -> bool:
    # A lone surrogate cannot be passed on to a program, a NUL would cut it.
    if not isinstance(value, str) or "\0" in value:
        return False
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def refused(reason: str, message: str, **more: object) -> dict[str, object]:
    """Return an answer that gives nothing; a tool's client reads an exit code from it as well."""
    return {"error": message, "reason": reason, **more}


def encode(answer: dict[str, object]) -> bytes:
    """Return the line of an answer, or of the fact that it does not fit."""
    line = json.dumps(answer).encode("ascii") + b"\n"
    if len(line) <= ANSWER_BYTES:
        return line
    message = f"the answer has more than {ANSWER_BYTES} bytes"
    return json.dumps(refused(Reason.FAILED, message)).encode("ascii") + b"\n"
