"""What a line came to, and what the cluster refused in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from truepenny.diagnose.answer import MARKERS, marked
from truepenny.execute.ending import Outcome
from truepenny.execute.execution import Execution
from truepenny.execute.outcome import Classification
from truepenny.execute.shell import classify_line


def meaning_of(execution: Execution, line: str, verbs: Sequence[str]) -> Classification:
    """Return it. Only where kubectl is in the line do its words say why something failed.

    A search that found nothing in what a failed stage wrote has searched a part at most.
    """
    meaning = classify_line(execution, line, MARKERS if verbs else ())
    stages = execution.exit.stages or ()
    failed = any(
        code for at, code in enumerate(stages[:-1]) if code and at not in execution.excused
    )
    if failed and meaning.outcome is Outcome.NO_MATCH and not meaning.reason:
        meaning = replace(meaning, outcome=Outcome.UPSTREAM_FAILED)
    if verbs and meaning.outcome is Outcome.UPSTREAM_FAILED and not meaning.reason:
        found = marked(execution.stderr.text)
        if found is not None:
            meaning = replace(meaning, reason=found.reason, leg=found.leg)
    return meaning
