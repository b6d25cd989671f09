"""JSON answers within a limit: always valid, never sliced, always counted."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from truepenny.diagnose.reader_document import CUT_KEY, Document, parse_document, show
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
    document = parse_document('{"kind":"Pod"}', Redactor())
    assert document.items is None
    assert show(document, 1024).whole


@pytest.mark.parametrize("text", ["", "{", "{} {}", "NaN x"])
def test_what_is_no_document(text: str) -> None:
    with pytest.raises(ValueError):
        parse_document(text, Redactor())
