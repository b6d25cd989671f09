"""Discovery: which groups, versions and resources are served, aggregated or in the old form."""

from __future__ import annotations

import platform

from truepenny.demo.server.kind import Catalog, Kind
from truepenny.demo.server.value import Object

GIT_VERSION = "v1.37.1+practice"
"""What `/version` answers: the API level, and that this is the simulator."""

AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
"""The media type of the one-request form; kubectl asks for it first."""


def version() -> Object:
    """Return the answer of `/version`."""
    return {
        "major": "1",
        "minor": "37",
        "gitVersion": GIT_VERSION,
        "gitCommit": "practice-cluster-simulator",
        "gitTreeState": "clean",
        "buildDate": "2026-11-01T00:00:00Z",
        "goVersion": "none",
        "compiler": "truepenny practice cluster (simulator)",
        "platform": f"{platform.system().lower()}/{platform.machine()}",
    }


def wants_aggregated(accept: str) -> bool:
    """Say whether the client can read the aggregated form."""
    return "g=apidiscovery.k8s.io;v=v2;" in accept.replace(" ", "")


def _response_kind(kind: Kind, name: str = "") -> Object:
    return {"group": kind.group, "version": kind.version, "kind": name or kind.kind}


def _resource(kind: Kind) -> Object:
    entry: Object = {
        "resource": kind.plural,
        "responseKind": _response_kind(kind),
        "scope": "Namespaced" if kind.namespaced else "Cluster",
        "singularResource": kind.singular,
        "verbs": list(kind.verbs),
    }
    if kind.short:
        entry["shortNames"] = list(kind.short)
    if kind.categories:
        entry["categories"] = list(kind.categories)
    if kind.subresources:
        entry["subresources"] = [
            {"subresource": name, "responseKind": _response_kind(kind, answer), "verbs": [*verbs]}
            for name, answer, verbs in kind.subresources
        ]
    return entry


def aggregated(catalog: Catalog, *, core: bool) -> Object:
    """Return the APIGroupDiscoveryList of `/api` (core) or `/apis`."""
    items: list[Object] = []
    for group, versions in catalog.groups().items():
        if (group == "") is not core:
            continue
        items.append(
            {
                "metadata": {"name": group, "creationTimestamp": None}
                if group
                else {"creationTimestamp": None},
                "versions": [
                    {
                        "version": name,
                        "resources": [_resource(kind) for kind in kinds],
                        "freshness": "Current",
                    }
                    for name, kinds in versions.items()
                ],
            }
        )
    return {
        "kind": "APIGroupDiscoveryList",
        "apiVersion": "apidiscovery.k8s.io/v2",
        "metadata": {},
        "items": items,
    }


def core_versions(address: str) -> Object:
    """Return the old form of `/api`."""
    return {
        "kind": "APIVersions",
        "versions": ["v1"],
        "serverAddressByClientCIDRs": [{"clientCIDR": "0.0.0.0/0", "serverAddress": address}],
    }


def _group(name: str, versions: list[str]) -> Object:
    listed = [{"groupVersion": f"{name}/{version}", "version": version} for version in versions]
    return {"name": name, "versions": listed, "preferredVersion": listed[0]}


def group_list(catalog: Catalog) -> Object:
    """Return the old form of `/apis`."""
    groups = [_group(name, list(versions)) for name, versions in catalog.groups().items() if name]
    return {"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}


def group(catalog: Catalog, name: str) -> Object | None:
    """Return `/apis/GROUP`, or None where it is not served."""
    versions = catalog.groups().get(name)
    if not name or versions is None:
        return None
    return {"kind": "APIGroup", "apiVersion": "v1", **_group(name, list(versions))}


def resource_list(catalog: Catalog, group_name: str, version_name: str) -> Object | None:
    """Return `/api/v1` or `/apis/GROUP/VERSION`, or None where it is not served."""
    kinds = catalog.groups().get(group_name, {}).get(version_name)
    if kinds is None:
        return None
    resources: list[Object] = []
    for kind in kinds:
        entry: Object = {
            "name": kind.plural,
            "singularName": kind.singular,
            "namespaced": kind.namespaced,
            "kind": kind.kind,
            "verbs": list(kind.verbs),
        }
        if kind.short:
            entry["shortNames"] = list(kind.short)
        if kind.categories:
            entry["categories"] = list(kind.categories)
        resources.append(entry)
        for name, answer, verbs in kind.subresources:
            resources.append(
                {
                    "name": f"{kind.plural}/{name}",
                    "singularName": "",
                    "namespaced": kind.namespaced,
                    "kind": answer or kind.kind,
                    "verbs": list(verbs),
                }
            )
    return {
        "kind": "APIResourceList",
        "apiVersion": "v1",
        "groupVersion": f"{group_name}/{version_name}" if group_name else version_name,
        "resources": resources,
    }
