"""Paths that are no resources: health, version, discovery and the API's description."""

from __future__ import annotations

from truepenny.demo.server import discovery
from truepenny.demo.server.exchange import TEXT, Reply, Request, json_reply
from truepenny.demo.server.objects import Objects
from truepenny.demo.server.value import Object

_HEALTH = ("/healthz", "/livez", "/readyz")
_CHECKS = ("ping", "log", "etcd", "informer-sync", "poststarthook/start-apiextensions-controllers")
"""The checks that a verbose health answer lists."""


def open_path(path: str) -> bool:
    """Say whether a path answers without a token, as system:public-info-viewer grants it."""
    return path.rstrip("/") in (*_HEALTH, "/version") or path.startswith(
        tuple(f"{health}/" for health in _HEALTH)
    )


def plain(request: Request, objects: Objects) -> Reply | None:
    """Answer a path that is no resource; None where nothing is there."""
    path = request.path.rstrip("/")
    catalog = objects.catalog
    if open_path(path) and path != "/version":
        return _health(request, path)
    parts = path.split("/")[1:]
    answer: Object | None = None
    if path == "/version":
        answer = discovery.version()
    elif path in ("/api", "/apis"):
        if discovery.wants_aggregated(request.accept):
            value = discovery.aggregated(catalog, core=path == "/api")
            return json_reply(value, media=discovery.AGGREGATED)
        if path == "/api":
            answer = discovery.core_versions(request.headers.get("host", ""))
        else:
            answer = discovery.group_list(catalog)
    elif parts[0] == "api" and len(parts) == 2:
        answer = discovery.resource_list(catalog, "", parts[1])
    elif parts[0] == "apis" and len(parts) == 2:
        answer = discovery.group(catalog, parts[1])
    elif parts[0] == "apis" and len(parts) == 3:
        answer = discovery.resource_list(catalog, parts[1], parts[2])
    elif parts[:2] == ["openapi", "v3"]:
        from truepenny.demo.server import openapi

        if len(parts) == 2:
            answer = openapi.index(catalog)
        else:
            answer = openapi.document(catalog, objects.definitions, "/".join(parts[2:]))
    elif not path:
        answer = {"paths": ["/api", "/apis", *_HEALTH, "/openapi/v3", "/version"]}
    return None if answer is None else json_reply(answer)


def _health(request: Request, path: str) -> Reply:
    if "verbose" not in request.query:
        return Reply(200, b"ok", TEXT)
    name = path.split("/")[1]
    lines = "".join(f"[+]{check} ok\n" for check in _CHECKS)
    return Reply(200, f"{lines}{name} check passed\n".encode(), TEXT)
