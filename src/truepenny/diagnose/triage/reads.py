"""The reads of one triage call: each made through the reader, each counted."""

from __future__ import annotations

from collections import Counter

from truepenny.diagnose.reader import Reader
from truepenny.tool.contract import CallContext
from truepenny.tool.outcome import Leg, Outcome
from truepenny.tool.result import ByteCounts

from .observation import Observation, observe, status_of
from .query import Query

READ_BYTES = 8 * 1024 * 1024
"""Kept of what is no document, such as a table: some 50,000 rows. A cut is stated."""

READ_SECONDS = 45.0


class Reads:
    """Fetches for the engine, and knows what all reads together came to."""

    def __init__(self, reader: Reader, context: CallContext) -> None:
        self._reader = reader
        self._context = context
        self._bytes: list[ByteCounts] = []
        self.redactions: Counter[str] = Counter()
        self.outcomes: Counter[tuple[Outcome, str, Leg | None]] = Counter()
        """How many reads ended with each outcome, reason and leg."""

    async def fetch(self, query: Query, id: str) -> Observation:
        """Make one read, telling its command as progress; never raises for what it comes to."""
        self._context.progress(query.command)
        reading = await self._reader.read(
            query.argv, timeout=READ_SECONDS, max_bytes=READ_BYTES, written=False
        )
        result, facts = reading.result, reading.result.facts
        self._bytes.append(facts.bytes)
        self.redactions.update(facts.redactions)
        self.outcomes[result.outcome, facts.reason, facts.leg] += 1
        status = status_of(str(result.outcome), facts.reason)
        return observe(id, query.argv, status, result.text, facts.reason, reading.value)

    def bytes(self, kept: int) -> ByteCounts:
        """Return what was observed in all reads, of which a report of `kept` bytes is shown."""
        observed = sum(each.observed for each in self._bytes)
        return ByteCounts(observed=observed, kept=kept, discarded=max(observed - kept, 0))
