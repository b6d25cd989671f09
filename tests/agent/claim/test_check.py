"""Every sentence of the corpus, and the rules of the check one by one."""

from __future__ import annotations

from pathlib import Path

import pytest

from truepenny.agent.claim.check import MOST_CHECKED, check
from truepenny.agent.claim.verdict import MARKED, Verdict

from .recorded import SOURCES

HERE = Path(__file__).parent
TRUE = (HERE / "sentences_true.txt").read_text(encoding="utf-8").splitlines()
FALSE = (HERE / "sentences_false.txt").read_text(encoding="utf-8").splitlines()
MOST_FALSE_MARKS = 0.05
"""Share of true sentences that may be marked: with more of them people stop to look."""


def verdict(sentence: str) -> Verdict:
    claims = check(sentence, SOURCES, SOURCES.get).sentences
    assert len(claims) == 1, [claim.text for claim in claims]
    return claims[0].verdict


def test_the_corpus_is_large_enough() -> None:
    assert len(set(TRUE)) + len(set(FALSE)) >= 150


@pytest.mark.parametrize("sentence", FALSE)
def test_nothing_false_passes(sentence: str) -> None:
    assert verdict(sentence) in MARKED


def test_few_true_sentences_are_marked() -> None:
    marked = [sentence for sentence in TRUE if verdict(sentence) in MARKED]
    assert len(marked) / len(TRUE) < MOST_FALSE_MARKS, marked
    told = [sentence for sentence in TRUE if verdict(sentence) is Verdict.CONTAINED]
    assert len(told) / len(TRUE) > 0.9


def test_what_is_beyond_the_bound_is_unknown_and_never_passes() -> None:
    claims = check("It was OOMKilled.\n" * (MOST_CHECKED + 2), SOURCES, SOURCES.get)
    assert claims.counts["uncited"] == MOST_CHECKED
    assert claims.counts["unknown"] == 2


def test_a_result_that_is_not_at_hand_is_unknown() -> None:
    found = check("Pod web-1 restarted 2 times [call_1].", {"call_1"}, lambda name: None)
    assert [one.verdict for one in found.sentences] == [Verdict.UNKNOWN]
