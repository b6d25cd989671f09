"""The first look: what there is in a cluster, from kubectl's tables."""

from __future__ import annotations

from truepenny.diagnose.triage.finding import ObjectRef
from truepenny.diagnose.triage.query import Query
from truepenny.diagnose.triage.survey import PodRow, pods_table

PODS = pods_table(None)
NAMESPACES = Query(("get", "namespaces"), "all namespaces")
THINGS = Query(
    (
        "get",
        "deployments,statefulsets,daemonsets,cronjobs,services,ingresses,"
        "horizontalpodautoscalers,persistentvolumeclaims",
        "-A",
    ),
    "what else has a name",
)
HERE = Query(("get", "pods", "-o", "wide"), "the pods of the default namespace")
"""What is left to ask where reading across namespaces is forbidden."""

FIRST = (NAMESPACES, PODS, THINGS)

_KINDS = {
    "deployment": "Deployment", "statefulset": "StatefulSet", "daemonset": "DaemonSet",
    "cronjob": "CronJob", "job": "Job", "service": "Service", "ingress": "Ingress",
    "horizontalpodautoscaler": "HorizontalPodAutoscaler",
    "persistentvolumeclaim": "PersistentVolumeClaim", "pod": "Pod", "node": "Node",
}  # fmt: skip


def read_names(table: str) -> list[ObjectRef]:
    """Read the objects of `get KIND,KIND -A`: one table per kind, names with their kind."""
    found: list[ObjectRef] = []
    for line in table.splitlines():
        cells = line.split()
        if len(cells) < 2 or "/" not in cells[1]:
            continue
        kind, _, name = cells[1].partition("/")
        known = _KINDS.get(kind.split(".")[0])
        if known:
            found.append(ObjectRef(known, cells[0], name))
    return found


def read_namespaces(table: str) -> list[ObjectRef]:
    """Read `kubectl get namespaces`."""
    return [
        ObjectRef("Namespace", "", cells[0])
        for line in table.splitlines()
        if (cells := line.split()) and cells[0] != "NAME" and len(cells) >= 2
    ]


def workloads(pods: list[PodRow], known: list[ObjectRef]) -> list[ObjectRef]:
    """Return what the pods stand for: their nodes, and they themselves where nothing owns them."""
    nodes = {row.node for row in pods if row.node}
    found = [ObjectRef("Node", "", node) for node in sorted(nodes)]
    for row in pods:
        owned = any(
            ref.namespace == row.namespace and row.name.startswith(f"{ref.name}-") for ref in known
        )
        if not owned:
            found.append(ObjectRef("Pod", row.namespace, row.name))
            # A job's pod carries its job's name and a suffix of five characters.
            stem = row.name.rpartition("-")[0]
            if stem:
                found.append(ObjectRef("Job", row.namespace, stem))
    return list(dict.fromkeys(found))
