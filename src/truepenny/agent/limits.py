"""The bounds of one turn, each with the reason of its default."""

from __future__ import annotations

from dataclasses import dataclass

from truepenny.config.bounds import MAX_TOOL_CALLS, MAX_TURNS
from truepenny.model.failure import Failure, FailureKind
from truepenny.model.request import Effort

TRANSIENT = frozenset(
    {
        FailureKind.RATE_LIMIT,
        FailureKind.TIMEOUT,
        FailureKind.OVERLOADED,
        FailureKind.SERVER_ERROR,
        FailureKind.NETWORK,
    }
)
"""Failures that the same request may survive a moment later (assistant spec 2.4)."""


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """When a failed model request is sent again (assistant spec 2.4). All times in seconds.

    `retries` counts requests after the first. The wait doubles from `base` up to `longest`; a
    provider's Retry-After is honoured up to `longest_hint`, so that one header cannot hold a turn
    for an hour. `empty_retries` is a budget of its own for answers with neither text nor call.
    Where no connection came about at all, `connect_retries` after `connect_delay` each are enough:
    an address that refuses now is wrong or down, and a person waits in front of the terminal.
    """

    retries: int = 3
    base: float = 5.0
    longest: float = 120.0
    longest_hint: float = 60.0
    empty_retries: int = 2
    connect_retries: int = 1
    connect_delay: float = 1.0

    def delay(self, failure: Failure, retried: int) -> float | None:
        """Return how long to wait before the next attempt, or None when there is to be none."""
        if failure.kind not in TRANSIENT or failure.partial or retried >= self.retries:
            return None
        if failure.kind is FailureKind.NETWORK and failure.phase == "connect":
            return self.connect_delay if retried < self.connect_retries else None
        if failure.retry_after is not None and failure.retry_after > 0:
            return min(failure.retry_after, self.longest_hint)
        return min(self.base * 2**retried, self.longest)


@dataclass(frozen=True, slots=True)
class Limits:
    """What one turn may use. None means that no limit is set.

    `max_turns` counts model requests (the name that settings, the stop reason and assistant spec
    2.6 share); when it or `max_tool_calls` is used up the model gets one last request without
    tools, to say what it has. `max_total_tokens` counts what the provider reported, cached input
    included; where a provider reports nothing it cannot be enforced, which a notice says.
    `timeout` is seconds for the whole turn. `parallel` bounds how many calls of one batch run at
    once: eight reads saturate a small machine's kubectl start-ups. A call that gives the same
    result `loop_stop` times among the last `loop_window` ends the turn; the model is told once at
    `loop_warn`.
    """

    max_turns: int = MAX_TURNS
    max_tool_calls: int = MAX_TOOL_CALLS
    max_total_tokens: int | None = None
    timeout: float | None = None
    max_output_tokens: int | None = None
    temperature: float | None = None
    effort: Effort | None = None
    parallel: int = 8
    loop_window: int = 10
    loop_warn: int = 3
    loop_stop: int = 5
    retry: RetryPolicy = RetryPolicy()
