"""Redact a JSON value by its structure: object kinds, sensitive names, pairs, embedded JSON.

Sources: spec/diagnostics.md 4 (Secret, ConfigMap, Pod environment, annotations, registry `auths`)
and spec/field.md B3 (items of a list without a kind, last-applied annotations, arguments). Kinds
that are not known are judged by the names and the shapes of their values.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence, Set
from typing import Any, Protocol, cast

from .packed import KEY_LENGTHS, MIN_PACKED, holds_secret, looks_like_key
from .password_flag import MAX_WORDS, NO_FLAGS, flags_of
from .rule import MASK_PATTERN, mask
from .sensitive import (
    Strength,
    is_benign_member,
    is_reference,
    is_schema,
    is_secret,
    key_strength,
    looks_random,
    opens_credentials,
)

MAX_DEPTH = 100
"""Deeper values are replaced whole: no API object is that deep, and the walk is recursive."""

MAX_EMBEDDED = 1 << 20
"""Characters of a string that is still tried as embedded JSON; longer ones are redacted as text."""

MAX_CLEAN = 50_000
"""Different strings that are remembered as clean; a few megabytes."""

MAX_LINE = 8192
"""Characters of a string that is looked at together with others."""

MAX_BATCH = 1 << 18
"""Characters that are looked at in one go."""

_SECRET_TYPE = re.compile(
    r"Opaque$|kubernetes\.io/[a-z-]+$|bootstrap\.kubernetes\.io/token$|helm\.sh/release\.v\d"
)
"""Types of Secrets; of other objects that have a `type`, none looks so."""

_SAMPLES = frozenset({"default", "example", "examples", "const", "enum"})
"""What a schema holds of real values."""

_BENIGN_PARENTS = frozenset({"secretKeyRef", "configMapKeyRef", "secretRef", "configMapRef"})


class _HasCounts(Protocol):
    @property
    def text(self) -> str: ...
    @property
    def counts(self) -> dict[str, int]: ...


class JsonRedaction:
    """One walk, or one after the other over the items of a list; `counts` holds what was masked.

    `dirty` takes lines of text and returns the numbers of those in which a rule finds something.
    Nearly all strings of an object are clean: they are looked at together, which takes a fifth of
    the time, and each different one once.
    """

    def __init__(
        self,
        redact_text: Callable[[str], _HasCounts],
        dirty: Callable[[Sequence[str]], Set[int]],
    ) -> None:
        self.counts: dict[str, int] = {}
        self._redact_text = redact_text
        self._dirty = dirty
        self._clean: set[str] = set()
        self._not_packed: set[str] = set()  # of the clean ones, those with nothing inside

    def value(self, value: Any, kind: str = "") -> Any:
        """Return the redacted copy of a JSON value. `kind` is for items that do not say theirs."""
        self._look(value)
        return self._walk(value, kind=kind, depth=0)

    def forget(self) -> None:
        """Forget which strings are clean: a secret may have become known since."""
        self._clean.clear()
        self._not_packed.clear()

    def _look(self, value: Any) -> None:
        """Find out which of the strings in a value are clean."""
        clean = self._clean
        if len(clean) > MAX_CLEAN:
            self.forget()
        fresh = set[str]()
        rest: list[Any] = [value]
        while rest:
            one = rest.pop()
            if isinstance(one, str):
                if one not in clean:
                    fresh.add(one)
            elif isinstance(one, dict):
                members = cast("dict[str, Any]", one)
                fresh.update(key for key in members if key not in clean)
                rest += members.values()
            elif isinstance(one, (list, tuple)):
                rest += cast("list[Any]", one)
        batch: list[str] = []
        size = 0
        for text in fresh:
            if len(text) > MAX_LINE or "\n" in text:
                continue
            batch.append(text)
            size += len(text)
            if size >= MAX_BATCH:
                self._sort(batch)
                batch, size = [], 0
        self._sort(batch)

    def _sort(self, batch: list[str]) -> None:
        if batch:
            dirty = self._dirty(batch)
            self._clean.update(text for at, text in enumerate(batch) if at not in dirty)

    def _mask(self, name: str) -> str:
        self.counts[name] = self.counts.get(name, 0) + 1
        return mask(name)

    def _walk(self, value: Any, *, kind: str, depth: int, name: str = "") -> Any:
        if isinstance(value, str):
            return self._string(value, depth=depth, name=name)
        if depth > MAX_DEPTH and isinstance(value, (dict, list, tuple)):
            return self._mask("too-deep")
        if isinstance(value, dict):
            return self._object(cast("dict[str, Any]", value), kind=kind, depth=depth)
        if isinstance(value, (list, tuple)):
            return self._list(cast("list[Any]", value), kind=kind, depth=depth)
        return value

    def _object(self, value: Mapping[str, Any], *, kind: str, depth: int) -> dict[str, Any]:
        own = value.get("kind")
        own_kind = own if isinstance(own, str) and own else kind
        inherited = own_kind.removesuffix("List") if own_kind.endswith("List") else ""
        holds_data = _is_secret_object(value, own_kind)
        named = _pair_name(value)
        command = value.get("command")
        program = NO_FLAGS if command is None else _program(command)
        result: dict[str, Any] = {}
        for key, member in value.items():
            text_key = self._key(key, result)
            if holds_data and key in ("data", "stringData"):
                result[text_key] = self._all(member, "secret-data", depth + 1)
            elif key == "items" and inherited:
                result[text_key] = self._walk(member, kind=inherited, depth=depth + 1)
            elif named and key == "value":
                result[text_key] = self._sensitive(named, member, kind, depth + 1)
            elif key in _BENIGN_PARENTS:
                result[text_key] = self._walk(member, kind="", depth=depth + 1)
            elif key == "args" and program and isinstance(member, list):
                args = cast("list[Any]", member)
                result[text_key] = self._list(args, kind="", depth=depth + 1, program=program)
            elif own_kind == "ConfigMap" and key == "data" and isinstance(member, dict):
                entries = cast("dict[str, Any]", member)
                result[text_key] = self._entries(entries, depth + 1)
            else:
                result[text_key] = self._sensitive(key, member, kind, depth + 1)
        return result

    def _entries(self, entries: Mapping[str, Any], depth: int) -> dict[str, Any]:
        """The entries of a ConfigMap: under a sensitive name the whole entry goes."""
        result: dict[str, Any] = {}
        for key, member in entries.items():
            text_key = self._key(key, result)
            private = "private" in key.lower() and isinstance(member, str) and member
            if private and not _is_mask(member):
                result[text_key] = self._mask("key")
            else:
                result[text_key] = self._sensitive(key, member, "", depth)
        return result

    def _key(self, key: str, taken: Mapping[str, Any]) -> str:
        """Keys are seldom secret, but a known value or a token is masked there too."""
        if key in self._clean:
            return key
        clean = self._plain(str(key))
        if clean == key:
            return clean
        number, unique = 2, clean
        while unique in taken:
            unique, number = f"{clean}#{number}", number + 1
        return unique

    def _sensitive(self, key: str, member: Any, kind: str, depth: int) -> Any:
        """Redact a member whose name may already say that it is a secret."""
        if isinstance(member, str):
            if is_secret(key, member):
                return self._mask("key")
            return self._string(member, depth=depth, name=key)
        if isinstance(member, dict):
            members = cast("dict[str, Any]", member)
            if opens_credentials(key) and depth <= MAX_DEPTH:
                return self._credentials(key, members, depth)
            return self._walk(members, kind=kind, depth=depth)
        strength = key_strength(key)
        if isinstance(member, (int, float)) and not isinstance(member, bool):
            return self._mask("key") if is_secret(key, str(member)) else member
        if isinstance(member, (list, tuple)) and strength > Strength.NONE:
            items = cast("list[Any]", member)
            return [
                self._sensitive(key, item, kind, depth + 1)
                if isinstance(item, str)
                else self._walk(item, kind=kind, depth=depth + 1)
                for item in items
            ]
        return self._walk(member, kind=kind, depth=depth)

    def _credentials(self, key: str, members: Mapping[str, Any], depth: int) -> Any:
        """A mapping of credentials: names stay, values go, unless it is a reference or a schema."""
        if is_reference(members):
            return self._walk(members, kind="", depth=depth)
        if is_schema(members):
            spared = {name: part for name, part in members.items() if name not in _SAMPLES}
            shown = self._walk(spared, kind="", depth=depth)
            samples = {name: part for name, part in members.items() if name in _SAMPLES}
            return {**shown, **self._all(samples, "key", depth)}
        surely = key == "auths" or key_strength(key) >= Strength.NORMAL
        result: dict[str, Any] = {}
        for name, member in members.items():
            text_key = self._key(name, result)
            # A mask beside it is none of the value's own words.
            random = isinstance(member, str) and looks_random(MASK_PATTERN.sub("", member))
            if isinstance(member, str) and (not is_benign_member(name) or random):
                weak = not surely and not random
                if not weak and is_secret("password", member):
                    result[text_key] = self._mask("key")
                    continue
            if surely and isinstance(member, dict) and depth <= MAX_DEPTH:
                inner = cast("dict[str, Any]", member)
                result[text_key] = self._credentials(key, inner, depth + 1)
                continue
            result[text_key] = self._sensitive(name, member, "", depth + 1)
        return result

    def _all(self, value: Any, name: str, depth: int) -> Any:
        """Mask each value and keep the names."""
        if depth > MAX_DEPTH:
            return self._mask("too-deep")
        if isinstance(value, dict):
            entries = cast("dict[str, Any]", value)
            result: dict[str, Any] = {}
            for key, member in entries.items():
                result[self._key(key, result)] = self._all(member, name, depth + 1)
            return result
        if isinstance(value, (list, tuple)):
            return [self._all(item, name, depth + 1) for item in cast("list[Any]", value)]
        if value is None or value == "" or (isinstance(value, str) and _is_mask(value)):
            return value
        return self._mask(name)

    def _list(
        self, items: list[Any], *, kind: str, depth: int, program: frozenset[str] = NO_FLAGS
    ) -> list[Any]:
        result: list[Any] = []
        flag, short = "", False
        program = program | _program(items)
        for item in items:
            text = item if isinstance(item, str) else None
            if text is not None and short and not text.startswith("-"):
                result.append(self._mask("key") if is_secret("password", text) else text)
            elif flag and text is not None and not text.startswith("-"):
                result.append(self._sensitive(flag, text, kind, depth + 1))
            else:
                result.append(self._walk(item, kind=kind, depth=depth + 1))
            # `--password`, `hunter2` as two arguments.
            is_flag = text is not None and text.startswith("-") and "=" not in text
            flag = (
                text.lstrip("-")
                if is_flag and text is not None and key_strength(text) >= Strength.NORMAL
                else ""
            )
            short = text in program
        return result

    def _string(self, value: str, *, depth: int, name: str = "") -> str:
        head = value[:64].lstrip()[:1]
        if head in ("{", "[") and len(value) <= MAX_EMBEDDED and depth < MAX_DEPTH:
            try:
                inner = json.loads(value)
            except (ValueError, RecursionError):
                inner = None
            if isinstance(inner, (dict, list)):
                before = sum(self.counts.values())
                self._look(inner)
                clean = self._walk(inner, kind="", depth=depth + 1)
                if sum(self.counts.values()) == before:
                    return value
                return json.dumps(clean, ensure_ascii=False, separators=(",", ":"))
        if len(value) >= MIN_PACKED and value not in self._not_packed:
            if looks_like_key(name, value):
                return self._mask("random-key")
            if holds_secret(value, self._judge):
                return self._mask("packed")
            if len(value) not in KEY_LENGTHS and value in self._clean:
                self._not_packed.add(value)
        return value if value in self._clean else self._plain(value)

    def _judge(self, text: str) -> bool:
        """Whether there is a secret in an unpacked text."""
        if text.lstrip()[:1] in ("{", "["):
            try:
                inner = JsonRedaction(self._redact_text, self._dirty)
                inner.value(json.loads(text))
                return bool(inner.counts)
            except (ValueError, RecursionError):
                pass
        return bool(self._redact_text(text).counts)

    def _plain(self, value: str) -> str:
        done = self._redact_text(value)
        for name, count in done.counts.items():
            self.counts[name] = self.counts.get(name, 0) + count
        return done.text


def _is_secret_object(value: Mapping[str, Any], kind: str) -> bool:
    """Whether the object's `data` is that of a Secret: by its kind or, without one, its type.

    Items of a list that the API server itself wrote have no kind.
    """
    if kind:
        return "Secret" in kind and not kind.endswith("List")
    return isinstance(kind_of := value.get("type"), str) and _SECRET_TYPE.match(kind_of) is not None


def _pair_name(value: Mapping[str, Any]) -> str:
    """Return the name of a `{name, value}` or `{key, value}` pair that sounds secret."""
    if "value" not in value:
        return ""
    for field in ("name", "key", "Name", "Key"):
        name = value.get(field)
        if isinstance(name, str) and key_strength(name) > Strength.NONE:
            return name
    return ""


def _program(command: Any) -> frozenset[str]:
    """Return the flags of a command line, given as a list, that take a password."""
    if not isinstance(command, (list, tuple)):
        return NO_FLAGS
    words = cast("Sequence[Any]", command)
    return flags_of([word for word in words[:MAX_WORDS] if isinstance(word, str)])


def _is_mask(value: str) -> bool:
    return MASK_PATTERN.fullmatch(value) is not None
