"""Citations: a call that nobody made is named."""

from __future__ import annotations

from truepenny.agent.evidence import Citations, citations


def test_citations_are_told_apart_by_what_the_ledger_knows() -> None:
    answer = (
        "Verdict [call_1]. Twice [call_1, call_2] and [c7]; `spec.containers[0]`, [REDACTED:jwt], "
        "[default] and [see](http://x) are prose; [call_9] and [toolu_01Ab] are invented."
    )
    found = citations(answer, {"call_1", "call_2", "c7"})
    assert found == Citations(("call_1", "call_2", "c7"), ("call_9", "toolu_01Ab"))


def test_no_citation_is_no_claim() -> None:
    assert citations("All fine.", set()) == Citations()
