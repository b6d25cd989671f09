"""The report: plain data, version 1. Its fields are those of its JSON form, and only ever grow.

All text in it is redacted before it gets here. `read` checks every field for its type: what
somebody else wrote is refused whole, never half believed.
"""

from __future__ import annotations

import msgspec

from truepenny.errors import TruepennyError

VERSION = 1


class BadReport(TruepennyError):
    """A file that is no report of this version."""


class Hypothesis(msgspec.Struct, frozen=True):
    """As in `agent.investigation.hypothesis`."""

    id: str
    claim: str
    state: str
    confidence: str
    supports: tuple[str, ...]
    against: tuple[str, ...]
    explains: str
    next_check: str


class Sentence(msgspec.Struct, frozen=True):
    """As in `agent.claim.verdict.Claim`."""

    text: str
    start: int
    end: int
    verdict: str
    calls: tuple[str, ...]
    missing: tuple[str, ...]
    because: str


class Claims(msgspec.Struct, frozen=True):
    """As in `agent.claim.verdict.Claims`."""

    counts: dict[str, int]
    sentences: tuple[Sentence, ...]
    omitted: int


class Call(msgspec.Struct, frozen=True):
    """One call: what it was and how much of its target it showed.

    `gap` says in words what it did not show, "" where nothing is known to be missing.
    """

    id: str
    tool: str
    command: str
    outcome: str
    gap: str
    redactions: int


class Report(msgspec.Struct, frozen=True):
    """One deep investigation.

    `chains` are lists of hypothesis ids, each from the symptom to its cause. `answer_state` and
    `stop` as in the event `run_finished`: a report of a run that did not end well says so.
    """

    id: str
    session: str
    time: str
    model: str
    question: str
    answer: str
    answer_state: str
    stop: str
    hypotheses: tuple[Hypothesis, ...]
    chains: tuple[tuple[str, ...], ...]
    claims: Claims
    calls: tuple[Call, ...]
    recorded: bool
    v: int = VERSION

    def hypothesis(self, name: str) -> Hypothesis | None:
        """Return the hypothesis of an id."""
        return next((one for one in self.hypotheses if one.id == name), None)

    @property
    def gaps(self) -> tuple[Call, ...]:
        """The calls that did not show all of what they were asked for, redactions included."""
        return tuple(call for call in self.calls if call.gap or call.redactions)


def encode(report: Report) -> bytes:
    """Return the report as indented JSON."""
    return msgspec.json.format(msgspec.json.encode(report), indent=2) + b"\n"


def decode(data: bytes, where: str) -> Report:
    """Read a report. Raises BadReport."""
    try:
        found = msgspec.json.decode(data, type=Report)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadReport(
            f"this is no report: {error}",
            where=where,
            remedy="The file stays as it is; `truepenny report list` shows the others.",
        ) from error
    if found.v != VERSION:
        raise BadReport(
            f"this report is of version {found.v}, and {VERSION} is known here", where=where
        )
    return found
