"""Redact a JSON value by its structure: object kinds, sensitive names, pairs, embedded JSON.

Sources: spec/diagnostics.md 4 (Secret, ConfigMap, Pod environment, annotations, registry `auths`)
and spec/field.md B3 (items of a list without a kind, last-applied annotations, arguments).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Protocol, cast

from .rule import mask
from .sensitive import Strength, is_secret, key_strength

MAX_DEPTH = 100
"""Deeper values are replaced whole: no API object is that deep, and the walk is recursive."""

MAX_EMBEDDED = 1 << 20
"""Characters of a string that is still tried as embedded JSON; longer ones are redacted as text."""

_BENIGN_PARENTS = frozenset({"secretKeyRef", "configMapKeyRef", "secretRef", "configMapRef"})


class _HasCounts(Protocol):
    @property
    def text(self) -> str: ...
    @property
    def counts(self) -> dict[str, int]: ...


class JsonRedaction:
    """One walk; `counts` holds what it masked, by rule."""

    def __init__(self, redact_text: Callable[[str], _HasCounts]) -> None:
        self.counts: dict[str, int] = {}
        self._redact_text = redact_text

    def value(self, value: Any) -> Any:
        """Return the redacted copy of a JSON value."""
        return self._walk(value, kind="", depth=0)

    def _mask(self, name: str) -> str:
        self.counts[name] = self.counts.get(name, 0) + 1
        return mask(name)

    def _walk(self, value: Any, *, kind: str, depth: int) -> Any:
        if isinstance(value, str):
            return self._string(value, kind=kind, depth=depth)
        if depth > MAX_DEPTH and isinstance(value, (dict, list, tuple)):
            return self._mask("too-deep")
        if isinstance(value, Mapping):
            return self._object(cast("Mapping[str, Any]", value), kind=kind, depth=depth)
        if isinstance(value, (list, tuple)):
            return self._list(cast("list[Any]", value), kind=kind, depth=depth)
        return value

    def _object(self, value: Mapping[str, Any], *, kind: str, depth: int) -> dict[str, Any]:
        own = value.get("kind")
        own_kind = own if isinstance(own, str) and own else kind
        inherited = own_kind.removesuffix("List") if own_kind.endswith("List") else ""
        named = _pair_name(value)
        result: dict[str, Any] = {}
        for key, member in value.items():
            text_key = self._key(str(key), result)
            if own_kind == "Secret" and key in ("data", "stringData"):
                result[text_key] = self._all(member, "secret-data", depth + 1)
            elif key == "items" and inherited:
                result[text_key] = self._walk(member, kind=inherited, depth=depth + 1)
            elif named and key == "value":
                result[text_key] = self._sensitive(named, member, kind, depth + 1)
            elif key in _BENIGN_PARENTS:
                result[text_key] = self._walk(member, kind="", depth=depth + 1)
            else:
                result[text_key] = self._sensitive(str(key), member, kind, depth + 1)
        return result

    def _key(self, key: str, taken: Mapping[str, Any]) -> str:
        """Keys are seldom secret, but a known value or a token is masked there too."""
        clean = self._plain(key)
        if clean == key:
            return key
        number, unique = 2, clean
        while unique in taken:
            unique, number = f"{clean}#{number}", number + 1
        return unique

    def _sensitive(self, key: str, member: Any, kind: str, depth: int) -> Any:
        """Redact a member whose name may already say that it is a secret."""
        if isinstance(member, str):
            return (
                self._mask("key")
                if is_secret(key, member)
                else self._walk(member, kind=kind, depth=depth)
            )
        strength = key_strength(key)
        if isinstance(member, (int, float)) and not isinstance(member, bool):
            return self._mask("key") if is_secret(key, str(member)) else member
        if isinstance(member, (list, tuple)) and strength > Strength.NONE:
            items = cast("list[Any]", member)
            if items and all(isinstance(item, str) for item in items):
                return [self._sensitive(key, item, kind, depth + 1) for item in items]
        return self._walk(member, kind=kind, depth=depth)

    def _all(self, value: Any, name: str, depth: int) -> Any:
        """Mask each value and keep the names."""
        if depth > MAX_DEPTH:
            return self._mask("too-deep")
        if isinstance(value, Mapping):
            entries = cast("Mapping[str, Any]", value)
            return {key: self._all(member, name, depth + 1) for key, member in entries.items()}
        if isinstance(value, (list, tuple)):
            return [self._all(item, name, depth + 1) for item in cast("list[Any]", value)]
        if value is None or value == "" or (isinstance(value, str) and _is_mask(value)):
            return value
        return self._mask(name)

    def _list(self, items: list[Any], *, kind: str, depth: int) -> list[Any]:
        result: list[Any] = []
        flag = ""
        for item in items:
            if flag and isinstance(item, str) and not item.startswith("-"):
                result.append(self._sensitive(flag, item, kind, depth + 1))
            else:
                result.append(self._walk(item, kind=kind, depth=depth + 1))
            # `--password`, `hunter2` as two arguments.
            is_flag = isinstance(item, str) and item.startswith("-") and "=" not in item
            flag = item.lstrip("-") if is_flag and key_strength(item) >= Strength.NORMAL else ""
        return result

    def _string(self, value: str, *, kind: str, depth: int) -> str:
        head = value[:64].lstrip()[:1]
        if head in ("{", "[") and len(value) <= MAX_EMBEDDED and depth < MAX_DEPTH:
            try:
                inner = json.loads(value)
            except (ValueError, RecursionError):
                inner = None
            if isinstance(inner, (dict, list)):
                before = sum(self.counts.values())
                clean = self._walk(inner, kind="", depth=depth + 1)
                if sum(self.counts.values()) == before:
                    return value
                return json.dumps(clean, ensure_ascii=False, separators=(",", ":"))
        return self._plain(value)

    def _plain(self, value: str) -> str:
        done = self._redact_text(value)
        for name, count in done.counts.items():
            self.counts[name] = self.counts.get(name, 0) + count
        return done.text


def _pair_name(value: Mapping[str, Any]) -> str:
    """Return the name of a `{name, value}` or `{key, value}` pair that sounds secret."""
    if "value" not in value:
        return ""
    for field in ("name", "key", "Name", "Key"):
        name = value.get(field)
        if isinstance(name, str) and key_strength(name) > Strength.NONE:
            return name
    return ""


def _is_mask(value: str) -> bool:
    from .rule import MASK_PATTERN

    return MASK_PATTERN.fullmatch(value) is not None
