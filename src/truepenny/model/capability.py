"""What servers taught us about models by refusing, kept so that each lesson is paid for once.

Filed per server and model, because the same model behind two gateways takes different fields.
The file is a cache: losing it costs one refused request per lesson.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from truepenny.errors import StorageFailed
from truepenny.system.clock import Clock, SystemClock, timestamp

from .endpoint import Endpoint
from .json_value import decode, encode, mapping, text
from .profile import Profile

_FORMAT = 1


def _flag(value: str) -> bool:
    return value == "yes"


def _words(value: str) -> tuple[str, ...]:
    return tuple(word for word in value.split(",") if word)


_READERS: dict[str, Callable[[str], object]] = {
    "max_tokens_field": str,
    "thinking": str,
    "efforts": _words,
    "thinking_off": _flag,
    "temperature": _flag,
    "stream_usage": _flag,
    "system_role": str,
    "cache_markers": _flag,
}
"""The profile fields that can be learned, and how each value is read from its text form
(`yes` and `no`, a word, or words with commas between)."""

CAPABILITIES = frozenset(_READERS)


@dataclass(frozen=True, slots=True)
class Lesson:
    """One learned value: the profile field, its value as text, the refusal it was read from."""

    capability: str
    value: str
    because: str
    at: str = ""


class CapabilityMemory:
    """Learned overrides, in memory and, if `path` is given, in one JSON file.

    Reading is lazy. A file that cannot be read or written never fails a request: the lessons then
    last as long as the process, and `problem` says why.
    """

    def __init__(self, path: Path | None = None, clock: Clock | None = None) -> None:
        self.problem = ""
        self._path = path
        self._clock = clock or SystemClock()
        self._lessons: dict[str, dict[str, Lesson]] | None = None

    def lessons(self, endpoint: Endpoint, model: str) -> Mapping[str, Lesson]:
        """Return what is known of one model at one server, by capability."""
        return self._all().get(_key(endpoint, model), {})

    def learn(self, endpoint: Endpoint, model: str, lesson: Lesson) -> None:
        """Keep a lesson, in place of an older one about the same capability."""
        dated = replace(lesson, at=timestamp(self._clock.now()))
        self._change(_key(endpoint, model), lesson.capability, dated)

    def forget(self, endpoint: Endpoint, model: str, capability: str) -> None:
        """Drop a lesson that turned out to be no better."""
        self._change(_key(endpoint, model), capability, None)

    def _all(self) -> dict[str, dict[str, Lesson]]:
        if self._lessons is None:
            self._lessons = self._read()
        return self._lessons

    def _change(self, key: str, capability: str, lesson: Lesson | None) -> None:
        known = self._all()
        if self._path is not None and not self.problem:
            # Another process may have learned meanwhile: read again, change one entry, publish.
            known = self._lessons = self._read()
        entry = known.setdefault(key, {})
        if lesson is None:
            entry.pop(capability, None)
        else:
            entry[capability] = lesson
        if not entry:
            del known[key]
        self._write(known)

    def _read(self) -> dict[str, dict[str, Lesson]]:
        if self._path is None:
            return {}
        try:
            document = mapping(decode(self._path.read_bytes()))
        except FileNotFoundError:
            return {}
        except OSError as error:
            self.problem = f"{self._path}: {error.strerror}; lessons last for this process only"
            return {}
        except ValueError:
            document = {}
        if document.get("format") != _FORMAT:
            # A file of a newer version, or a damaged one, is left to whoever understands it.
            self.problem = f"{self._path}: not a capability file of format {_FORMAT}; left as it is"
            return {}
        models = mapping(document.get("models"))
        return {key: _read_entry(mapping(entry)) for key, entry in models.items()}

    def _write(self, known: dict[str, dict[str, Lesson]]) -> None:
        if self._path is None or self.problem:
            return
        from truepenny.system.atomic import publish

        models = {
            key: {
                name: {"value": lesson.value, "because": lesson.because, "at": lesson.at}
                for name, lesson in sorted(entry.items())
            }
            for key, entry in sorted(known.items())
        }
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            publish(self._path, encode({"format": _FORMAT, "models": models}) + b"\n")
        except (OSError, StorageFailed) as error:
            self.problem = f"{self._path}: {error}; lessons last for this process only"


def apply(profile: Profile, lessons: Mapping[str, Lesson]) -> Profile:
    """Return the profile with what was learned, except where a person pinned a field."""
    changes = {
        name: _READERS[name](lesson.value)
        for name, lesson in lessons.items()
        if name in CAPABILITIES and name not in profile.pinned
    }
    return replace(profile, **cast("dict[str, Any]", changes)) if changes else profile


def _key(endpoint: Endpoint, model: str) -> str:
    return f"{endpoint.host}/{model}"


def _read_entry(entry: dict[str, Any]) -> dict[str, Lesson]:
    return {
        name: Lesson(
            name,
            text(mapping(fields).get("value")),
            text(mapping(fields).get("because")),
            text(mapping(fields).get("at")),
        )
        for name, fields in entry.items()
        if name in CAPABILITIES
    }
