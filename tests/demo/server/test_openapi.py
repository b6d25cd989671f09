from __future__ import annotations

import json
from typing import Any

import pytest

from truepenny.demo.server.kind import IDLE_KINDS, KINDS, METRICS_KINDS, REVIEW_KINDS, Catalog
from truepenny.demo.server.openapi import document, index

CATALOG = Catalog(metrics=True)


def _documents() -> list[Any]:
    return [document(CATALOG, [], path) for path in index(CATALOG)["paths"]]


def test_every_served_kind_is_described() -> None:
    described: dict[tuple[str, str], Any] = {}
    for found in _documents():
        for schema in found["components"]["schemas"].values():
            for mark in schema.get("x-kubernetes-group-version-kind", ()):
                described[mark["group"], mark["kind"]] = schema
    for kind in (*KINDS, *IDLE_KINDS, *METRICS_KINDS, *REVIEW_KINDS):
        schema = described[kind.group, kind.kind]
        assert schema["description"], kind.resource
        assert {"apiVersion", "kind", "metadata"} <= set(schema["properties"])
        assert all(field["description"] for field in schema["properties"].values())


@pytest.mark.parametrize("found", _documents())
def test_every_reference_leads_somewhere(found: Any) -> None:
    schemas = set(found["components"]["schemas"])
    references = json.dumps(found).split("#/components/schemas/")[1:]
    assert {part.partition('"')[0] for part in references} <= schemas
    assert all(schema for schema in found["components"]["schemas"].values())


def test_an_unknown_document_is_none() -> None:
    assert document(CATALOG, [], "apis/nosuch/v1") is None
    assert document(CATALOG, [], "api") is None
    assert document(CATALOG, [], "nonsense") is None
