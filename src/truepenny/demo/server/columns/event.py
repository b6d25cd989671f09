"""The event row."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from truepenny.demo.server.age import since
from truepenny.demo.server.table import Column, Printer
from truepenny.demo.server.value import Object, dig, mapping, name_of, number, text


def _source(value: Object) -> str:
    component, host = text(value, "source", "component"), text(value, "source", "host")
    component = component or text(value, "reportingComponent")
    host = host or text(value, "reportingInstance")
    return f"{component}, {host}" if host else component


def _row(value: Object, now: datetime) -> Sequence[Any]:
    first = since(dig(value, "firstTimestamp") or dig(value, "eventTime"), now)
    last = dig(value, "lastTimestamp")
    count = number(value, "count") or 1
    if series := mapping(value, "series"):
        last = dig(series, "lastObservedTime")
        count = number(series, "count")
    involved = mapping(value, "involvedObject")
    return (
        since(last, now) if last else first,
        text(value, "type"),
        text(value, "reason"),
        f"{text(involved, 'kind').lower()}/{text(involved, 'name')}",
        text(involved, "fieldPath"),
        _source(value),
        text(value, "message").strip(),
        first,
        count,
        name_of(value),
    )


def _new_row(value: Object, now: datetime) -> Sequence[Any]:
    return _row(
        {
            **value,
            "involvedObject": value.get("regarding", {}),
            "message": value.get("note", ""),
            "source": value.get("deprecatedSource", {}),
            "firstTimestamp": value.get("deprecatedFirstTimestamp"),
            "lastTimestamp": value.get("deprecatedLastTimestamp"),
            "count": value.get("deprecatedCount", 1),
        },
        now,
    )


# The cells keep upstream's order, in which wide columns stand between narrow ones.
_WIDE = ("Subobject", "Source", "First Seen", "Count", "Name")
_COLUMNS = tuple(
    Column(name, "integer" if name == "Count" else "string", wide=name in _WIDE)
    for name in (
        "Last Seen",
        "Type",
        "Reason",
        "Object",
        "Subobject",
        "Source",
        "Message",
        "First Seen",
        "Count",
        "Name",
    )
)

PRINTERS = {
    ("", "Event"): Printer(_COLUMNS, _row),
    ("events.k8s.io", "Event"): Printer(_COLUMNS, _new_row),
}
