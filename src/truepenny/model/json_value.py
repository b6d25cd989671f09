"""JSON at the border with providers: fast to write, and read without believing its shape."""

from __future__ import annotations

import json
from typing import Any, cast

import msgspec

_EMPTY: dict[str, Any] = {}


def encode(value: Any) -> bytes:
    """Write compact JSON; half a surrogate pair, which UTF-8 cannot carry, becomes visible text,
    and a number that is none or infinite becomes null."""
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        return msgspec.json.encode(visible(value))


def decode(data: bytes | str) -> Any:
    """Read one JSON value; raises ValueError (also for invalid UTF-8).

    Some servers cut an emoji between two deltas and send half a surrogate pair in each; such
    text is handed on as it is, see `mend`.
    """
    try:
        return msgspec.json.decode(data)
    except msgspec.DecodeError:
        try:
            return json.loads(data, parse_constant=_refuse_constant, parse_float=_finite)
        except RecursionError:
            raise ValueError("nested too deeply") from None
    except RecursionError:
        raise ValueError("nested too deeply") from None


def mend(text: str) -> str:
    """Join surrogate pairs that were cut apart; a half that stays alone becomes `\\udXXX` text."""
    paired = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    return paired.encode("utf-8", "backslashreplace").decode("utf-8")


def visible(value: Any) -> Any:
    """Return the value with every string mended, also in keys."""
    if isinstance(value, str):
        return mend(value)
    if isinstance(value, dict):
        items = cast("dict[Any, Any]", value).items()
        return {visible(key): visible(item) for key, item in items}
    if isinstance(value, list | tuple):
        return [visible(item) for item in cast("list[Any]", value)]
    return value


def mapping(value: Any) -> dict[str, Any]:
    """Return the value if it is an object, else an empty one."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else _EMPTY


def sequence(value: Any) -> list[Any]:
    """Return the value if it is an array, else an empty one."""
    return cast("list[Any]", value) if isinstance(value, list) else []


def text(value: Any) -> str:
    """Return the value if it is a string, else an empty one."""
    return value if isinstance(value, str) else ""


def count(value: Any) -> int | None:
    """Return the value if it is a non-negative whole number, else None: unmeasured is not zero."""
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    return None


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _finite(digits: str) -> float:
    value = float(digits)
    if value in (float("inf"), float("-inf")):
        raise ValueError(f"{digits[:40]} is out of range")
    return value
