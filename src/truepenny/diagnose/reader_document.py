"""JSON answers: redacted by structure, written compactly, and cut only between whole items."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from truepenny.text.redact import Redactor

CUT_KEY = "_cut"
"""Added to a list of which not all items are shown; no Kubernetes field begins with `_`."""


@dataclass(frozen=True, slots=True)
class Document:
    """One parsed answer without secrets. `items` is None when it is a single object."""

    value: Any
    items: int | None
    redactions: Mapping[str, int] = field(default_factory=dict[str, int])


@dataclass(frozen=True, slots=True)
class Shown:
    """The text of a document within a limit. `items` counts the ones that are in it."""

    text: str
    whole: bool
    items: int


def parse_document(text: str, redactor: Redactor) -> Document:
    """Parse and redact. Raises ValueError when the text is no JSON document."""
    value, redactions = redactor.json(json.loads(text))
    items = cast("dict[str, Any]", value).get("items") if isinstance(value, dict) else None
    count = len(cast("list[Any]", items)) if isinstance(items, list) else None
    return Document(value, count, redactions)


def show(document: Document, limit: int) -> Shown:
    """Write it in at most `limit` UTF-8 bytes: whole, or its first whole items, or a stub."""
    text = _compact(document.value)
    total = document.items or 0
    if _size(text) <= limit:
        return Shown(text, True, total)
    if document.items is None:
        return Shown(_stub(document, _size(text), limit), False, 0)
    frame = dict(document.value)
    items: list[Any] = frame.pop("items")
    sizes = [_size(_compact(item)) + 1 for item in items]
    room = limit - _size(_compact({CUT_KEY: _cut(total, total), "items": [], **frame}))
    count = 0
    while count < total and sizes[count] <= room:
        room -= sizes[count]
        count += 1
    if count == 0:
        return Shown(_stub(document, _size(text), limit), False, 0)
    shown = {CUT_KEY: _cut(count, total), "items": items[:count], **frame}
    return Shown(_compact(shown), False, count)


def _cut(shown: int, total: int) -> str:
    return f"showing the first {shown} of {total} items"


def _stub(document: Document, size: int, limit: int) -> str:
    return _compact(
        {
            "error": "too_large",
            "message": f"the document has {size} bytes, the limit is {limit}; nothing is shown",
            "items": document.items,
        }
    )


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
