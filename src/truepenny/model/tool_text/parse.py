"""From text to tool calls. Nothing is guessed: a call is run only if it fits its tool's schema.

A passage that is plainly meant as a call but does not fit becomes a call with a `problem`, so that
the model is told and can correct itself; JSON that is not call-shaped, or that names no known tool
outside a marked form, stays text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from truepenny.model.message import ToolCall
from truepenny.model.request import ToolSchema
from truepenny.system.ids import Ids, RandomIds

from .form import Passage, bare_passage, marked_passage

MAX_CALLS = 16
"""More calls than this in one text is a model that repeats itself."""

MAX_PARSED_CHARS = 131_072
"""Arguments are smaller; a longer passage is an answer."""


@dataclass(frozen=True, slots=True)
class Parsed:
    """What a text came to.

    With `calls`, `prose` is the text before them and `dropped` counts the characters after them.
    Without, `prose` is the whole text; `rejected` says why a passage that looked like a call is
    left as text, or is empty.
    """

    prose: str
    calls: tuple[ToolCall, ...] = ()
    dropped: int = 0
    rejected: str = ""


@dataclass(frozen=True, slots=True)
class _Shape:
    """A JSON object that has the shape of a call."""

    name: str
    arguments: Any
    raw: str


def parse(text: str, tools: Sequence[ToolSchema], ids: Ids | None = None) -> Parsed:
    """Return the calls in a text, checked against the tools' schemas."""
    passage = marked_passage(text) or bare_passage(text)
    if passage is None:
        return Parsed(text)
    if len(text) - passage.start > MAX_PARSED_CHARS:
        return Parsed(text, rejected=f"the passage is longer than {MAX_PARSED_CHARS} characters")
    shapes, end = _marked(text, passage) if passage.marked else _bare(text, passage)
    known = {tool.name: tool for tool in tools}
    if not passage.marked and end is None:
        named = next((name for name in known if f'"{name}"' in text[passage.start :]), "")
        cut = f"what begins like a call of {named} is not complete JSON" if named else ""
        return Parsed(text, rejected=cut)
    if not passage.marked and (not shapes or any(shape.name not in known for shape in shapes)):
        return Parsed(text)
    if not shapes:
        return Parsed(text, rejected="a marked call is not complete JSON")
    kept, ids = shapes[:MAX_CALLS], ids or RandomIds()
    calls = tuple(_call(shape, known, ids.new("call")) for shape in kept)
    dropped = len(text[end:].strip()) + sum(len(shape.raw) for shape in shapes[MAX_CALLS:])
    return Parsed(text[: passage.start], calls, dropped)


def _call(shape: _Shape, known: Mapping[str, ToolSchema], call_id: str) -> ToolCall:
    tool = known.get(shape.name)
    if tool is None:
        problem = f"there is no tool {shape.name!r}"
    elif not isinstance(shape.arguments, dict):
        problem = "the arguments are not an object"
    else:
        problem = _misfit(cast("dict[str, Any]", shape.arguments), tool)
    arguments = None if problem else cast("dict[str, Any]", shape.arguments)
    return ToolCall(call_id, shape.name, arguments, shape.raw, problem)


def _misfit(arguments: Mapping[str, Any], tool: ToolSchema) -> str:
    # A quarter of the package's import time, needed for the few models that write calls as text.
    from jsonschema import Draft202012Validator

    validator = cast(Any, Draft202012Validator(cast(Any, tool.parameters)))
    error = cast(Any, next(iter(validator.iter_errors(arguments)), None))
    return "" if error is None else f"the arguments do not fit the schema: {error.message}"


def _bare(text: str, passage: Passage) -> tuple[list[_Shape], int | None]:
    """Return the calls that a whole JSON value is; None as the end if it is not JSON."""
    value, end = _json_at(text, passage.body)
    if end is None:
        return [], None
    shapes = _shapes(value) if text[end:].strip() in ("", "```") else []
    return shapes, len(text)


_SEPARATORS = re.compile(r"[\s;,]*")
_CLOSING = re.compile(r"\s*</(?:tool_call|function_call|toolcall|function)>")
_NAMED = re.compile(r"<function=([A-Za-z0-9_.-]{1,64})>\s*")


def _marked(text: str, passage: Passage) -> tuple[list[_Shape], int]:
    """Return the shapes of a marked passage and of those that follow it, and where they end."""
    shapes: list[_Shape] = []
    end, current = passage.start, passage
    while True:
        named = _NAMED.match(text, current.body)
        body = named.end() if named else current.body
        value, after = _json_at(text, _skip(_SEPARATORS, text, body))
        if after is None:
            return shapes, end
        if named:
            shapes.append(_Shape(named[1], value, text[body:after]))
        else:
            shapes += _shapes(value)
        end = _skip(_CLOSING, text, after)
        following = _skip(_SEPARATORS, text, end)
        if text[following : following + 1] == "{":
            current = Passage(following, following, True)
            continue
        next_one = marked_passage(text, following)
        if next_one is None or next_one.start != following:
            return shapes, end
        current = next_one


def _skip(pattern: re.Pattern[str], text: str, offset: int) -> int:
    found = pattern.match(text, offset)
    return found.end() if found else offset


def _json_at(text: str, offset: int) -> tuple[Any, int | None]:
    """Return the JSON object or array at an offset and where it ends, or None twice."""
    if text[offset : offset + 1] not in ("{", "["):
        return None, None
    try:
        value, end = json.JSONDecoder().raw_decode(text, offset)
    except (ValueError, RecursionError):
        return None, None
    return value, end


_NAME_KEYS = ("name", "tool", "tool_name", "function", "function_name")
_ARGUMENT_KEYS = ("arguments", "parameters", "args", "input", "tool_input", "params")
_WRAPPERS = ("tool_call", "function_call", "tool_calls", "function")


def _shapes(value: Any) -> list[_Shape]:
    """Return the calls that a JSON value is: one object, a wrapped one, or an array of them.

    An array with one element that is not a call is no list of calls.
    """
    if isinstance(value, list):
        found: list[_Shape] = []
        for element in cast("list[Any]", value):
            inner = _shapes(element) if isinstance(element, dict) else []
            if not inner:
                return []
            found += inner
        return found
    if not isinstance(value, dict):
        return []
    document = cast("dict[str, Any]", value)
    for wrapper in _WRAPPERS:
        inner = document.get(wrapper)
        if isinstance(inner, dict | list):
            return _shapes(inner)
    name = next((document[key] for key in _NAME_KEYS if key in document), None)
    key = next((key for key in _ARGUMENT_KEYS if key in document), None)
    if not isinstance(name, str) or not name or key is None:
        return []
    return [_Shape(name, _decoded(document[key]), json.dumps(document[key], ensure_ascii=False))]


def _decoded(arguments: Any) -> Any:
    """Return arguments that were written as JSON inside a string as what they are."""
    if not isinstance(arguments, str):
        return arguments
    try:
        return json.loads(arguments)
    except (ValueError, RecursionError):
        return arguments
