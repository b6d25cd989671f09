"""JSON answers within a limit: always valid, never sliced, always counted."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from truepenny.diagnose.reader_document import (
    CUT_KEY,
    Document,
    clean_document,
    load_document,
    show,
)
from truepenny.model.json_value import mend
from truepenny.text.control import strip_control
from truepenny.text.redact import Redactor

ITEMS = st.lists(
    st.dictionaries(st.text(max_size=5), st.text(max_size=80), max_size=5), max_size=40
)


@given(ITEMS, st.integers(min_value=256, max_value=3000))
def test_a_list_is_shown_in_whole_items(items: list[Any], limit: int) -> None:
    document = Document({"kind": "List", "items": items}, len(items))
    shown = show(document, limit)
    value = json.loads(shown.text)
    assert len(shown.text.encode("utf-8", "surrogatepass")) <= limit
    if shown.whole:
        assert value == document.value
        assert shown.items == len(items)
    elif shown.items:
        assert value["items"] == items[: shown.items]
        assert value[CUT_KEY]
        assert shown.items < len(items)
    else:
        assert value["error"] == "too_large"


def test_a_single_object_has_no_items() -> None:
    document = clean_document(load_document('{"kind":"Pod"}'), Redactor())
    assert document.items is None
    assert show(document, 1024).whole


@pytest.mark.parametrize("text", ["", "{", "{} {", "NaN x"])
def test_what_is_no_document(text: str) -> None:
    with pytest.raises(ValueError):
        clean_document(load_document(text), Redactor())


def test_documents_in_a_row_are_one_list() -> None:
    document = clean_document(load_document('{"kind":"A"}\n{"kind":"B"}\n'), Redactor())
    assert (document.items, document.value["items"][1]["kind"]) == (2, "B")


VALUES = st.one_of(
    st.text(max_size=60),
    st.integers(),
    st.booleans(),
    st.none(),
    st.sampled_from(["on", "1e3", "- x", "a\nb\n", " lead\n x", "tab\t\n", "#", "word " * 60]),
)


@given(
    st.lists(st.dictionaries(st.text(max_size=5), VALUES, max_size=5), max_size=20),
    st.integers(min_value=256, max_value=3000),
)
def test_yaml_says_what_json_says_within_the_limit(items: list[Any], limit: int) -> None:
    document = clean_document(
        load_document(json.dumps({"kind": "List", "items": items})), Redactor()
    )
    shown = show(document, limit, as_yaml=True)
    value = yaml.safe_load(shown.text)
    assert len(shown.text.encode()) <= limit
    if shown.whole:
        assert value == document.value
    elif shown.items:
        assert value["items"] == document.value["items"][: shown.items]
    else:
        assert value["error"] == "too_large"


def test_strings_of_a_document_are_made_harmless() -> None:
    evil = "\x1b[31mpass\x1b[0mword=hunter2x9 \u202egnp\x9b2J \ud800"
    text = json.dumps({"note": evil, "k\x1b[0m": 1}, ensure_ascii=True)
    document = clean_document(load_document(text), Redactor())
    for as_yaml in (False, True):
        shown = show(document, 2000, as_yaml=as_yaml).text
        assert shown.isascii()
        assert "\x1b" not in shown
        assert "u001b" not in shown
        assert "hunter2x9" not in shown
    assert document.controls == 2


@given(st.text())
def test_what_is_passed_over_is_what_needs_no_sanitizing(text: str) -> None:
    value = clean_document({"items": [text, {text: None}]}, Redactor(rules=())).value
    clean = mend(strip_control(text))
    assert value == {"items": [clean, {clean: None}]}
