"""Messages as transcript records, and back.

Written text is redacted and capped, and each cut is marked where it is: text keeps head and tail
around a marker line, arguments become `{_truncated, chars_total, preview}` (assistant spec 2.9).
Pictures are kept as type, size and digest. Read back, every field is checked for its type: a record
that somebody else wrote may be unusable, it never breaks the reader.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from hashlib import sha256
from math import isfinite
from typing import Any, cast

import msgspec

from truepenny.model.message import (
    AssistantMessage,
    Image,
    Message,
    StopReason,
    Text,
    Thinking,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from truepenny.model.usage import Cost, Usage
from truepenny.text.bound import Limits, bound
from truepenny.text.canonical import MAX_INTEGER, canonical_json
from truepenny.text.redact import Redactor

Record = dict[str, Any]
PREVIEW_CHARS = 512


@dataclass(frozen=True, slots=True)
class Caps:
    """Longest text and longest arguments in characters; 0 is no cap (assistant spec 2.9)."""

    text: int = 32_768
    arguments: int = 8_192

    def cut_text(self, text: str) -> str:
        """Return the text, its middle replaced by a counting marker line if it is too long."""
        if not self.text or len(text) <= self.text:
            return text
        return bound(text, Limits(chars=self.text)).text

    def cut_arguments(self, value: Any) -> Any:
        """Return the value, or a marker object if its JSON is too long."""
        if not self.arguments:
            return value
        encoded = to_json(value)
        if len(encoded) <= self.arguments:
            return value
        text = encoded.decode("utf-8")
        if len(text) <= self.arguments:
            return value
        return {"_truncated": True, "chars_total": len(text), "preview": text[:PREVIEW_CHARS]}


def to_json(value: Any) -> bytes:
    """Encode as JSON in UTF-8; what JSON cannot hold is written as its `repr`, escapes visible."""
    try:
        return msgspec.json.encode(value, enc_hook=repr)
    except (ValueError, TypeError, RecursionError):
        return msgspec.json.encode(_plain(value))


def to_canonical(value: Any) -> bytes:
    """Encode in the one canonical form; what that form cannot hold is written as text.

    A model may well ask for a time in nanoseconds, which is beyond what every reader of JSON holds
    exactly: the record of a call must not fail over such a value.
    """
    try:
        return canonical_json(value)
    except (ValueError, RecursionError):
        return canonical_json(_plain(value))


_DEEPEST = 64
"""Levels of nesting that are rebuilt; what is deeper is written as text."""


def _plain(value: Any, above: tuple[int, ...] = ()) -> Any:
    """Rebuild a value so that it can be encoded: keys, lone surrogates and odd numbers as text.

    `above` are the containers around it: one that holds itself ends there, as text.
    """
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(value, Mapping | list | tuple):
        found = cast("Mapping[Any, Any] | Sequence[Any]", value)
        if id(found) in above or len(above) == _DEEPEST:
            return _plain(_text_of(found))
        above = (*above, id(found))
        if isinstance(found, Mapping):
            return {_plain(str(key)): _plain(item, above) for key, item in found.items()}
        return [_plain(item, above) for item in found]
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value if abs(value) <= MAX_INTEGER else str(value)
    if isinstance(value, float):
        return value if isfinite(value) else str(value)
    return _plain(_text_of(value))


def _text_of(value: object) -> str:
    try:
        return repr(value)
    except Exception:  # A `repr` of somebody else's, or one that nests too deeply.
        return f"<{type(value).__name__}>"


def encode_usage(usage: Usage) -> Record:
    """Return the counts; `cost` is null when none was charged."""
    made: Record = {f.name: getattr(usage, f.name) for f in _COUNTS}
    cost = usage.cost
    made["cost"] = cost and {
        "amount": cost.amount,
        "currency": cost.currency,
        "basis": cost.basis,
    }
    return made


_COUNTS = tuple(field for field in fields(Usage) if field.name != "cost")


def encode_message(
    message: UserMessage | AssistantMessage, redactor: Redactor, caps: Caps
) -> Record:
    """Return `{role, content, ...}` for a message; tool results have records of their own."""
    if isinstance(message, UserMessage):
        return {
            "role": "user",
            "synthetic": message.synthetic,
            "content": list(encode_content(message.content, redactor, caps)),
        }
    return {
        "role": "assistant",
        "stop": message.stop.value,
        "model": message.model,
        "response_id": message.response_id,
        "usage": message.usage and encode_usage(message.usage),
        "content": [_encode_part(part, redactor, caps) for part in message.content],
    }


def encode_content(
    parts: Sequence[Text | Image], redactor: Redactor | None, caps: Caps
) -> Iterator[Record]:
    """Yield text and picture records. No redactor: the text is redacted already."""
    for part in parts:
        if isinstance(part, Text):
            text = part.text if redactor is None else redactor.text(part.text).text
            yield {"type": "text", "text": caps.cut_text(text)}
        else:
            yield {
                "type": "image",
                "media_type": part.media_type,
                "name": part.name,
                "bytes": len(part.data),
                "sha256": sha256(part.data).hexdigest(),
            }


def _encode_part(part: Text | Thinking | ToolCall, redactor: Redactor, caps: Caps) -> Record:
    if isinstance(part, Text):
        return {"type": "text", "text": caps.cut_text(redactor.text(part.text).text)}
    if isinstance(part, Thinking):
        made: Record = {"type": "thinking", "wire": part.wire}
        made["text"] = caps.cut_text(redactor.text(part.text).text)
        made["opaque"], made["opaque_withheld"] = _opaque(part.opaque, redactor)
        return made
    problem = redactor.text(part.problem).text
    made = {"type": "tool_call", "id": part.id, "name": part.name, "problem": problem}
    if part.arguments is None:
        made["arguments"] = None
        made["raw"] = caps.cut_text(redactor.text(part.raw).text)
    else:
        made["arguments"] = caps.cut_arguments(redactor.json(part.arguments)[0])
    if part.opaque is not None:
        made["opaque"], made["opaque_withheld"] = _opaque(part.opaque, redactor)
    return made


def _opaque(value: Mapping[str, Any] | None, redactor: Redactor) -> tuple[Any, bool]:
    """Return a provider's block and False, or None and True if it holds a secret.

    A signed block with a hole in it would be refused; without the block the model thinks anew.
    """
    if value is None or not redactor.json(value)[1]:
        return value, False
    return None, True


def decode_message(record: Mapping[str, Any]) -> Message | None:
    """Return the message of a `message` or `result` record, or None if it is not usable as one."""
    content = _dicts(record.get("content"))
    if record.get("type") == "result":
        call, tool = record.get("call"), record.get("tool")
        if not isinstance(call, str) or not isinstance(tool, str):
            return None
        parts = tuple(decode_content(content))
        return ToolResultMessage(call, tool, parts, failed=record.get("failed") is True)
    if record.get("role") == "user":
        return UserMessage(tuple(decode_content(content)), synthetic=_text(record, "synthetic"))
    if record.get("role") != "assistant":
        return None
    try:
        stop = StopReason(_text(record, "stop"))
    except ValueError:
        stop = StopReason.END_TURN
    return AssistantMessage(
        tuple(_decode_parts(content)),
        stop,
        model=_text(record, "model"),
        usage=decode_usage(record.get("usage")),
        response_id=_text(record, "response_id"),
    )


def decode_content(records: Sequence[Mapping[str, Any]]) -> Iterator[Text]:
    """Yield the text parts; a picture, whose bytes were not kept, becomes a line that says so."""
    for record in records:
        if record.get("type") == "text":
            yield Text(_text(record, "text"))
        elif record.get("type") == "image":
            kind, size = _text(record, "media_type"), record.get("bytes")
            yield Text(
                f"[picture not kept: {kind}, {size} bytes, sha256 {_text(record, 'sha256')}]"
            )


def _decode_parts(records: Sequence[Mapping[str, Any]]) -> Iterator[Text | Thinking | ToolCall]:
    for record in records:
        opaque = record.get("opaque")
        opaque = cast("Mapping[str, Any]", opaque) if isinstance(opaque, dict) else None
        match record.get("type"):
            case "text":
                yield Text(_text(record, "text"))
            case "thinking" if record.get("opaque_withheld") is not True:
                yield Thinking(_text(record, "text"), _text(record, "wire"), opaque)
            case "tool_call":
                arguments = record.get("arguments")
                usable = isinstance(arguments, dict)
                yield ToolCall(
                    _text(record, "id"),
                    _text(record, "name"),
                    cast("Mapping[str, Any]", arguments) if usable else None,
                    raw=to_json(arguments).decode("utf-8") if usable else _text(record, "raw"),
                    problem="" if usable else _text(record, "problem") or "not an object",
                    opaque=opaque,
                )
            case _:
                continue


def decode_usage(value: Any) -> Usage | None:
    """Return the usage of a record; a count that is not a whole number is unknown."""
    if not isinstance(value, dict):
        return None
    record = cast("Mapping[str, Any]", value)
    counts = {field.name: _count(record.get(field.name)) for field in _COUNTS}
    return Usage(**counts, cost=_decode_cost(record.get("cost")))


def _decode_cost(value: Any) -> Cost | None:
    if not isinstance(value, dict):
        return None
    record = cast("Mapping[str, Any]", value)
    amount = record.get("amount")
    if isinstance(amount, bool) or not isinstance(amount, int | float):
        return None
    basis = _text(record, "basis") or "unknown"
    return Cost(float(amount), _text(record, "currency"), basis)


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _text(record: Mapping[str, Any], key: str) -> str:
    value = record.get(key)
    return value if isinstance(value, str) else ""


def _dicts(value: Any) -> list[Mapping[str, Any]]:
    if not isinstance(value, list):
        return []
    return [
        cast("Mapping[str, Any]", item)
        for item in cast("list[Any]", value)
        if isinstance(item, dict)
    ]
