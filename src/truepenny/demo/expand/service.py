"""Services, and the endpoints that follow from their selectors and the pods' readiness.

    {selector, ports: [{name, port, target}], type, headless: true, age, labels, address}

A target that is a name and that no selected pod has gives no endpoint, as on a real cluster; a
target that is a number is believed, so a wrong number gives endpoints that refuse connections.
"""

from __future__ import annotations

from typing import Any

from truepenny.demo import identity
from truepenny.demo.timeline import parse

from .build import Build, Object, age, key_of
from .keys import check
from .pod import is_ready


def expand_service(build: Build, key: str, short: dict[str, Any]) -> None:
    """Add the service `namespace/name`; endpoints follow when every pod is there."""
    check("service", short, key)
    namespace, _, name = key.partition("/")
    address = (
        "None" if short.get("headless") else short.get("address") or identity.service_address(key)
    )
    ports = [
        {
            "name": port.get("name", "http"),
            "protocol": port.get("protocol", "TCP"),
            "port": port["port"],
            "targetPort": port.get("target", port["port"]),
        }
        for port in short["ports"]
    ]
    build.add(
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": build.meta(
                "Service", namespace, name, age(short.get("age"), "92d"),
                labels=short.get("labels", {"app": name}), annotations=short.get("annotations"),
            ),
            "spec": {
                "clusterIP": address,
                "clusterIPs": [address],
                "type": short.get("type", "ClusterIP"),
                "sessionAffinity": "None",
                "internalTrafficPolicy": "Cluster",
                "ipFamilies": ["IPv4"],
                "ipFamilyPolicy": "SingleStack",
                "ports": ports,
                **({"selector": short["selector"]} if short.get("selector") else {}),
            },
            "status": {"loadBalancer": short.get("balancer", {})},
        }
    )  # fmt: skip


def expand_endpoints(build: Build) -> None:
    """Add Endpoints and an EndpointSlice for each service that selects pods."""
    for service in build.of_kind("Service"):
        selector: dict[str, str] = service["spec"].get("selector", {})
        if selector:
            pods = selected(build, service["metadata"]["namespace"], selector)
            _endpoints(build, service, [pod for pod in pods if _has_address(pod)])


def selected(build: Build, namespace: str, selector: dict[str, str]) -> list[Object]:
    """Return the pods of a namespace whose labels carry all of `selector`."""
    return [
        pod
        for pod in build.of_kind("Pod", namespace)
        if selector.items() <= pod["metadata"].get("labels", {}).items()
    ]


def _has_address(pod: Object) -> bool:
    return "podIP" in pod["status"] and pod["status"]["phase"] not in ("Failed", "Succeeded")


def _target(pod: Object, port: Object) -> int | None:
    wanted = port["targetPort"]
    if isinstance(wanted, int):
        return wanted
    for one in pod["spec"]["containers"]:
        for has in one.get("ports", []):
            if has["name"] == wanted:
                return int(has["containerPort"])
    return None


def _reference(pod: Object) -> Object:
    meta = pod["metadata"]
    return {
        "kind": "Pod",
        "namespace": meta["namespace"],
        "name": meta["name"],
        "uid": meta["uid"],
    }


def _endpoints(build: Build, service: Object, pods: list[Object]) -> None:
    meta = service["metadata"]
    namespace, name = meta["namespace"], meta["name"]
    age_of = build.timeline.now - parse(meta["creationTimestamp"])
    groups: dict[tuple[tuple[str, int], ...], list[Object]] = {}
    for pod in pods:
        found = [(port["name"], _target(pod, port)) for port in service["spec"]["ports"]]
        resolved = tuple((label, number) for label, number in found if number is not None)
        if resolved:
            groups.setdefault(resolved, []).append(pod)
    subsets: list[Object] = []
    for nth, (resolved, members) in enumerate(groups.items()):
        ports = [{"name": label, "port": number, "protocol": "TCP"} for label, number in resolved]
        subset: Object = {}
        for field, wanted in (("addresses", True), ("notReadyAddresses", False)):
            rows = [
                {
                    "ip": pod["status"]["podIP"],
                    "nodeName": pod["spec"]["nodeName"],
                    "targetRef": _reference(pod),
                }
                for pod in members
                if is_ready(pod) is wanted
            ]
            if rows:
                subset[field] = rows
        subsets.append(subset | {"ports": ports})
        _slice(build, service, members, ports, nth)
    if not groups:
        _slice(build, service, [], None, 0)
    build.add(
        {
            "apiVersion": "v1",
            "kind": "Endpoints",
            "metadata": build.meta("Endpoints", namespace, name, age_of, labels=meta.get("labels")),
            **({"subsets": subsets} if subsets else {}),
        }
    )


def _slice(
    build: Build, service: Object, members: list[Object], ports: list[Object] | None, nth: int
) -> None:
    meta = service["metadata"]
    namespace, name = meta["namespace"], meta["name"]
    age_of = build.timeline.now - parse(meta["creationTimestamp"])
    labels = {
        **meta.get("labels", {}),
        "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io",
        "kubernetes.io/service-name": name,
    }
    suffix = identity.letters(f"{key_of(service)}{nth}", 5)
    build.add(
        {
            "apiVersion": "discovery.k8s.io/v1",
            "kind": "EndpointSlice",
            "metadata": build.meta(
                "EndpointSlice", namespace, f"{name}-{suffix}", age_of, labels=labels, owner=service
            ),
            "addressType": "IPv4",
            "endpoints": [
                {
                    "addresses": [pod["status"]["podIP"]],
                    "conditions": {
                        "ready": is_ready(pod),
                        "serving": is_ready(pod),
                        "terminating": "deletionTimestamp" in pod["metadata"],
                    },
                    "nodeName": pod["spec"]["nodeName"],
                    "targetRef": _reference(pod),
                }
                for pod in members
            ],
            "ports": ports,
        }
    )
