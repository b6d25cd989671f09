from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from truepenny.diagnose.triage.observation import Status, decode, observe, status_of

LIST = ("get", "pods", "-A", "-o", "json")
ITEMS = [
    {"kind": "Pod", "metadata": {"name": f"p{number}", "note": 'a "quoted" {'}}
    for number in range(4)
]


def test_a_whole_list_is_its_items() -> None:
    seen = observe("call_1", LIST, Status.OK, json.dumps({"kind": "List", "items": ITEMS}))
    assert seen.status is Status.OK and list(seen.objects) == ITEMS


def test_a_list_that_says_it_is_cut_is_a_prefix() -> None:
    document = {"_cut": "showing the first 4 of 9 items", "items": ITEMS}
    seen = observe("call_1", LIST, Status.OK, json.dumps(document))
    assert seen.status is Status.TRUNCATED and len(seen.objects) == 4


def test_a_document_that_is_too_large_is_cut_and_not_empty() -> None:
    stub = {"error": "too_large", "message": "x", "items": 900}
    assert observe("call_1", LIST, Status.OK, json.dumps(stub)).status is Status.TRUNCATED


@given(st.integers(min_value=1))
def test_a_list_cut_anywhere_yields_whole_items_only(at: int) -> None:
    written = json.dumps({"kind": "List", "items": ITEMS})
    items, whole = decode(written[: at % len(written)])
    assert not whole
    assert items is None or items == ITEMS[: len(items)]


@given(st.text())
def test_no_text_breaks_the_decoder(text: str) -> None:
    items, _ = decode(text)
    assert items is None or isinstance(items, list)


def test_malformed_json_is_a_failed_read_and_not_an_empty_list() -> None:
    seen = observe("call_1", LIST, Status.OK, "not json at all")
    assert (seen.status, seen.reason) == (Status.FAILED, "malformed_json")


def test_a_mask_that_ate_a_brace_is_mended() -> None:
    masked = (
        '{"items":[{"kind":"Pod","a":{"token":[REDACTED:assignment]"path":"x"}},"n":[REDACTED:y]}]}'
    )
    items, whole = decode(masked)
    assert whole and items is not None and items[0]["a"]["token"]["path"] == "x"


def test_the_kinds_that_were_refused_are_named_beside_those_that_were_answered() -> None:
    text = json.dumps({"items": ITEMS}) + (
        '\nError from server (Forbidden): jobs.batch is forbidden: User "x" cannot list'
    )
    seen = observe("call_1", ("get", "pods,jobs", "-A", "-o", "json"), Status.FORBIDDEN, text)
    assert seen.status is Status.OK and seen.absent == {"jobs": Status.FORBIDDEN}


@pytest.mark.parametrize(
    ("outcome", "reason", "status"),
    [
        ("success", "", Status.OK),
        ("no_match", "not_found", Status.NO_MATCH),
        ("target_failed", "forbidden", Status.FORBIDDEN),
        ("truncated", "", Status.TRUNCATED),
        ("channel_failed", "transport", Status.FAILED),
        ("interrupted", "", Status.FAILED),
        ("something_new", "", Status.FAILED),
    ],
)
def test_only_an_answer_is_an_answer(outcome: str, reason: str, status: Status) -> None:
    assert status_of(outcome, reason) is status
