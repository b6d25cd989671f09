"""How something ended: the closed words and the observed numbers that every result is made of.

They live beside the running of processes because that is the lowest floor that speaks them; tools
and everything above import them from `truepenny.tool` (architecture, section 3).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Outcome(StrEnum):
    """What happened, for every tool alike."""

    SUCCESS = "success"
    NO_MATCH = "no_match"
    """It ran and found nothing: an answer, not a failure."""
    REFUSED = "refused"
    """A rule of ours refused; nothing ran."""
    INVALID_ARGUMENTS = "invalid_arguments"
    MISSING_DEPENDENCY = "missing_dependency"
    NOT_EXECUTABLE = "not_executable"
    TARGET_FAILED = "target_failed"
    """The target's own answer was a failure."""
    CHANNEL_FAILED = "channel_failed"
    """The target was not reached; `Leg` says where it broke. Proves nothing about the target."""
    UPSTREAM_FAILED = "upstream_failed"
    """An earlier stage of a pipeline failed while the last one succeeded."""
    TRUNCATED = "truncated"
    """The output is a prefix; a search over it proves nothing."""
    INTERRUPTED = "interrupted"
    """Stopped before it ended; `Cause` says by what."""
    INTERNAL_ERROR = "internal_error"
    """Our own fault."""

    @property
    def failed(self) -> bool:
        """Whether the model should read it as a failure."""
        return self not in (Outcome.SUCCESS, Outcome.NO_MATCH)


class Leg(StrEnum):
    """Where a channel broke."""

    TRANSPORT = "transport"
    NAMESPACE_ENTRY = "namespace_entry"
    """The sandbox or namespace that the target runs in could not be made or entered."""


class Cause(StrEnum):
    """What interrupted a run."""

    TIMEOUT = "timeout"
    ABORT = "abort"
    SIGNAL = "signal"
    MEMORY = "memory"
    OUTPUT_CAP = "output_cap"


@dataclass(frozen=True, slots=True)
class ByteCounts:
    """Raw bytes: what the process or target wrote, what is in the content, what was thrown away.

    observed = kept + discarded + offloaded. `offload_path` names the file with the whole output.
    """

    observed: int = 0
    kept: int = 0
    discarded: int = 0
    offloaded: int = 0
    offload_path: str = ""


@dataclass(frozen=True, slots=True)
class ExitFact:
    """How a process ended. Codes are observed, never made up: an unknown code is None.

    `effective` is the code after our reading of it (e.g. a benign SIGPIPE); `signal` a number.
    """

    observed: int | None = None
    effective: int | None = None
    signal: int | None = None
    stages: tuple[int, ...] | None = None
