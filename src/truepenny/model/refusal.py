"""What a provider says when it refuses, read into a `FailureKind`.

The rules are data, tried in order: the provider's own words for the fault come before the status,
because a status is shared by faults that need different answers (429 is a rate limit or an empty
account, 400 a full context or a wrong field).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from .failure import FailureKind
from .json_value import decode, mapping, mend, sequence, text

MAX_ERROR_BODY = 64 * 1024
"""Bytes of an error body that are read; real ones are under a few kilobytes."""

MAX_MESSAGE = 500
"""Characters of a provider's message that are shown."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """An error as the provider worded it; empty where it said nothing. `status` 200 is an error
    inside a stream, None no answer at all."""

    status: int | None
    message: str
    type: str = ""
    code: str = ""
    param: str = ""

    @property
    def kind(self) -> FailureKind:
        """The closed answer; see the rules below."""
        return classify(self)


_WORDS: tuple[tuple[FailureKind, re.Pattern[str]], ...] = (
    (
        FailureKind.CONTEXT_OVERFLOW,
        re.compile(
            r"context_length_exceeded|request_too_large|prompt is too long"
            r"|(maximum|max) context length"
            r"|exceeds? (the )?(model's |available )?(maximum )?context"
            r"|context (window|size|length) (limit|exceeded)|exceed context limit"
            r"|input (is too long|token count .{0,40}exceeds)"
        ),
    ),
    (
        FailureKind.BILLING,
        re.compile(
            r"insufficient_quota|billing|credit balance|insufficient (balance|credits|funds)"
            r"|exceeded your current quota|payment required|more credits"
        ),
    ),
    (
        FailureKind.CONTENT_POLICY,
        re.compile(
            r"content_filter|content_policy|content management policy|usage polic"
            r"|data_inspection_failed|flagged as|invalid_prompt"
        ),
    ),
    (
        FailureKind.MODEL_NOT_FOUND,
        re.compile(
            r"model_not_found|not_found_error.{0,20}\bmodel\b|no such model|unknown model"
            r"|model .{0,80}(does not exist|not found|not exist|is not available|no longer)"
            r"|no endpoints found"
        ),
    ),
    (
        FailureKind.AUTH,
        re.compile(
            r"authentication_error|permission_error|invalid_api_key|invalid x-api-key"
            r"|incorrect api key|api key not valid|unauthenticated|permission_denied"
        ),
    ),
    (
        FailureKind.OVERLOADED,
        re.compile(r"overloaded|slow_down|over capacity|at capacity|engine_overloaded"),
    ),
    (
        FailureKind.RATE_LIMIT,
        re.compile(r"rate_limit|rate limit|too many requests|resource_exhausted"),
    ),
    (FailureKind.TIMEOUT, re.compile(r"timeout_error|\btimed? ?out\b|deadline_exceeded")),
)

_STATUS: dict[int, FailureKind] = {
    400: FailureKind.FORMAT_ERROR,
    401: FailureKind.AUTH,
    402: FailureKind.BILLING,
    403: FailureKind.AUTH,
    405: FailureKind.FORMAT_ERROR,
    408: FailureKind.TIMEOUT,
    413: FailureKind.CONTEXT_OVERFLOW,
    414: FailureKind.FORMAT_ERROR,
    415: FailureKind.FORMAT_ERROR,
    422: FailureKind.FORMAT_ERROR,
    425: FailureKind.OVERLOADED,
    429: FailureKind.RATE_LIMIT,
    503: FailureKind.OVERLOADED,
    504: FailureKind.TIMEOUT,
    524: FailureKind.TIMEOUT,
    529: FailureKind.OVERLOADED,
}

_STREAM_CODES: tuple[tuple[re.Pattern[str], FailureKind], ...] = (
    (re.compile(r"invalid_request|bad_request"), FailureKind.FORMAT_ERROR),
    (re.compile(r"api_error|server_error|internal"), FailureKind.SERVER_ERROR),
)


def classify(refusal: Refusal) -> FailureKind:
    """Decide the kind by the provider's words, then by the status, then by its error type."""
    words = f"{refusal.code} {refusal.type} {refusal.message}".lower()
    status = refusal.status
    # Credentials decide before words: the body of a 401 may quote any of them.
    if status == 401:
        return FailureKind.AUTH
    if status is not None and 300 <= status < 400:
        return FailureKind.UNKNOWN
    for kind, pattern in _WORDS:
        if pattern.search(words):
            return kind
    # Inside a stream the status that the request would have had stands in the error.
    if status == 200 and refusal.code.isascii() and re.fullmatch(r"[45]\d\d", refusal.code):
        status = int(refusal.code)
    if status is not None and status in _STATUS:
        return _STATUS[status]
    if status is not None and status >= 500:
        return FailureKind.SERVER_ERROR
    for pattern, kind in _STREAM_CODES:
        if pattern.search(words):
            return kind
    # An error inside a 200 stream, with words that nobody knows, is the server's own fault.
    return FailureKind.SERVER_ERROR if status == 200 else FailureKind.UNKNOWN


def read_refusal(status: int | None, body: bytes, content_type: str = "") -> Refusal:
    """Read an error body of any provider, gateway or proxy; never raises."""
    try:
        value = decode(body)
    except ValueError:
        return Refusal(status, _plain(body, content_type))
    if isinstance(value, list):
        value = sequence(value)[0] if value else None
    return refusal_of(status, value)


def refusal_of(status: int | None, value: object) -> Refusal:
    """Read an error that is already JSON: `{"error": {...}}`, `{"error": "..."}`, FastAPI's
    `{"detail": ...}`, a bare `{"message": ...}` or a string."""
    outer = mapping(value)
    error = outer.get("error", outer.get("detail", value))
    inner = mapping(error)
    if not inner:
        words = error if isinstance(error, str) else text(outer.get("message"))
        return Refusal(status, shorten(words or _json_text(value)))
    # OpenRouter wraps the upstream's own words in `metadata.raw`.
    raw = text(mapping(inner.get("metadata")).get("raw"))
    message = text(inner.get("message")) or text(inner.get("msg")) or _json_text(error)
    code = inner.get("code")
    if isinstance(code, int) and not isinstance(code, bool):
        code = str(code)
    return Refusal(
        status,
        shorten(f"{message}: {raw}" if raw else message),
        type=text(inner.get("type")) or text(inner.get("status")),
        code=code if isinstance(code, str) else "",
        param=text(inner.get("param")),
    )


def shorten(message: str) -> str:
    """Bring a message to one line of at most `MAX_MESSAGE` characters, a cut being counted."""
    line = mend(" ".join(message.split()))
    if len(line) <= MAX_MESSAGE:
        return line
    return f"{line[:MAX_MESSAGE]}… ({len(line) - MAX_MESSAGE} more characters)"


def _json_text(value: object) -> str:
    return "" if value in (None, {}, []) else str(value)


def _plain(body: bytes, content_type: str) -> str:
    words = body.decode("utf-8", "backslashreplace")
    if "html" in content_type.lower() or words.lstrip()[:1] == "<":
        title = re.search(r"<(title|h1)[^>]{0,200}>(.{0,500}?)</", words, re.IGNORECASE | re.DOTALL)
        return shorten(f"an HTML page: {title.group(2)}" if title else "an HTML page")
    return shorten(words)
