"""Which capability a refusal is about, and what to try instead.

Providers word the same refusal in many ways and change the words with each release, so a rule
asks for two things only: that the field is named (in `param` or in the message) and that the
message says it is not taken. A refused *value* (too many tokens, a bad schema) teaches nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection

from .capability import Lesson
from .failure import FailureKind
from .profile import Profile
from .refusal import Refusal

_NOT_TAKEN = re.compile(
    r"unsupported|not support|n't support|unrecognized|unknown|unexpected|not permitted"
    r"|not allowed|extra inputs|deprecated|removed|no longer|cannot be used|not available"
    r"|only the default|use '?[\w.\"`]+'? instead|is invalid|invalid value|must be one of"
    r"|is required|incompatible"
)
_QUOTED = re.compile(r"['\"`](none|off|minimal|low|medium|high|xhigh|max)['\"`]")


def lesson(refusal: Refusal, profile: Profile, learnable: Collection[str]) -> Lesson | None:
    """Return what the refusal teaches about the model of `profile`; None when it is no such thing.

    Only about the `learnable` capabilities (those the wire sends and has not just changed), never
    about a field that a person pinned, and never a value that already stands.
    """
    if refusal.kind is not FailureKind.FORMAT_ERROR or refusal.status not in (400, 422):
        return None
    words = f"{refusal.param} {refusal.code} {refusal.message}".lower()
    if not _NOT_TAKEN.search(words):
        return None
    for capability, rule in _RULES:
        if capability not in learnable or capability in profile.pinned:
            continue
        value = rule(words, profile)
        if value is not None:
            return Lesson(capability, value, refusal.message)
    return None


def _max_tokens_field(words: str, profile: Profile) -> str | None:
    if profile.max_tokens_field == "max_tokens":
        return "max_completion_tokens" if re.search(r"\bmax_tokens\b", words) else None
    return "max_tokens" if "max_completion_tokens" in words else None


def _stream_usage(words: str, profile: Profile) -> str | None:
    named = "stream_options" in words or "include_usage" in words
    return "no" if profile.stream_usage and named else None


def _cache_markers(words: str, profile: Profile) -> str | None:
    return "no" if profile.cache_markers and "cache_control" in words else None


def _temperature(words: str, profile: Profile) -> str | None:
    return "no" if profile.temperature and "temperature" in words else None


def _thinking_off(words: str, profile: Profile) -> str | None:
    named = "thinking" in words and "disabled" in words and "enabled" not in words
    return "no" if profile.thinking == "adaptive" and profile.thinking_off and named else None


def _thinking(words: str, profile: Profile) -> str | None:
    if profile.thinking == "effort":
        whole = "reasoning_effort" in words or "reasoning.effort" in words
        encrypted = "encrypted" in words and "content" in words
        return "none" if encrypted or (whole and not _QUOTED.search(words)) else None
    if profile.thinking == "none" or "thinking" not in words:
        return None
    if profile.thinking == "budget":
        return "adaptive" if "adaptive" in words else "none"
    return "budget" if "adaptive" in words else "none"


def _efforts(words: str, profile: Profile) -> str | None:
    sent = profile.thinking in ("adaptive", "effort") and profile.efforts
    if not sent or not re.search(r"effort|output_config", words):
        return None
    # "Unsupported value: 'minimal'. Supported values are: 'low', 'medium' and 'high'."
    _, listed, supported = words.partition("supported values")
    if not listed:
        _, listed, supported = words.partition("must be one of")
    found = tuple(dict.fromkeys(_QUOTED.findall(supported)))
    if listed and found:
        return ",".join(found) if found != profile.efforts else None
    return "" if profile.thinking == "adaptive" else None


def _system_role(words: str, profile: Profile) -> str | None:
    if "role" not in words:
        return None
    if profile.system_role == "developer":
        return "system" if "developer" in words else None
    return "developer" if re.search(r"\bsystem\b", words) else None


_RULES: tuple[tuple[str, Callable[[str, Profile], str | None]], ...] = (
    ("max_tokens_field", _max_tokens_field),
    ("stream_usage", _stream_usage),
    ("cache_markers", _cache_markers),
    ("temperature", _temperature),
    ("thinking_off", _thinking_off),
    ("efforts", _efforts),
    ("thinking", _thinking),
    ("system_role", _system_role),
)
"""In order of how surely the field's name in a message means that field."""
