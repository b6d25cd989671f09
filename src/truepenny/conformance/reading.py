"""What an MCP answer says, read by a profile. A fact that is nowhere stays None."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, cast

from .observed import Observed
from .profile import Patterns, Profile


def read_answer(
    profile: Profile, text: str, structured: Mapping[str, Any] | None, flagged: bool
) -> Observed:
    """Return the account. `text` is all text content, in order; `structured` its fields."""
    found: dict[str, Any] = {
        **_flat(structured or {}),
        **(_json(text) if profile.json_text else {}),
    }
    words, named = profile.words, profile.fields
    code = _number(_field(found, named.exit_code), words.exit_code, text)
    signal = _number(_field(found, named.signal), words.signal, text)
    if code is None and signal is None:
        silent = profile.zero_unless_flagged and not flagged
        code = 0 if silent or _said(None, words.zero, text) else None
    stdout, stderr = _text(found, named.stdout), _text(found, named.stderr)
    output = _text(found, named.output)
    if output is None:
        output = _group(words.output, text)
    if output is None and (stdout is not None or stderr is not None):
        output = (stdout or "") + (stderr or "")
    return Observed(
        text=text,
        output=output,
        stdout=stdout,
        stderr=stderr,
        exit_code=code,
        signal=signal,
        flagged=flagged,
        timed_out=_said(_field(found, named.timed_out), words.timed_out, text),
        interrupted=_said(_field(found, named.interrupted), words.interrupted, text),
        truncated=_said(_field(found, named.truncated), words.truncated, text),
        bytes_written=_number(_field(found, named.bytes_written), (), text),
        other=json.dumps(structured, ensure_ascii=False) if structured is not None else "",
    )


def fields(value: Any) -> dict[str, Any] | None:
    """Return the fields of a JSON object; None for any other value."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def _flat(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields, those of one nested object among them: servers wrap their answers."""
    flat = dict(value)
    for inner in value.values():
        flat = {**(fields(inner) or {}), **flat}
    return flat


def _json(text: str) -> dict[str, Any]:
    try:
        value: Any = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return _flat(fields(value) or {})


def _field(found: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    return next((found[name] for name in names if found.get(name) is not None), None)


def _text(found: Mapping[str, Any], names: tuple[str, ...]) -> str | None:
    value = _field(found, names)
    return value if isinstance(value, str) else None


def _number(value: Any, patterns: Patterns, text: str) -> int | None:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    group = _group(patterns, text)
    return int(group) if group is not None and re.fullmatch(r"-?\d{1,9}", group) else None


def _said(value: Any, patterns: Patterns, text: str) -> bool | None:
    """Return a flag; with patterns their absence is a no, without any nobody knows."""
    if isinstance(value, bool):
        return value
    if not patterns:
        return None
    return any(re.search(pattern, text, re.MULTILINE) for pattern in patterns)


def _group(patterns: Patterns, text: str) -> str | None:
    for pattern in patterns:
        if found := re.search(pattern, text, re.MULTILINE):
            return found[1]
    return None
