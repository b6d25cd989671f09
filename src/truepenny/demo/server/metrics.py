"""Usage of pods and nodes, as an installed metrics server answers `kubectl top`."""

from __future__ import annotations

from datetime import datetime

from truepenny.demo.server.exchange import Reply, Request, json_reply
from truepenny.demo.server.kind import KINDS, Kind
from truepenny.demo.server.objects import Objects
from truepenny.demo.server.selector import field_selector, label_selector
from truepenny.demo.server.status import not_found
from truepenny.demo.server.surroundings import World
from truepenny.demo.server.table import table, wants_table
from truepenny.demo.server.target import Target
from truepenny.demo.server.value import Object, mapping, name_of, namespace_of
from truepenny.system.clock import timestamp

WINDOW = "15s"
"""Over how long a measurement is said to be taken, the metrics server's usual answer."""

_CORE = {kind.kind: kind for kind in KINDS if not kind.group}


def metrics(
    request: Request, target: Target, objects: Objects, world: World, now: datetime
) -> Reply:
    """Answer one measurement or a list; raises Refusal 404 where nothing was measured."""
    kind = target.kind
    # Measurements carry the labels of what is measured, so selectors are read on that.
    source = _CORE["Pod" if kind.kind == "PodMetrics" else "Node"]
    by_label = label_selector(request.query.get("labelSelector", ""))
    by_field = field_selector(request.query.get("fieldSelector", ""), source)
    measured: list[Object] = []
    for value in objects.list(source, target.namespace):
        if target.name and name_of(value) != target.name:
            continue
        if by_label.matches(value) and by_field.matches(value):
            entry = _measure(kind, value, world, now)
            if entry is not None:
                measured.append(entry)
    if target.name and not measured:
        raise not_found(kind.resource, target.name, kind.group, kind.plural)
    if wants_table(request.accept):
        from truepenny.demo.server.columns.registry import printer

        metadata: Object = {"resourceVersion": ""}
        return json_reply(table(printer(kind, ()), measured, now, metadata=metadata))
    if target.name:
        return json_reply(measured[0])
    answer: Object = {
        "kind": f"{kind.kind}List",
        "apiVersion": kind.api_version,
        "metadata": {},
        "items": measured,
    }
    return json_reply(answer)


def _measure(kind: Kind, value: Object, world: World, now: datetime) -> Object | None:
    metadata: Object = {"name": name_of(value), "creationTimestamp": timestamp(now)}
    if labels := mapping(value, "metadata", "labels"):
        metadata["labels"] = labels
    answer: Object = {
        "kind": kind.kind,
        "apiVersion": kind.api_version,
        "metadata": metadata,
        "timestamp": timestamp(now),
        "window": WINDOW,
    }
    if kind.kind == "NodeMetrics":
        usage = world.metrics.get("nodes", {}).get(name_of(value))
        if usage is None:
            return None
        return {**answer, "usage": {"cpu": usage[0], "memory": usage[1]}}
    used = world.metrics.get("pods", {}).get((namespace_of(value), name_of(value)))
    if not used:
        return None
    metadata["namespace"] = namespace_of(value)
    answer["containers"] = [
        {"name": name, "usage": {"cpu": cpu, "memory": memory}}
        for name, (cpu, memory) in used.items()
    ]
    return answer
