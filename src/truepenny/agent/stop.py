"""Why a turn ended: a closed set, so that exit codes and surfaces decide on values."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from truepenny.model.failure import Failure, FailureKind


class StopKind(StrEnum):
    """How a turn ended. Only `completed` means that the model gave its whole answer."""

    COMPLETED = "completed"
    CANCELLED = "cancelled"
    """Aborted by a person or by the consumer going away."""
    TIMEOUT = "timeout"
    MAX_TURNS = "max_turns"
    """The limit of model requests within one turn."""
    MAX_TOOL_CALLS = "max_tool_calls"
    BUDGET = "budget"
    """The limit of tokens within one turn."""
    LOOP_DETECTED = "loop_detected"
    """The same call gave the same result too often."""
    MODEL_FAILED = "model_failed"
    """`Stop.failure` says how."""
    REFUSED = "refused"
    """The model or its provider declined to answer."""
    EMPTY_ANSWER = "empty_answer"
    """No text and no call, also when asked again."""
    CUT_ANSWER = "cut_answer"
    """The answer reached the limit of output tokens; its end is missing."""
    STORAGE_FAILED = "storage_failed"
    """The prompt of a follow-up could not be recorded, so it did not run."""
    INTERNAL_ERROR = "internal_error"
    """Our own fault."""


_SETTING_IS_WRONG = (FailureKind.AUTH, FailureKind.BILLING, FailureKind.MODEL_NOT_FOUND)
_OUTSIDE_IS_AWAY = (
    FailureKind.NETWORK,
    FailureKind.TIMEOUT,
    FailureKind.OVERLOADED,
    FailureKind.RATE_LIMIT,
)


@dataclass(frozen=True, slots=True)
class Stop:
    """The end of a turn. `detail` is a machine word, `message` one sentence for a person."""

    kind: StopKind
    detail: str = ""
    message: str = ""
    failure: Failure | None = None

    @property
    def completed(self) -> bool:
        """Whether the answer is whole."""
        return self.kind is StopKind.COMPLETED

    @property
    def exit_code(self) -> int:
        """The process exit code for this end, by the tree in `truepenny.errors`."""
        if self.kind is StopKind.COMPLETED:
            return 0
        if self.kind is StopKind.CANCELLED:
            return 130
        if self.kind is StopKind.STORAGE_FAILED:
            return 5
        if self.failure is not None and self.failure.kind in _SETTING_IS_WRONG:
            return 3
        if self.failure is not None and self.failure.kind in _OUTSIDE_IS_AWAY:
            return 5
        return 1

    def to_json(self) -> dict[str, Any]:
        """Return `{kind, detail, message, failure}`; failure is null or an object of its fields."""
        failure = self.failure
        return {
            "kind": self.kind.value,
            "detail": self.detail,
            "message": self.message,
            "failure": failure
            and {
                "kind": failure.kind.value,
                "message": failure.message,
                "status": failure.status,
                "phase": failure.phase,
                "retry_after": failure.retry_after,
                "provider": failure.provider,
                "model": failure.model,
            },
        }


COMPLETED = Stop(StopKind.COMPLETED)
