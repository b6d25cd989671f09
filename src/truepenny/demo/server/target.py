"""What a request path is about: kind, namespace, name, subresource and the API verb."""

from __future__ import annotations

from dataclasses import dataclass

from truepenny.demo.server.exchange import Request
from truepenny.demo.server.kind import Catalog, Kind
from truepenny.demo.server.status import no_such_path

_WRITE_VERBS = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
_READ_METHODS = ("GET", "HEAD")


@dataclass(frozen=True, slots=True)
class Target:
    """One resource request. `namespace` is empty for all namespaces and cluster-scoped kinds."""

    kind: Kind
    verb: str
    namespace: str = ""
    name: str = ""
    subresource: str = ""

    @property
    def resource(self) -> str:
        """Return `plural` or `plural/subresource`, as permissions and faults name it."""
        return f"{self.kind.plural}/{self.subresource}" if self.subresource else self.kind.plural


def read_target(request: Request, catalog: Catalog) -> Target:
    """Read `/api/v1/...` or `/apis/G/V/...`; raises Refusal 404 for anything not served."""
    parts = [part for part in request.path.split("/") if part]
    if parts[:1] == ["api"] and len(parts) > 2:
        group, version, rest = "", parts[1], parts[2:]
    elif parts[:1] == ["apis"] and len(parts) > 3:
        group, version, rest = parts[1], parts[2], parts[3:]
    else:
        raise no_such_path()
    namespace = ""
    # `/namespaces/NAME` alone is the namespace object itself.
    if rest[0] == "namespaces" and len(rest) > 2 and rest[2] not in ("status", "finalize"):
        namespace, rest = rest[1], rest[2:]
    kind = catalog.by_path(group, version, rest[0])
    if kind is None or len(rest) > 3 or (namespace and not kind.namespaced):
        raise no_such_path()
    name = rest[1] if len(rest) > 1 else ""
    subresource = rest[2] if len(rest) > 2 else ""
    return Target(kind, _verb(request, name), namespace, name, subresource)


def _verb(request: Request, name: str) -> str:
    if request.method in _READ_METHODS:
        if request.flag("watch"):
            return "watch"
        return "get" if name else "list"
    verb = _WRITE_VERBS.get(request.method, request.method.lower())
    return "deletecollection" if verb == "delete" and not name else verb
