"""What `kubectl top` shows: made-up usage that fits the requests, unless an incident says more."""

from __future__ import annotations

from typing import Any

from truepenny.demo import identity
from truepenny.demo.expand.build import Build, Object
from truepenny.demo.quantity import milli, plain_bytes

Usage = tuple[str, str]
"""CPU and memory as quantities."""

_SYSTEM_CPU = 140  # milli: kubelet, containerd and the system of a node
_SYSTEM_MEMORY = 760  # Mi
_MEBI = 1024**2
_DEFAULT_REQUEST = {"cpu": "20m", "memory": "48Mi"}  # for containers that request nothing


def measure(build: Build, told: dict[str, Any]) -> dict[str, Any]:
    """Return `{available, pods: {(namespace, pod): {container: Usage}}, nodes: {name: Usage}}`.

    Only running containers on nodes that report are measured. `told` is metrics.toml.
    """
    if not told.get("available", True):
        return {"available": False, "pods": {}, "nodes": {}}
    silent = {node["metadata"]["name"] for node in build.of_kind("Node") if not _reports(node)}
    pods: dict[tuple[str, str], dict[str, Usage]] = {}
    cpu: dict[str, int] = {}
    memory: dict[str, int] = {}
    for workload, members in build.pods_of.items():
        for pod in members:
            node = pod["spec"].get("nodeName")
            if node is None or node in silent:
                continue
            used = _pod(pod, told.get("pods", {}).get(workload, {}))
            if used:
                pods[pod["metadata"]["namespace"], pod["metadata"]["name"]] = used
            cpu[node] = cpu.get(node, 0) + sum(milli(one[0]) for one in used.values())
            memory[node] = memory.get(node, 0) + sum(plain_bytes(u[1]) for u in used.values())
    nodes = {
        name: (
            f"{cpu.get(name, 0) + _SYSTEM_CPU}m",
            f"{memory.get(name, 0) // _MEBI + _SYSTEM_MEMORY}Mi",
        )
        for name in build.node_addresses
        if name not in silent
    }
    for name, one in told.get("nodes", {}).items():
        nodes[name] = (one["cpu"], one["memory"])
    return {"available": True, "pods": pods, "nodes": nodes}


def _reports(node: Object) -> bool:
    ready = next(one for one in node["status"]["conditions"] if one["type"] == "Ready")
    return ready["status"] != "Unknown"


def _pod(pod: Object, told: dict[str, Any]) -> dict[str, Usage]:
    used: dict[str, Usage] = {}
    specs = {one["name"]: one for one in pod["spec"]["containers"]}
    for status in pod["status"].get("containerStatuses", []):
        if "running" not in status["state"]:
            continue
        name = status["name"]
        if name in told:
            used[name] = (told[name]["cpu"], told[name]["memory"])
            continue
        request = _DEFAULT_REQUEST | specs[name]["resources"].get("requests", {})
        share = identity.digits(f"{pod['metadata']['uid']}{name}") % 40 + 20  # 20 to 59 percent
        used[name] = (
            f"{max(1, milli(request['cpu']) * share // 100)}m",
            f"{max(4, plain_bytes(request['memory']) * (share + 25) // 100 // _MEBI)}Mi",
        )
    return used
