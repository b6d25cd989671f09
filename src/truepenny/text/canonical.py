"""Canonical JSON: one byte form for one value, fit for hashing (the form of RFC 8785).

Members are sorted by the UTF-16 code units of their names, numbers are written as ECMAScript
writes them, strings carry the fewest escapes, there is no white space.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from json.encoder import encode_basestring
from typing import Any, cast

MAX_INTEGER = 2**53 - 1
"""Larger integers are not exact in every reader of JSON; write such a value as a string."""


def canonical_json(value: Any) -> bytes:
    """Encode a JSON value.

    Raises ValueError, naming the place, for NaN, infinities, integers beyond 2**53 - 1, lone
    surrogates, names that are not strings, and types that JSON does not have.
    """
    parts: list[str] = []
    _write(value, parts, "$")
    try:
        return "".join(parts).encode("utf-8")
    except UnicodeEncodeError as error:
        raise ValueError("a lone surrogate has no UTF-8 form") from error


def _write(value: Any, parts: list[str], where: str) -> None:
    if value is None:
        parts.append("null")
    elif isinstance(value, bool):
        parts.append("true" if value else "false")
    elif isinstance(value, str):
        parts.append(_string(value))
    elif isinstance(value, int):
        if abs(value) > MAX_INTEGER:
            raise ValueError(f"{where}: the integer {value} is beyond 2**53 - 1")
        parts.append(str(int(value)))
    elif isinstance(value, float):
        parts.append(_number(value, where))
    elif isinstance(value, Mapping):
        _write_object(cast("Mapping[Any, Any]", value), parts, where)
    elif isinstance(value, (list, tuple)):
        parts.append("[")
        for index, item in enumerate(cast("list[Any]", value)):
            if index:
                parts.append(",")
            _write(item, parts, f"{where}[{index}]")
        parts.append("]")
    else:
        raise ValueError(f"{where}: JSON has no type for {type(value).__name__}")


def _write_object(value: Mapping[Any, Any], parts: list[str], where: str) -> None:
    names = list(value)
    for name in names:
        if not isinstance(name, str):
            raise ValueError(f"{where}: the name {name!r} is not a string")
    parts.append("{")
    for index, name in enumerate(sorted(names, key=_utf16)):
        if index:
            parts.append(",")
        parts += (_string(name), ":")
        _write(value[name], parts, f"{where}.{name}")
    parts.append("}")


def _utf16(name: str) -> bytes:
    return name.encode("utf-16-be", "surrogatepass")


def _string(value: str) -> str:
    # The standard encoder escapes just what RFC 8785 asks for, in the same short forms.
    return encode_basestring(value)


def _number(value: float, where: str) -> str:
    if not math.isfinite(value):
        raise ValueError(f"{where}: JSON has no {value}")
    if value == 0:
        return "0"  # also for -0
    sign, digits = ("-", repr(-value)) if value < 0 else ("", repr(value))
    mantissa, _, power = digits.partition("e")
    whole, _, fraction = mantissa.partition(".")
    fraction = "" if fraction == "0" else fraction
    point = len(whole) + int(power or 0)
    significant = (whole + fraction).lstrip("0")
    point -= len(whole + fraction) - len(significant)
    significant = significant.rstrip("0")
    return sign + _place(significant, point)


def _place(digits: str, point: int) -> str:
    """Write 0.`digits` times ten to the `point` as ECMAScript's Number.toString does."""
    if len(digits) <= point <= 21:
        return digits + "0" * (point - len(digits))
    if 0 < point <= 21:
        return f"{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"0.{'0' * -point}{digits}"
    exponent = f"e{'+' if point > 0 else '-'}{abs(point - 1)}"
    return f"{digits[0]}{'.' if len(digits) > 1 else ''}{digits[1:]}{exponent}"
