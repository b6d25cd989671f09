"""Pages, versions and watches."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.demo.practice import Kubectl, SmallWorld, binaries, connect, fetch, make
from truepenny.demo.cluster import PracticeCluster
from truepenny.demo.server.objects import CHANGES_KEPT, Objects


def _world(count: int = 7) -> SmallWorld:
    names = [f"item-{number}" for number in range(count)]
    return SmallWorld([make("ConfigMap", name, data={"a": "b"}) for name in reversed(names)])


def _names(answer: Any) -> list[str]:
    return [item["metadata"]["name"] for item in answer["items"]]


def test_pages_add_up_and_an_outdated_page_is_refused() -> None:
    path = "/api/v1/namespaces/shop/configmaps"
    with PracticeCluster(_world()) as cluster:
        first = fetch(cluster, f"{path}?limit=3").json
        assert _names(first) == ["item-0", "item-1", "item-2"]
        assert first["metadata"]["remainingItemCount"] == 4
        token = first["metadata"]["continue"]
        second = fetch(cluster, f"{path}?limit=5&continue={token}").json
        assert _names(second) == ["item-3", "item-4", "item-5", "item-6"]
        assert "continue" not in second["metadata"]
        cluster.put(make("ConfigMap", "new"))
        assert fetch(cluster, f"{path}?limit=3&continue={token}").status == 410
        assert fetch(cluster, f"{path}?limit=3&continue=nonsense").status == 400
        assert fetch(cluster, f"{path}?limit=-1").status == 400


def test_a_watch_tells_changes_that_match_and_ends_at_its_timeout() -> None:
    with PracticeCluster(_world(1)) as cluster:
        connection = connect(cluster)
        headers = {"Authorization": f"Bearer {cluster.token}"}
        version = fetch(cluster, "/api/v1/configmaps").json["metadata"]["resourceVersion"]
        query = f"watch=1&resourceVersion={version}&labelSelector=a%3Db&timeoutSeconds=1"
        connection.request("GET", f"/api/v1/namespaces/shop/configmaps?{query}", headers=headers)
        response = connection.getresponse()
        cluster.put(make("ConfigMap", "other"))
        cluster.put(make("ConfigMap", "mine", metadata={"labels": {"a": "b"}}))
        cluster.put(make("ConfigMap", "far", namespace="x", metadata={"labels": {"a": "b"}}))
        assert cluster.remove("v1", "ConfigMap", "shop", "mine")
        assert not cluster.remove("v1", "ConfigMap", "shop", "mine")
        told = [json.loads(line) for line in response.read().splitlines()]
        connection.close()
    assert [(e["type"], e["object"]["metadata"]["name"]) for e in told] == [
        ("ADDED", "mine"),
        ("DELETED", "mine"),
    ]


def test_a_streaming_list_ends_with_its_bookmark() -> None:
    query = "watch=1&sendInitialEvents=true&allowWatchBookmarks=true&timeoutSeconds=0"
    with PracticeCluster(_world(2)) as cluster:
        lines = fetch(cluster, f"/api/v1/configmaps?{query}").body.splitlines()
    told = [json.loads(line) for line in lines]
    assert [event["type"] for event in told] == ["ADDED", "ADDED", "BOOKMARK"]
    marks = told[-1]["object"]["metadata"]["annotations"]
    assert marks["k8s.io/initial-events-end"] == "true"


def test_kubectl_watches_tables(tmp_path: Path) -> None:
    if not binaries():
        pytest.fail("no kubectl: ./dev installs one")
    with PracticeCluster(_world(1)) as cluster:
        kubectl = Kubectl(cluster, tmp_path, binaries()[0])
        watch = subprocess.Popen(
            [kubectl.binary, "get", "cm", "-n", "shop", "-w", "--no-headers"],
            env=kubectl.env,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )
        with watch:
            assert watch.stdout is not None
            assert watch.stdout.readline().split()[:2] == ["item-0", "1"]
            cluster.put(make("ConfigMap", "item-0", data={"a": "b", "c": "d"}))
            assert watch.stdout.readline().split()[:2] == ["item-0", "2"]
            watch.terminate()


def test_a_version_older_than_the_kept_changes_is_gone() -> None:
    objects = Objects([])
    start = objects.version
    for _ in range(CHANGES_KEPT + 1):
        objects.put(make("ConfigMap", "same"))
    assert objects.since(start) is None
    assert len(objects.since(start + 1) or ()) == CHANGES_KEPT


def test_what_is_not_served_is_named_and_cannot_be_put() -> None:
    objects = Objects([make("Widget", "w", api="example.org/v1")])
    assert [value["kind"] for value in objects.unserved] == ["Widget"]
    with pytest.raises(KeyError):
        objects.put(make("Widget", "w", api="example.org/v1"))


def test_events_are_served_in_both_forms() -> None:
    event = make(
        "Event",
        "e1",
        involvedObject={"kind": "Pod", "name": "p", "namespace": "shop", "uid": "u"},
        reason="BackOff",
        message="why",
        type="Warning",
        count=4,
        source={"component": "kubelet"},
    )
    query = "fieldSelector=involvedObject.name%3Dp,involvedObject.kind%3DPod,reason%21%3DPulled"
    with PracticeCluster(SmallWorld([event])) as cluster:
        assert _names(fetch(cluster, f"/api/v1/events?{query}").json) == ["e1"]
        path = "/apis/events.k8s.io/v1/namespaces/shop/events"
        newer = fetch(cluster, f"{path}?fieldSelector=regarding.name%3Dp").json["items"][0]
        assert (newer["note"], newer["deprecatedCount"]) == ("why", 4)
        assert fetch(cluster, f"{path}/e1").json["regarding"]["uid"] == "u"
