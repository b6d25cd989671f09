"""The objects of one practice cluster: listed in key order, versioned, and changeable by tests."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from dataclasses import dataclass

import anyio

from truepenny.demo.server.kind import KINDS, Catalog, Kind
from truepenny.demo.server.value import Object, dig, name_of, namespace_of, text

CHANGES_KEPT = 4096
"""Watches older than this many changes are told `410 Gone`, as by a compacted store."""

EVENTS_KIND = next(kind for kind in KINDS if (kind.group, kind.kind) == ("", "Event"))


@dataclass(frozen=True, slots=True)
class Change:
    """One change after the start: `type` is ADDED, MODIFIED or DELETED."""

    version: int
    type: str
    kind: Kind
    value: Object


class Objects:
    """Every object by kind, namespace and name. Use from the server's own event loop only."""

    def __init__(self, values: Iterable[Object], *, metrics: bool = False) -> None:
        # Values are only ever replaced whole, so a copy down to the metadata is enough.
        kept = [{**value, "metadata": dict(value.get("metadata", {}))} for value in values]
        definitions = [v for v in kept if text(v, "kind") == "CustomResourceDefinition"]
        self.catalog = Catalog(definitions, metrics=metrics)
        self.definitions = definitions
        self.unserved: list[Object] = []
        self.version = 1000
        self._store: dict[Kind, dict[tuple[str, str], Object]] = {}
        self._changes: list[Change] = []
        self._dropped_version = 0
        self._changed = anyio.Event()
        for value in kept:
            kind = self.catalog.by_object(value)
            if kind is None:
                self.unserved.append(value)
                continue
            if kind.group == "events.k8s.io":
                continue
            self._settle(value)
            self._of(kind)[namespace_of(value), name_of(value)] = value
        # A list sorted by key, as etcd answers it.
        for kind, entries in self._store.items():
            self._store[kind] = dict(sorted(entries.items()))

    def _of(self, kind: Kind) -> dict[tuple[str, str], Object]:
        return self._store.setdefault(kind, {})

    def _settle(self, value: Object) -> None:
        metadata = value.setdefault("metadata", {})
        written = text(metadata, "resourceVersion")
        if written.isdigit():
            self.version = max(self.version, int(written))
        else:
            self.version += 1
            metadata["resourceVersion"] = str(self.version)

    def namespaces(self) -> set[str]:
        """Return the names of the namespaces that exist."""
        kind = next(k for k in KINDS if k.kind == "Namespace")
        return {name for _, name in self._of(kind)}

    def get(self, kind: Kind, namespace: str, name: str) -> Object | None:
        """Return one object; `namespace` is empty for cluster-scoped kinds."""
        if kind.group == "events.k8s.io":
            found = self._of(EVENTS_KIND).get((namespace, name))
            return None if found is None else as_new_event(found)
        return self._of(kind).get((namespace, name))

    def list(self, kind: Kind, namespace: str = "") -> list[Object]:
        """Return the objects of a kind in key order; an empty namespace means all."""
        if kind.group == "events.k8s.io":
            return [as_new_event(value) for value in self.list(EVENTS_KIND, namespace)]
        entries = self._of(kind)
        if not namespace:
            return list(entries.values())
        return [value for (ns, _), value in entries.items() if ns == namespace]

    def put(self, value: Object) -> None:
        """Add or replace one object and tell the watchers; raises KeyError for an unserved kind."""
        value = copy.deepcopy(value)
        kind = self.catalog.by_object(value)
        if kind is None:
            raise KeyError(f"{text(value, 'apiVersion')} {text(value, 'kind')} is not served")
        key = namespace_of(value), name_of(value)
        entries = self._of(kind)
        known = key in entries
        self.version += 1
        value.setdefault("metadata", {})["resourceVersion"] = str(self.version)
        entries[key] = value
        if not known:
            self._store[kind] = dict(sorted(entries.items()))
        self._record("MODIFIED" if known else "ADDED", kind, value)

    def remove(self, kind: Kind, namespace: str, name: str) -> bool:
        """Delete one object and tell the watchers; False where it was not there."""
        value = self._of(kind).pop((namespace, name), None)
        if value is None:
            return False
        self.version += 1
        gone = copy.deepcopy(value)
        gone["metadata"]["resourceVersion"] = str(self.version)
        self._record("DELETED", kind, gone)
        return True

    def _record(self, change: str, kind: Kind, value: Object) -> None:
        self._changes.append(Change(self.version, change, kind, value))
        if len(self._changes) > CHANGES_KEPT:
            self._dropped_version = self._changes.pop(0).version
        self._changed.set()
        self._changed = anyio.Event()

    def since(self, version: int) -> list[Change] | None:
        """Return the changes after a version; None when some of them are no longer known."""
        if version < self._dropped_version:
            return None
        return [change for change in self._changes if change.version > version]

    async def changed(self) -> None:
        """Wait for the next change."""
        await self._changed.wait()


def as_new_event(value: Object) -> Object:
    """Write a core event in the events.k8s.io form."""
    return {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": value.get("metadata", {}),
        "eventTime": value.get("eventTime"),
        "reportingController": dig(value, "reportingComponent")
        or text(value, "source", "component"),
        "reportingInstance": dig(value, "reportingInstance") or text(value, "source", "host"),
        "action": value.get("action", ""),
        "reason": value.get("reason", ""),
        "regarding": value.get("involvedObject", {}),
        "note": value.get("message", ""),
        "type": value.get("type", ""),
        "deprecatedSource": value.get("source", {}),
        "deprecatedFirstTimestamp": value.get("firstTimestamp"),
        "deprecatedLastTimestamp": value.get("lastTimestamp"),
        "deprecatedCount": value.get("count", 1),
    }
