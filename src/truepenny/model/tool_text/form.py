"""The forms in which models write a call as text, and where such a passage can begin.

Two kinds. A marked form (`<tool_call>`, `[TOOL_CALLS]`, ...) says what it is, wherever it stands.
Bare JSON is taken for a call only as the whole text, or in a fence with nothing after it: JSON
amid an explanation is an example, not a request.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

MARKERS = (
    "<tool_call>",
    "<function_call>",
    "<toolcall>",
    "<function=",
    "<|python_tag|>",
    "<|tool_call|>",
    "[TOOL_CALLS]",
)
"""What opens a marked form. Families: Qwen and Hermes, Granite, SmolLM, Llama 3, Phi, Mistral."""

FENCE = "```"

_FENCE_OPENING = re.compile(r"```[ \t]*(?:json|jsonc|tool_call|tool_code|tool)?[ \t]*\r?\n?\s*")
_FENCE_UNDECIDED = re.compile(r"```[ \t]*\w*[ \t]*\r?\n?\s*\Z")


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage that may hold calls: `start` and `body` are offsets in the text."""

    start: int
    body: int
    marked: bool


def marked_passage(text: str, begin: int = 0) -> Passage | None:
    """Return the first marked passage at or after `begin`."""
    found = [(offset, m) for m in MARKERS if (offset := text.find(m, begin)) >= 0]
    if not found:
        return None
    start, marker = min(found)
    # `<function=NAME>` carries the name inside the marker itself.
    body = start if marker == "<function=" else start + len(marker)
    return Passage(start, body, True)


def bare_passage(text: str) -> Passage | None:
    """Return the passage of bare or fenced JSON that the text ends with, if there is one."""
    stripped = text.lstrip()
    start = len(text) - len(stripped)
    if stripped[:1] in ("{", "["):
        return Passage(start, start, False)
    fence = text.find(FENCE)
    while fence >= 0:
        closing = text.find(FENCE, fence + len(FENCE))
        if closing < 0 or not text[closing + len(FENCE) :].strip():
            opening = _FENCE_OPENING.match(text, fence)
            if opening is not None and text.startswith(("{", "["), opening.end()):
                return Passage(fence, opening.end(), False)
            return None
        fence = text.find(FENCE, closing + len(FENCE))
    return None


ANY, BACKTICK, NOTHING = "any", "`", ""
"""What new text can change about a hold: any text, only a backtick, nothing before the end."""


@dataclass(frozen=True, slots=True)
class Hold:
    """Text from `start` on is held back; `waits_for` says which new text is worth another look."""

    start: int
    waits_for: str = ANY


def hold_from(text: str, *, blank: bool, fenced: bool) -> Hold:
    """Return from where the text must be held back, because a call may begin there.

    `text` is what was not let through yet; what was is `blank` if it is white space alone, and
    `fenced` if it ends inside a code fence. The hold starts at the end when all may pass.
    """
    if blank:
        stripped = text.lstrip()
        if not stripped:
            return Hold(0)
        if stripped[0] in "{[":
            # The array's bracket is also Mistral's marker; both are held to the end.
            return Hold(len(text) - len(stripped), NOTHING)
    marked = marked_passage(text)
    fence = _open_fence(text, fenced)
    if marked is not None and (fence is None or marked.start < fence.start):
        return Hold(marked.start, NOTHING)
    if fence is not None:
        return fence
    return Hold(_partial_marker(text))


def _open_fence(text: str, fenced: bool) -> Hold | None:
    """Return the fence that may be a call: not closed, or nothing after it yet."""
    fence = text.find(FENCE)
    if fenced and fence >= 0:
        fence = text.find(FENCE, fence + len(FENCE))
    while fence >= 0:
        opening = _FENCE_OPENING.match(text, fence)
        json_begins = opening is not None and text.startswith(("{", "["), opening.end())
        closing = text.find(FENCE, fence + len(FENCE))
        if closing < 0:
            if json_begins:
                return Hold(fence, BACKTICK)
            return Hold(fence) if _FENCE_UNDECIDED.match(text, fence) else None
        if json_begins and not text[closing + len(FENCE) :].strip():
            return Hold(fence)
        fence = text.find(FENCE, closing + len(FENCE))
    return None


_LONGEST_MARKER = max(len(marker) for marker in (*MARKERS, FENCE))


def _partial_marker(text: str) -> int:
    """Return where a marker may have begun at the very end, else the text's length."""
    for start in range(max(0, len(text) - _LONGEST_MARKER + 1), len(text)):
        tail = text[start:]
        if any(marker.startswith(tail) for marker in (*MARKERS, FENCE)):
            return start
    return len(text)
