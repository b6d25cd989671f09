"""What counts as an answer's own assertion."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from truepenny.agent.claim.assertion import REACH, assertions, claims

OOM = re.compile("oom ?kill", re.IGNORECASE)


@pytest.mark.parametrize(
    "text",
    [
        "It was OOMKilled.",
        "OOMKilled is the cause, and DNS is not the cause.",
        "It was OOMKilled and did not come back.",
        "The node is not ready. The pod was OOM killed.",
        "No doubt remains after reading all of the nine logs of that day: OOMKilled.",
    ],
)
def test_assertions_are_claims(text: str) -> None:
    assert claims(text, OOM)


@pytest.mark.parametrize(
    "text",
    [
        "It was not OOMKilled.",
        "There is no sign that it was OOMKilled.",
        "It wasn't OOMKilled",
        "The log says `OOMKilled` somewhere.",
        "```\nOOMKilled\n```",
        "```\nOOMKilled",
        "> OOMKilled, said the log",
        "OOMKilled is not the cause.",
        "OOMKilled pods are not to blame here",
        "An OOM kill of the node was ruled out",
        'The log says "the pod was OOMKilled" and lies.',
    ],
)
def test_denials_and_quotations_are_none(text: str) -> None:
    assert claims(text, OOM) == ""


def test_a_denied_match_does_not_hide_a_later_assertion() -> None:
    assert claims("cart was not OOMKilled. checkout was OOMKilled.", OOM)


@given(st.integers(0, 30))
def test_a_denial_reaches_a_fixed_number_of_words(gap: int) -> None:
    text = f"not {'word ' * gap}OOMKilled"
    assert bool(claims(text, OOM)) == (gap >= REACH)


@given(st.text(alphabet='ab `"\n>.“”', max_size=60))
def test_taking_quotations_out_never_adds_words(text: str) -> None:
    assert set(assertions(text)) <= set(text) | {" "}
    assert len(assertions(text)) <= len(text) + text.count("\n") + text.count(">") + 1
