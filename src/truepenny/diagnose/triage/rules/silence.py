"""Why a log tells nothing: it was not read, is cut, is empty, or says nothing that is known."""

from __future__ import annotations

from collections.abc import Sequence

from truepenny.diagnose.triage.observation import Observation, Status
from truepenny.diagnose.triage.query import LOG_LINES


def silence(answer: Observation | None, lines: Sequence[str]) -> str:
    """Say it in words that follow "and"; `lines` are those of the answer that are not blank."""
    if answer is None:
        return "its log was not read yet"
    if not answer.status.readable:
        return f"its log could not be read ({answer.reason or answer.status})"
    if answer.status is Status.NO_MATCH:
        return "there is no log of it"
    if not lines:
        return "its log is empty"
    if torn(lines[-1]):
        return "its log ends in the middle of a line, before any reason"
    if answer.status is Status.TRUNCATED:
        return "what could be read of its log, which was cut, does not say why"
    if len(lines) >= LOG_LINES:
        return f"the last {LOG_LINES} lines of its log do not say why"
    return "its log does not say why"


def torn(line: str) -> bool:
    """Whether a line of JSON has no end: the program, or who keeps its log, stopped within it."""
    return line.lstrip().startswith("{") and not line.rstrip().endswith("}")
