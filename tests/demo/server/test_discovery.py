from __future__ import annotations

from tests.demo.practice import SmallWorld, fetch, make
from truepenny.demo.cluster import PracticeCluster
from truepenny.demo.server.discovery import AGGREGATED

DEFINITION = make(
    "CustomResourceDefinition",
    "widgets.example.org",
    api="apiextensions.k8s.io/v1",
    namespace="",
    spec={
        "group": "example.org",
        "scope": "Namespaced",
        "names": {"kind": "Widget", "plural": "widgets", "shortNames": ["wi"]},
        "versions": [
            {"name": "v1", "served": True},
            {"name": "v1alpha1", "served": False},
        ],
    },
)


def test_both_forms_name_the_same_resources() -> None:
    world = SmallWorld([DEFINITION], metrics={"available": True, "pods": {}, "nodes": {}})
    with PracticeCluster(world) as cluster:
        old: set[tuple[str, str]] = set()
        groups = fetch(cluster, "/apis").json["groups"]
        names = ["/api/v1", *(f"/apis/{g['preferredVersion']['groupVersion']}" for g in groups)]
        for path in names:
            listed = fetch(cluster, path).json
            old |= {(listed["groupVersion"], r["name"]) for r in listed["resources"]}
        new: set[tuple[str, str]] = set()
        for path in ("/api", "/apis"):
            answer = fetch(cluster, path, accept=AGGREGATED)
            assert answer.headers["content-type"] == AGGREGATED
            for group in answer.json["items"]:
                for version in group["versions"]:
                    name = group["metadata"].get("name", "")
                    at = f"{name}/{version['version']}" if name else version["version"]
                    for entry in version["resources"]:
                        new.add((at, entry["resource"]))
                        for sub in entry.get("subresources", ()):
                            new.add((at, f"{entry['resource']}/{sub['subresource']}"))
        assert old == new
        assert ("example.org/v1", "widgets") in new
        assert ("example.org/v1alpha1", "widgets") not in new
        assert ("v1", "pods/log") in new
        assert fetch(cluster, "/apis/example.org/v1/widgets").json["items"] == []
        for missing in ("/apis/nosuch", "/apis/nosuch/v1", "/api/v2", "/api/v1/nosuch", "/x"):
            assert fetch(cluster, missing).status == 404, missing


def test_metrics_are_served_only_where_something_measures() -> None:
    with PracticeCluster(SmallWorld(metrics={"available": False})) as cluster:
        assert fetch(cluster, "/apis/metrics.k8s.io/v1beta1/nodes").status == 404
