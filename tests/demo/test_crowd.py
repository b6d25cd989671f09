"""A large cluster around an incident."""

from __future__ import annotations

from datetime import UTC, datetime
from urllib.parse import quote

import pytest

from tests.demo.practice import fetch
from truepenny.demo.cluster import PracticeCluster
from truepenny.demo.expand.crowd import MOST_PODS
from truepenny.demo.server.selector import label_selector
from truepenny.demo.world import World
from truepenny.errors import UsageError

NOW = datetime(2026, 11, 30, 15, 0, tzinfo=UTC)
PODS = 700


@pytest.fixture(scope="module")
def large() -> World:
    return World.load("checkout-oom", NOW, pods=PODS)


def test_there_are_as_many_as_asked_for_and_the_incident_is_the_same(large: World) -> None:
    pods = [item for item in large.objects if item["kind"] == "Pod"]
    assert len(pods) == PODS
    small = World.load("checkout-oom", NOW)

    def incident(world: World) -> dict[str, object]:
        # Versions count what the whole cluster has written.
        return {
            item["metadata"]["uid"]: {**item, "metadata": item["metadata"]["name"]}
            for item in world.objects
            if item["metadata"].get("namespace") == "shop"
        }

    assert incident(small) == incident(large)


def test_no_node_has_more_than_a_kubelet_takes_and_no_address_is_there_twice(large: World) -> None:
    placed: dict[str, int] = {}
    addresses: list[str] = []
    for item in large.objects:
        if item["kind"] == "Pod" and item["status"].get("podIP"):
            placed[item["spec"]["nodeName"]] = placed.get(item["spec"]["nodeName"], 0) + 1
            if not item["spec"].get("hostNetwork"):
                addresses.append(item["status"]["podIP"])
    nodes = {item["metadata"]["name"] for item in large.objects if item["kind"] == "Node"}
    assert set(placed) <= nodes
    assert max(placed.values()) <= 110
    assert len(addresses) == len(set(addresses))


def test_pages_hold_everything_once(large: World) -> None:
    seen: list[str] = []
    with PracticeCluster(large) as cluster:
        token, pages = "", 0
        while True:
            answer = fetch(cluster, f"/api/v1/pods?limit=200&continue={quote(token)}").json
            seen += [item["metadata"]["uid"] for item in answer["items"]]
            pages += 1
            token = answer["metadata"].get("continue", "")
            assert answer["metadata"].get("remainingItemCount", 0) == PODS - len(seen)
            if not token:
                break
        one = fetch(cluster, "/api/v1/namespaces/crowd-002/pods?labelSelector=app%3Dpart-1").json
    assert (pages, len(seen), len(set(seen))) == (4, PODS, PODS)
    assert len(one["items"]) == 50
    assert all(label_selector("app=part-1").matches(item) for item in one["items"])


@pytest.mark.parametrize("pods", [-1, 0, 5, MOST_PODS + 1])
def test_a_number_that_cannot_be_is_refused(pods: int) -> None:
    with pytest.raises(UsageError, match="is not from"):
        World.load("checkout-oom", NOW, pods=pods)
