"""Events: each says what, on which object, how often, from when to when."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from truepenny.demo import identity

from .build import EVENT_LIFE, Build, Object, age
from .keys import check

_SOURCES = {
    "Pod": "kubelet",
    "Node": "kubelet",
    "Deployment": "deployment-controller",
    "ReplicaSet": "replicaset-controller",
    "StatefulSet": "statefulset-controller",
    "DaemonSet": "daemonset-controller",
    "Job": "job-controller",
    "CronJob": "cronjob-controller",
    "HorizontalPodAutoscaler": "horizontal-pod-autoscaler",
    "PersistentVolumeClaim": "persistentvolume-controller",
    "Service": "service-controller",
    "Ingress": "nginx-ingress-controller",
    "PodDisruptionBudget": "controllermanager",
}


def record(
    build: Build,
    on: Object,
    reason: str,
    message: str,
    *,
    first: timedelta,
    last: timedelta | None = None,
    count: int = 1,
    warning: bool = False,
    component: str = "",
    container: str = "",
) -> None:
    """Add an event unless its last sighting is older than an event lives.

    `first` and `last` are ages; `container` makes the field path of a pod's container.
    """
    last = first if last is None else last
    if last > EVENT_LIFE:
        return
    meta = on["metadata"]
    namespace = meta.get("namespace", "default")
    source: Object = {"component": component or _SOURCES.get(on["kind"], "controllermanager")}
    node = on.get("spec", {}).get("nodeName") if on["kind"] == "Pod" else None
    host = node or (meta["name"] if on["kind"] == "Node" else None)
    if host and source["component"] == "kubelet":
        source["host"] = host
    involved: Object = {"kind": on["kind"], "name": meta["name"]}
    if "namespace" in meta:
        involved["namespace"] = meta["namespace"]
    involved["uid"] = meta["name"] if on["kind"] == "Node" else meta["uid"]
    involved["apiVersion"] = on["apiVersion"]
    if container:
        involved["fieldPath"] = f"spec.{container}"
    digest = identity.hexadecimal(f"{involved}{reason}{message}", 16)
    build.add(
        {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": build.meta("Event", namespace, f"{meta['name']}.{digest}", first),
            "involvedObject": involved,
            "reason": reason,
            "message": message,
            "source": source,
            "firstTimestamp": build.timeline.stamp(first),
            "lastTimestamp": build.timeline.stamp(last),
            "count": count,
            "type": "Warning" if warning else "Normal",
            "eventTime": None,
            "reportingComponent": source["component"],
            "reportingInstance": source.get("host", ""),
        }
    )


def expand_event(build: Build, short: dict[str, Any]) -> None:
    """Add an event from shorthand: `about`, `reason`, `message`, `first`, `last`, `count`, `type`.

    `from` overrides the reporting component; `container` is a field path like `containers{app}`.
    """
    check("event", short, str(short.get("about")))
    record(
        build,
        build.find(short["about"]),
        short["reason"],
        short["message"],
        first=age(short["first"], "0s"),
        last=age(short.get("last"), short["first"]),
        count=short.get("count", 1),
        warning=short.get("type", "Warning") == "Warning",
        component=short.get("from", ""),
        container=short.get("container", ""),
    )
