"""Get and list: one object, or a page of many, as JSON or as a table."""

from __future__ import annotations

import base64
import binascii
import json
from datetime import datetime

from truepenny.demo.server.exchange import Reply, Request, json_reply
from truepenny.demo.server.kind import Kind
from truepenny.demo.server.objects import Objects
from truepenny.demo.server.selector import Selector, field_selector, label_selector
from truepenny.demo.server.status import Refusal, not_found
from truepenny.demo.server.table import partial, table, wants_table
from truepenny.demo.server.target import Target
from truepenny.demo.server.value import Object

_PARTIAL = "as=PartialObjectMetadata"

WARNINGS: dict[tuple[str, str], str] = {
    ("", "Endpoints"): "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"
}
"""Deprecation warnings that the API server sends with an answer, by (group, kind)."""


def warnings(kind: Kind) -> tuple[tuple[str, str], ...]:
    """Return the warning headers of a kind."""
    said = WARNINGS.get((kind.group, kind.kind))
    return (("Warning", f'299 - "{said}"'),) if said else ()


def selectors(request: Request, kind: Kind) -> tuple[Selector, Selector]:
    """Read both selectors of a request; raises Refusal 400."""
    return (
        label_selector(request.query.get("labelSelector", "")),
        field_selector(request.query.get("fieldSelector", ""), kind),
    )


def select(request: Request, target: Target, objects: Objects) -> list[Object]:
    """Return what the namespace and both selectors leave."""
    by_label, by_field = selectors(request, target.kind)
    values = objects.list(target.kind, target.namespace)
    if not by_label.tests and not by_field.tests:
        return values
    return [value for value in values if by_label.matches(value) and by_field.matches(value)]


def find(target: Target, objects: Objects) -> Object:
    """Return the named object; raises Refusal 404."""
    found = objects.get(target.kind, target.namespace, target.name)
    if found is None:
        kind = target.kind
        raise not_found(kind.resource, target.name, kind.group, kind.plural)
    return found


def get(request: Request, target: Target, objects: Objects, now: datetime) -> Reply:
    """Answer one object."""
    value = find(target, objects)
    headers = warnings(target.kind)
    if wants_table(request.accept):
        from truepenny.demo.server.columns.registry import printer

        shown = table(
            printer(target.kind, objects.definitions),
            [value],
            now,
            include=request.query.get("includeObject", ""),
        )
        return json_reply(shown, headers=headers)
    if _PARTIAL in request.accept:
        return json_reply(partial(value), headers=headers)
    return json_reply(value, headers=headers)


def list_kind(request: Request, target: Target, objects: Objects, now: datetime) -> Reply:
    """Answer a page of objects; `limit` and `continue` work as the API documents."""
    values, metadata = page(request, select(request, target, objects), objects.version)
    headers = warnings(target.kind)
    if wants_table(request.accept):
        from truepenny.demo.server.columns.registry import printer

        shown = table(
            printer(target.kind, objects.definitions),
            values,
            now,
            metadata=metadata,
            include=request.query.get("includeObject", ""),
        )
        return json_reply(shown, headers=headers)
    kind, api_version = f"{target.kind.kind}List", target.kind.api_version
    if _PARTIAL in request.accept:
        kind, api_version = "PartialObjectMetadataList", "meta.k8s.io/v1"
        values = [partial(value) for value in values]
    answer: Object = {
        "kind": kind,
        "apiVersion": api_version,
        "metadata": metadata,
        "items": values,
    }
    return json_reply(answer, headers=headers)


def page(request: Request, values: list[Object], version: int) -> tuple[list[Object], Object]:
    """Cut a page out of a list and return it with the list's metadata."""
    start = _offset(request.query.get("continue", ""), version)
    limit = request.number("limit") or 0
    end = start + limit if limit else len(values)
    metadata: Object = {"resourceVersion": str(version)}
    if end < len(values):
        token = json.dumps({"v": "practice/v1", "rv": version, "start": end}).encode()
        metadata["continue"] = base64.urlsafe_b64encode(token).decode()
        metadata["remainingItemCount"] = len(values) - end
    return values[start:end], metadata


def _offset(token: str, version: int) -> int:
    if not token:
        return 0
    try:
        read = json.loads(base64.urlsafe_b64decode(token))
        start, rv = int(read["start"]), int(read["rv"])
    except (ValueError, KeyError, TypeError, binascii.Error):
        raise Refusal(400, "continue key is not valid") from None
    if rv != version:
        # The list changed under the reader: a page from another state would be a lie.
        message = "The provided continue parameter is too old; start a new list without it."
        raise Refusal(410, message)
    return start
