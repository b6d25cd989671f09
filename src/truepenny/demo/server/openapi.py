"""OpenAPI v3 of what is served, enough for `kubectl explain`; the texts are data in `fields/`.

Custom kinds are described by the schema of their own definition.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from truepenny.demo.server.kind import Catalog, Kind
from truepenny.demo.server.value import Object, dig, listing, text

_PREFIX = "practice.v1."
_SIMPLE = ("string", "integer", "boolean", "number", "object")
_PATCH_PARAMETERS = [{"name": name, "in": "query"} for name in ("fieldValidation", "dryRun")]
"""What kubectl looks for before a write, to leave the checking to the server (which refuses)."""


@cache
def _types() -> dict[str, dict[str, str]]:
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    found: dict[str, dict[str, str]] = {}
    for file in sorted(Path(__file__).with_name("fields").glob("*.yaml")):
        found |= yaml.load(file.read_text(encoding="utf-8"), Loader=loader)
    return found


def index(catalog: Catalog) -> Object:
    """Return the index of the documents, one for each group and version."""
    paths: Object = {}
    for group, versions in catalog.groups().items():
        for version in versions:
            path = f"apis/{group}/{version}" if group else f"api/{version}"
            mark = f"{zlib.crc32(path.encode()):08X}"
            paths[path] = {"serverRelativeURL": f"/openapi/v3/{path}?hash={mark}"}
    return {"paths": paths}


def document(catalog: Catalog, definitions: Sequence[Object], path: str) -> Object | None:
    """Return the description of one group and version; None where it is not served."""
    match path.split("/"):
        case ["api", version]:
            group = ""
        case ["apis", group, version]:
            pass
        case _:
            return None
    kinds = catalog.groups().get(group, {}).get(version)
    if kinds is None:
        return None
    schemas: Object = {}
    paths: Object = {}
    for kind in kinds:
        name = f"{_PREFIX}{kind.kind}"
        schema = _custom(kind, definitions) or _described(kind.kind, schemas)
        mark = {"group": kind.group, "version": kind.version, "kind": kind.kind}
        schemas[name] = {**schema, "x-kubernetes-group-version-kind": [mark]}
        for at in _paths(kind):
            operation: Object = {"x-kubernetes-group-version-kind": mark, "responses": {}}
            paths[at] = {
                "get": operation,
                "patch": {**operation, "parameters": _PATCH_PARAMETERS},
            }
    return {
        "openapi": "3.0.0",
        "info": {"title": "Truepenny practice cluster (simulator)", "version": "v1.37.1"},
        "paths": paths,
        "components": {"schemas": schemas},
    }


def _paths(kind: Kind) -> list[str]:
    root = f"/apis/{kind.group}/{kind.version}" if kind.group else f"/api/{kind.version}"
    found = [f"{root}/{kind.plural}"]
    if kind.namespaced:
        found.append(f"{root}/namespaces/{{namespace}}/{kind.plural}")
    return found


def _described(name: str, schemas: Object) -> Object:
    """Build the schema of a named type, adding the types it refers to."""
    fields = dict(_types().get(name) or {})
    about = fields.pop("", "")
    properties: Object = {}
    if name[0].isupper() and "metadata" in fields:
        properties["apiVersion"] = {"type": "string", "description": _API_VERSION}
        properties["kind"] = {"type": "string", "description": _KIND}
    required: list[str] = []
    for field, written in fields.items():
        kind, _, description = written.partition(" | ")
        kind = kind.strip()
        if kind.endswith("!"):
            kind = kind[:-1]
            required.append(field)
        properties[field] = {**_reference(kind, schemas), "description": description.strip()}
    schema: Object = {"type": "object", "description": about, "properties": properties}
    if required:
        schema["required"] = required
    return schema


_API_VERSION = "The group and version of this object's form."
_KIND = "The type of this object."


def _reference(kind: str, schemas: Object) -> Object:
    if kind.startswith("[]"):
        return {"type": "array", "items": _reference(kind[2:], schemas)}
    if kind.startswith("map:"):
        return {"type": "object", "additionalProperties": _reference(kind[4:], schemas)}
    if kind in _SIMPLE:
        return {"type": kind}
    name = f"{_PREFIX}{kind}"
    if name not in schemas:
        # The place is taken before it is filled: types may refer to each other.
        schemas[name] = {}
        schemas[name] = _described(kind, schemas)
    return {"allOf": [{"$ref": f"#/components/schemas/{name}"}]}


def _custom(kind: Kind, definitions: Sequence[Object]) -> Any:
    for definition in definitions:
        if (
            dig(definition, "spec", "group") != kind.group
            or text(definition, "spec", "names", "kind") != kind.kind
        ):
            continue
        for version in listing(definition, "spec", "versions"):
            if text(version, "name") == kind.version:
                return dig(version, "schema", "openAPIV3Schema") or {"type": "object"}
    return None
