"""A result as JSON and back, whole: what a process boundary may not lose.

Unlike `truepenny.tool.view.to_json` it carries the bytes of pictures and every field of the facts,
those of tomorrow as well: the fields are read off the types. What cannot be carried (a number that
is none or infinite) is an error at the sender, never another value at the receiver.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Mapping, Sequence
from typing import Any, cast

import msgspec

from truepenny.model.json_value import visible
from truepenny.model.message import Image, Text

from .outcome import Outcome
from .result import Facts, Result

MAX_DEPTH = 64
"""Of objects and arrays within each other: ours need a handful, and whoever reads on recurses."""

_FIELDS = frozenset({"outcome", "content", "facts", "ends_turn"})


def encode_result(result: Result) -> dict[str, Any]:
    """Return the result as JSON values. Raises ValueError for what JSON cannot carry.

    Half a surrogate pair becomes visible text, as everywhere at our borders.
    """
    facts = msgspec.to_builtins(result.facts, str_keys=True)
    _shallow(facts)
    _finite(facts)
    return visible(
        {
            "outcome": str(result.outcome),
            "content": [_encode_part(part) for part in result.content],
            "facts": facts,
            "ends_turn": result.ends_turn,
        }
    )


def decode_result(value: Any) -> Result:
    """Return the result. Raises ValueError for anything that `encode_result` would not write."""
    data = _object(value, _FIELDS)
    _shallow(data["facts"])
    try:
        facts = msgspec.convert(data["facts"], Facts)
        outcome = Outcome(data["outcome"])
    except (msgspec.ValidationError, ValueError, TypeError) as error:
        raise ValueError(f"no result: {error}") from None
    # Fields that no type of ours has are dropped by the conversion: then it was not ours.
    if visible(msgspec.to_builtins(facts, str_keys=True)) != data["facts"]:
        raise ValueError("no result: its facts have fields or values that are not ours")
    if not isinstance(data["ends_turn"], bool):
        raise ValueError("no result: ends_turn is no truth value")
    if not isinstance(data["content"], list):
        raise ValueError("no result: its content is no array")
    content = tuple(map(_decode_part, cast("list[Any]", data["content"])))
    return Result(outcome, content, facts, data["ends_turn"])


def _encode_part(part: Text | Image) -> dict[str, Any]:
    if isinstance(part, Text):
        return {"text": part.text}
    data = base64.b64encode(part.data).decode("ascii")
    return {"media_type": part.media_type, "data": data, "name": part.name}


def _decode_part(value: Any) -> Text | Image:
    if isinstance(value, dict) and "text" in value:
        return Text(_text(_object(cast("Any", value), frozenset({"text"}))["text"]))
    data = _object(value, frozenset({"media_type", "data", "name"}))
    try:
        raw = base64.b64decode(_text(data["data"]), validate=True)
    except ValueError:
        raise ValueError("no result: a picture is not base64") from None
    return Image(_text(data["media_type"]), raw, _text(data["name"]))


def _object(value: Any, fields: frozenset[str]) -> dict[str, Any]:
    found = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
    if found.keys() != fields:
        raise ValueError(f"no result: an object with {', '.join(sorted(fields))} is needed")
    return found


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("no result: a text is needed")
    return value


def _shallow(value: Any) -> None:
    level: list[Any] = [value]
    for _ in range(MAX_DEPTH + 1):  # one more for the values inside
        inner: list[Any] = []
        for item in level:
            if isinstance(item, dict):
                inner += cast("dict[str, Any]", item).values()
            elif isinstance(item, list | tuple):
                inner += cast("Sequence[Any]", item)
        level = inner
        if not level:
            return
    raise ValueError(f"no result: more than {MAX_DEPTH} objects and arrays within each other")


def _finite(value: Any) -> None:
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError("a number that is none or infinite cannot be carried")
    if isinstance(value, Mapping):
        for item in cast("Mapping[Any, Any]", value).values():
            _finite(item)
    elif isinstance(value, Sequence) and not isinstance(value, str | bytes):
        for item in cast("Sequence[Any]", value):
            _finite(item)
