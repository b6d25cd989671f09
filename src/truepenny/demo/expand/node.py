"""Nodes as a kubelet and the node controller describe them, with their leases.

    {role: control-plane | worker, address, cpu, memory, pods, disk, zone, age, labels, taints,
     cordoned: true, conditions: {TYPE: {status, reason, message, since}}, heard: AGE}

`heard` is the age of the last heartbeat: a node that stopped reporting has an old one.
"""

from __future__ import annotations

from typing import Any

from truepenny.demo import identity

from .build import WORLD_AGE, Build, Object, age
from .keys import check

KUBELET = "v1.37.1"
"""The version of every node; the practice API server says `v1.37.1+practice`."""

_FINE = {
    "MemoryPressure": ("KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
    "DiskPressure": ("KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
    "PIDPressure": ("KubeletHasSufficientPID", "kubelet has sufficient PID available"),
    "Ready": ("KubeletReady", "kubelet is posting ready status"),
}

_RESERVED_MEMORY_KI = 512 * 1024  # what the kubelet keeps for the system and itself
_RESERVED_CPU_MILLI = 100


def expand_node(build: Build, name: str, short: dict[str, Any], place: int) -> None:
    """Add a node and its lease. `place` numbers its pod range."""
    check("node", short, f"Node/{name}")
    memory = int(short["memory"].removesuffix("Gi")) * 1024 * 1024
    cpu = int(short["cpu"])
    born = age(short.get("age"), WORLD_AGE)
    zone = short.get("zone", "eu-west-1a")
    labels = {
        "beta.kubernetes.io/arch": "amd64",
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
        "topology.kubernetes.io/region": zone[:-1],
        "topology.kubernetes.io/zone": zone,
        **({f"node-role.kubernetes.io/{short['role']}": ""} if short["role"] != "worker" else {}),
        **short.get("labels", {}),
    }
    taints = list(short.get("taints", []))
    spec: Object = {
        "podCIDR": f"10.244.{place}.0/24",
        "podCIDRs": [f"10.244.{place}.0/24"],
        "providerID": f"practice://{zone}/{name}",
    }
    if short.get("cordoned"):
        spec["unschedulable"] = True
        taints.append({"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"})
    if taints:
        spec["taints"] = taints
    heard = age(short.get("heard"), "11s")
    size = {
        "cpu": str(cpu),
        "memory": f"{memory}Ki",
        "pods": str(short.get("pods", 110)),
        "ephemeral-storage": f"{short.get('disk', 80) * 1024 * 1024}Ki",
    }
    room = size | {
        "cpu": f"{cpu * 1000 - _RESERVED_CPU_MILLI}m",
        "memory": f"{memory - _RESERVED_MEMORY_KI}Ki",
    }
    conditions = [
        _condition(build, kind, short.get("conditions", {}).get(kind, {}), heard, born)
        for kind in _FINE
    ]
    build.add(
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": build.meta(
                "Node", "", name, born, labels=labels,
                annotations={
                    "node.alpha.kubernetes.io/ttl": "0",
                    "volumes.kubernetes.io/controller-managed-attach-detach": "true",
                },
            ),
            "spec": spec,
            "status": {
                "capacity": size,
                "allocatable": room,
                "conditions": conditions,
                "addresses": [
                    {"type": "InternalIP", "address": short["address"]},
                    {"type": "Hostname", "address": name},
                ],
                "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}},
                "nodeInfo": _information(name),
            },
        }
    )  # fmt: skip
    build.add(
        {
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": build.meta("Lease", "kube-node-lease", name, born),
            "spec": {
                "holderIdentity": name,
                "leaseDurationSeconds": 40,
                "renewTime": build.timeline.micro(short.get("heard", "3s")),
            },
        }
    )


def _condition(build: Build, kind: str, short: dict[str, Any], heard: Any, born: Any) -> Object:
    reason, message = _FINE[kind]
    return {
        "type": kind,
        "status": short.get("status", "True" if kind == "Ready" else "False"),
        "lastHeartbeatTime": build.timeline.stamp(heard),
        "lastTransitionTime": build.timeline.stamp(age(short.get("since"), born)),
        "reason": short.get("reason", reason),
        "message": short.get("message", message),
    }


def _information(name: str) -> Object:
    return {
        "machineID": identity.hexadecimal(f"machine {name}", 32),
        "systemUUID": identity.uid(f"system {name}"),
        "bootID": identity.uid(f"boot {name}"),
        "kernelVersion": "6.12.41-amd64",
        "osImage": "Debian GNU/Linux 13 (trixie)",
        "containerRuntimeVersion": "containerd://2.1.4",
        "kubeletVersion": KUBELET,
        "kubeProxyVersion": "",
        "operatingSystem": "linux",
        "architecture": "amd64",
    }
