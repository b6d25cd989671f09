from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from truepenny.diagnose.analyst.playbook import vocabulary
from truepenny.diagnose.triage.finding import ObjectRef
from truepenny.diagnose.triage.subject import find_subject

THERE = [
    ObjectRef("Namespace", "", "shop"),
    ObjectRef("Namespace", "", "default"),
    ObjectRef("Deployment", "shop", "checkout"),
    ObjectRef("Deployment", "shop", "image-cache"),
    ObjectRef("Deployment", "shop", "search"),
    ObjectRef("StatefulSet", "shop", "postgres"),
    ObjectRef("Service", "shop", "checkout"),
    ObjectRef("Ingress", "shop", "shop"),
    ObjectRef("CronJob", "shop", "orders-report"),
    ObjectRef("Node", "", "worker-1"),
    ObjectRef("Deployment", "default", "job"),
]


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("Why is checkout failing?", ["Deployment checkout", "Service checkout"]),
        ("why do the checkouts crash", ["Deployment checkout", "Service checkout"]),
        ("What about deployment/checkout?", ["Deployment checkout"]),
        ("what about shop/search", ["Deployment search"]),
        ("The image cache never starts", ["Deployment image-cache"]),
        ("checkuot is down", ["Deployment checkout", "Service checkout"]),
        ("the orders report has not run", ["CronJob orders-report"]),
        ("why was worker-1 cordoned", ["Node worker-1"]),
        ("is the deployment job fine", ["Deployment job"]),
        ("why does my job fail", []),
        ("what is wrong with foobar", []),
    ],
)
def test_a_question_names_what_there_is(question: str, named: list[str]) -> None:
    subject = find_subject(question, THERE, vocabulary().ignored)
    assert [f"{ref.kind} {ref.name}" for ref in subject.objects] == named


def test_a_namespace_is_the_whole_of_it() -> None:
    subject = find_subject("Is anything wrong with the shop?", THERE, vocabulary().ignored)
    assert subject.namespaces == ("shop",) and not subject.objects
    assert subject.touches([ObjectRef("Pod", "shop", "x")])
    assert subject.touches([ObjectRef("Namespace", "", "shop")])
    assert not subject.touches([ObjectRef("Pod", "default", "x")])


@given(st.text())
def test_any_text_is_a_question(text: str) -> None:
    find_subject(text, THERE, vocabulary().ignored)


MONITORED = [*THERE, ObjectRef("Namespace", "", "monitoring")]


def test_a_name_in_a_place_that_lacks_it_is_said_to_be_elsewhere() -> None:
    asked = "Why does checkout in the namespace monitoring not start?"
    subject = find_subject(asked, MONITORED, vocabulary().ignored)
    assert subject.elsewhere == ("monitoring",)
    said = subject.misplaced(whole=True)
    assert said.startswith("there is no checkout in namespace monitoring; there is Deployment shop")
    assert "in what I could read" in subject.misplaced(whole=False)


@pytest.mark.parametrize(
    "asked",
    [
        "Why does checkout in shop fail?",
        "is worker-1 the reason that monitoring fails",
        "what is wrong in monitoring",
        "why does checkout fail",
    ],
)
def test_a_place_that_fits_or_is_not_one_is_not_corrected(asked: str) -> None:
    subject = find_subject(asked, MONITORED, vocabulary().ignored)
    assert subject.misplaced(whole=True) == ""
