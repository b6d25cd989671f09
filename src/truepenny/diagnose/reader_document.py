"""Documents: sanitized and redacted by structure, and cut only between whole items.

YAML is asked for as JSON and written here: kubectl folds long strings over lines, which takes a
secret away from the word before it that gives it away.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from truepenny.model.json_value import mend
from truepenny.text.control import strip_control
from truepenny.text.redact import Redactor

CUT_KEY = "_cut"
"""Added to a list of which not all items are shown; no Kubernetes field begins with `_`."""


MOST_SHRINKING = 2
"""YAML is at most this much shorter than compact JSON, whose quotes and braces it leaves out."""

_GAP = re.compile(r"\s*")

WIDTH = 1 << 20
"""Columns of YAML: no line is folded."""


@dataclass(frozen=True, slots=True)
class Document:
    """One parsed answer without secrets. `items` is None when it is a single object.

    `controls` counts the strings from which control characters or half surrogate pairs
    were taken.
    """

    value: Any
    items: int | None
    redactions: Mapping[str, int] = field(default_factory=dict[str, int])
    controls: int = 0


@dataclass(frozen=True, slots=True)
class Shown:
    """The text of a document within a limit. `items` counts the ones that are in it."""

    text: str
    whole: bool
    items: int


def load_document(text: str) -> Any:
    """Parse it. Raises ValueError when the text is no JSON document, RecursionError too deep.

    Several documents in a row, which `rollout history` prints, become one with them as `items`.
    """
    decoder, end = json.JSONDecoder(), 0
    documents = list[Any]()
    # By position: of a large text no copy is made.
    while end < len(text):
        start = _GAP.match(text, end)
        document, end = decoder.raw_decode(text, start.end() if start else end)
        documents.append(document)
        rest = _GAP.match(text, end)
        end = rest.end() if rest else end
    if not documents:
        raise ValueError("there is no document")
    return documents[0] if len(documents) == 1 else {"items": documents}


def clean_document(loaded: Any, redactor: Redactor) -> Document:
    """Sanitize and redact a loaded document, which is used up by it. May raise RecursionError."""
    clean, controls = sanitized(loaded)
    value, redactions = redactor.json(clean)
    items = cast("dict[str, Any]", value).get("items") if isinstance(value, dict) else None
    count = len(cast("list[Any]", items)) if isinstance(items, list) else None
    return Document(value, count, redactions, controls)


def sanitized(value: Any) -> tuple[Any, int]:
    """Take the controls from every string and key, in place where it can be; count the changed."""
    changed = 0

    def text(value: str) -> str:
        nonlocal changed
        if value.isascii() and value.isprintable():
            return value  # Nearly every one: there is nothing in it to take away.
        clean = mend(strip_control(value))
        changed += clean != value
        return clean

    def walk(value: Any) -> Any:
        if isinstance(value, str):
            return text(value)
        if isinstance(value, list):
            items = cast("list[Any]", value)
            for place, item in enumerate(items):
                items[place] = walk(item)
            return items
        if isinstance(value, dict):
            fields = cast("dict[str, Any]", value)
            names = [text(key) for key in fields]
            for key, item in fields.items():
                fields[key] = walk(item)
            same = names == list(fields)
            return fields if same else dict(zip(names, fields.values(), strict=True))
        return value

    return walk(value), changed


def show(document: Document, limit: int, *, as_yaml: bool = False) -> Shown:
    """Write it in at most `limit` UTF-8 bytes: whole, or its first whole items, or a stub."""
    write = yaml_text if as_yaml else _compact
    total = document.items or 0
    size = _size(_compact(document.value))
    # Writing YAML is slow: of a list that cannot fit, only what is shown is ever written so.
    if not as_yaml or size <= MOST_SHRINKING * limit:
        text = write(document.value)
        size = _size(text)
        if size <= limit:
            return Shown(text, True, total)
    count = 0 if document.items is None else _fitting(document.value, limit, write)
    if count == 0:
        return Shown(_stub(document, size, limit, write), False, 0)
    frame = dict(document.value)
    items: list[Any] = frame.pop("items")
    shown = {CUT_KEY: _cut(count, total), "items": items[:count], **frame}
    return Shown(write(shown), False, count)


async def document_bytes(value: Any, *, as_yaml: bool = False) -> bytes:
    """Write a whole document for a program that reads it, in a thread: it may be large."""
    import anyio.to_thread

    write = yaml_text if as_yaml else _compact
    return await anyio.to_thread.run_sync(lambda: write(value).encode("utf-8", "backslashreplace"))


def _fitting(value: Mapping[str, Any], limit: int, write: Callable[[Any], str]) -> int:
    """Return how many whole items fit beside the rest of the list and the note of the cut."""
    frame = dict(value)
    items: list[Any] = frame.pop("items")
    total = len(items)
    room = limit - _size(write({CUT_KEY: _cut(total, total), "items": [], **frame}))
    count = 0
    while count < total:
        room -= _size(write([items[count]])) - (1 if write is _compact else 0)
        if room < 0:
            break
        count += 1
    return count


def _cut(shown: int, total: int) -> str:
    return f"showing the first {shown} of {total} items"


def _stub(document: Document, size: int, limit: int, write: Callable[[Any], str]) -> str:
    return write(
        {
            "error": "too_large",
            "message": f"the document has {size} bytes, the limit is {limit}; nothing is shown",
            "items": document.items,
        }
    )


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def yaml_text(value: Any) -> str:
    """Write a value as YAML, as kubectl does."""
    import yaml

    base: type = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    dumper: Any = type("Dumper", (base,), {})  # of our own: `_block` is for nobody else
    dumper.add_representer(str, _block)
    try:
        return yaml.dump(  # pyright: ignore[reportUnknownMemberType]
            value, Dumper=dumper, sort_keys=False, allow_unicode=True, width=WIDTH
        )
    except RecursionError:
        return _compact(value)  # Nested as no object is; JSON is YAML too.


def _block(dumper: Any, text: str) -> Any:
    """Write text of several lines as lines, as kubectl does."""
    style = "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
