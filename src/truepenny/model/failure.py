"""Why a model request failed: a closed set, so that routing decides on values, not on words."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class FailureKind(StrEnum):
    """The kinds of spec/diagnostics.md 8."""

    BILLING = "billing"
    RATE_LIMIT = "rate_limit"
    TIMEOUT = "timeout"
    OVERLOADED = "overloaded"
    SERVER_ERROR = "server_error"
    MODEL_NOT_FOUND = "model_not_found"
    NETWORK = "network"
    EMPTY_RESPONSE = "empty_response"
    CONTEXT_OVERFLOW = "context_overflow"
    USER_ABORT = "user_abort"
    CONTENT_POLICY = "content_policy"
    TOOL_ERROR = "tool_error"
    AUTH = "auth"
    FORMAT_ERROR = "format_error"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Failure:
    """One failed request.

    `message` is redacted and short enough to show. `status` is the HTTP status if one came (200
    for an error inside a stream). `retry_after` is the provider's hint in seconds. `phase` is
    `connect`, `first_byte`, `stream` or `request`. `partial` says that something was already shown.
    """

    kind: FailureKind
    message: str
    status: int | None = None
    retry_after: float | None = None
    phase: str = "request"
    partial: bool = False
    provider: str = ""
    model: str = ""
