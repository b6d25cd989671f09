from __future__ import annotations

import pytest

from truepenny.diagnose.analyst.intent import Intent, understand
from truepenny.diagnose.analyst.playbook import vocabulary


@pytest.mark.parametrize(
    "text",
    [
        "Is everything ok?",
        "Is everything okay with the shop?",
        "What's going on?",
        "What happened?",
        "is checkout up?",
        "Is everything working as it should?",
        "Anything strange today?",
        "Why is checkout failing?",
        "orders time out since noon",
        "customers cannot pay",
        "and now?",
    ],
)
def test_a_question_about_the_state_is_looked_into(text: str) -> None:
    assert understand(text).intent is Intent.INVESTIGATE


@pytest.mark.parametrize(
    "text",
    [
        "write me a poem about rain",
        "translate this to German",
        "book me a table for two",
        "compose a song",
        "?!",
    ],
)
def test_work_of_another_kind_is_declined(text: str) -> None:
    assert understand(text).intent is Intent.FOREIGN


def test_a_list_is_a_list_and_a_change_is_a_change() -> None:
    assert understand("Which pods are running?").intent is Intent.LIST
    assert understand("restart checkout").intent is Intent.CHANGE
    assert understand("write down why checkout fails").intent is Intent.INVESTIGATE


def test_a_word_tells_one_thing() -> None:
    known = vocabulary()
    assert known.symptoms & known.common == frozenset()
    assert known.foreign & (known.symptoms | known.things) == frozenset()
