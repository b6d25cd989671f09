"""Every shipped incident tells one consistent story, in the form that a real cluster writes."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from truepenny.demo.expand.state import BACKOFF_SECONDS
from truepenny.demo.layer import ROOT
from truepenny.demo.quantity import milli, plain_bytes
from truepenny.demo.timeline import parse
from truepenny.demo.world import DEFAULT, World, scenarios

NOW = datetime(2026, 11, 30, 15, 0, tzinfo=UTC)
NAMES = [scenario.name for scenario in scenarios()]
EVALS = Path(__file__).parents[2] / "evals"

every = pytest.mark.parametrize("name", NAMES)


@cache
def world(name: str) -> World:
    return World.load(name, NOW)


def of_kind(name: str, *kinds: str) -> list[dict[str, Any]]:
    return [item for item in world(name).objects if item["kind"] in kinds]


def key(kind: str, meta: dict[str, Any]) -> tuple[str, str, str]:
    return kind, meta.get("namespace", ""), meta["name"]


def keys(name: str) -> dict[tuple[str, str, str], dict[str, Any]]:
    return {key(item["kind"], item["metadata"]): item for item in world(name).objects}


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from strings(item)


def statuses(pod: dict[str, Any]) -> list[dict[str, Any]]:
    status = pod["status"]
    return [*status.get("initContainerStatuses", []), *status.get("containerStatuses", [])]


def containers(pod: dict[str, Any]) -> list[dict[str, Any]]:
    return [*pod["spec"].get("initContainers", []), *pod["spec"]["containers"]]


def test_there_are_incidents_for_every_kind_of_trouble_and_a_default() -> None:
    assert len(NAMES) >= 24
    assert DEFAULT in NAMES
    assert len({scenario.title for scenario in scenarios()}) == len(NAMES)


@every
def test_a_description_asks_without_giving_the_solution_away(name: str) -> None:
    scenario = world(name).scenario
    assert scenario.question.endswith("?") or scenario.question.endswith(".")
    assert scenario.tags
    if scenario.root:
        assert set(scenario.root) == {"kind", "namespace", "name"}
        assert scenario.cause.lower() not in f"{scenario.summary} {scenario.title}".lower()
        root = scenario.root
        assert (root["kind"], root["namespace"], root["name"]) in keys(name)


@every
def test_two_loads_are_equal_and_every_object_is_one_of_its_kind(name: str) -> None:
    objects = world(name).objects
    assert World.load(name, NOW).objects == objects
    assert max(Counter(item["metadata"]["uid"] for item in objects).values()) == 1
    assert max(Counter(item["metadata"]["resourceVersion"] for item in objects).values()) == 1
    assert all(item["apiVersion"] and item["kind"] for item in objects)
    json.dumps(objects, allow_nan=False)


@every
def test_no_shorthand_is_left_over(name: str) -> None:
    left = re.compile(r"\{(pod|podip|node|svcip|rs) |\{?@[-+]\d|\{@")
    assert [text for text in strings(world(name).objects) if left.search(text)] == []


@every
def test_owners_exist_and_are_older(name: str) -> None:
    known = keys(name)
    for item in world(name).objects:
        meta = item["metadata"]
        for owner in meta.get("ownerReferences", []):
            namespace = "" if owner["kind"] == "Node" else meta.get("namespace", "")
            found = known[owner["kind"], namespace, owner["name"]]
            assert found["metadata"]["uid"] == owner["uid"]
            assert found["metadata"]["creationTimestamp"] <= meta["creationTimestamp"]


@every
def test_times_run_forward(name: str) -> None:
    for item in world(name).objects:
        created = parse(item["metadata"]["creationTimestamp"])
        assert created <= NOW
        if item["kind"] != "Pod":
            continue
        started = parse(item["status"].get("startTime", item["metadata"]["creationTimestamp"]))
        assert created <= started <= NOW
        for one in item["status"]["conditions"]:
            assert created <= parse(one["lastTransitionTime"]) <= NOW, (item["metadata"], one)
        for status in statuses(item):
            runs = [status["lastState"].get("terminated"), status["state"].get("terminated")]
            previous = created
            for run in filter(None, runs):
                assert previous <= parse(run["startedAt"]) <= parse(run["finishedAt"]) <= NOW
                previous = parse(run["finishedAt"])
            if "running" in status["state"]:
                assert previous <= parse(status["state"]["running"]["startedAt"]) <= NOW


@every
def test_restart_counts_fit_the_back_off_delays(name: str) -> None:
    for pod in of_kind(name, "Pod"):
        for status in statuses(pod):
            waiting = status["state"].get("waiting", {})
            if waiting.get("reason") != "CrashLoopBackOff":
                continue
            restarts = status["restartCount"]
            delays = [BACKOFF_SECONDS[min(n, len(BACKOFF_SECONDS) - 1)] for n in range(restarts)]
            last = status["lastState"]["terminated"]
            begun = parse(pod["metadata"]["creationTimestamp"])
            assert parse(last["startedAt"]) - begun >= timedelta(seconds=sum(delays))
            waits = NOW - parse(last["finishedAt"])
            assert waits < timedelta(seconds=300), "the next start would be due"


@every
def test_events_are_about_things_that_exist_and_recent(name: str) -> None:
    known = keys(name)
    for event in of_kind(name, "Event"):
        about = event["involvedObject"]
        item = known[about["kind"], about.get("namespace", ""), about["name"]]
        uid = about["name"] if about["kind"] == "Node" else item["metadata"]["uid"]
        assert about["uid"] == uid
        assert event["metadata"]["namespace"] == about.get("namespace", "default")
        first, last = parse(event["firstTimestamp"]), parse(event["lastTimestamp"])
        assert parse(item["metadata"]["creationTimestamp"]) <= first <= last <= NOW
        assert NOW - last <= timedelta(hours=1)
        assert event["count"] >= 1
        assert event["type"] in ("Normal", "Warning")
        if event["count"] == 1:
            assert first == last, (event["message"], first, last)


@every
def test_nodes_carry_no_more_than_they_can_and_only_pods_that_may_be_there(name: str) -> None:
    nodes = {node["metadata"]["name"]: node for node in of_kind(name, "Node")}
    cpu: Counter[str] = Counter()
    memory: Counter[str] = Counter()
    for pod in of_kind(name, "Pod"):
        node = pod["spec"].get("nodeName")
        if node is None or pod["status"]["phase"] in ("Failed", "Succeeded"):
            continue
        requests = [one["resources"].get("requests", {}) for one in pod["spec"]["containers"]]
        cpu[node] += sum(milli(one.get("cpu", "0")) for one in requests)
        memory[node] += sum(plain_bytes(one.get("memory", "0")) for one in requests)
        tolerated = [one.get("key") for one in pod["spec"]["tolerations"]]
        control_plane = (
            "control" in node and pod["metadata"]["ownerReferences"][0]["kind"] != "Node"
        )
        if control_plane:
            assert None in tolerated or "node-role.kubernetes.io/control-plane" in tolerated
    for node, item in nodes.items():
        room = item["status"]["allocatable"]
        assert cpu[node] <= milli(room["cpu"])
        assert memory[node] <= plain_bytes(room["memory"])


@every
def test_pods_that_wait_for_cpu_really_do_not_fit(name: str) -> None:
    for pod in of_kind(name, "Pod"):
        for condition in pod["status"]["conditions"]:
            if "Insufficient cpu" not in condition.get("message", ""):
                continue
            wanted = sum(
                milli(one["resources"]["requests"]["cpu"]) for one in pod["spec"]["containers"]
            )
            for node in of_kind(name, "Node"):
                taken = sum(
                    milli(one["resources"].get("requests", {}).get("cpu", "0"))
                    for other in of_kind(name, "Pod")
                    if other["spec"].get("nodeName") == node["metadata"]["name"]
                    for one in other["spec"]["containers"]
                )
                assert milli(node["status"]["allocatable"]["cpu"]) - taken < wanted


@every
def test_controllers_count_the_pods_that_are_there(name: str) -> None:
    pods = of_kind(name, "Pod")
    for one in of_kind(name, "ReplicaSet"):
        owned = [
            pod
            for pod in pods
            if pod["metadata"]["ownerReferences"][0]["uid"] == one["metadata"]["uid"]
            and pod["status"]["phase"] not in ("Failed", "Succeeded")
            and "deletionTimestamp" not in pod["metadata"]
        ]
        assert one["status"]["replicas"] == len(owned)
        refused = bool(one["status"].get("conditions"))
        assert (one["spec"]["replicas"] > len(owned)) == refused
        for pod in owned:
            selector = one["spec"]["selector"]["matchLabels"]
            assert selector.items() <= pod["metadata"]["labels"].items()
    for deployment in of_kind(name, "Deployment"):
        status, spec = deployment["status"], deployment["spec"]
        ready = status.get("readyReplicas", 0)
        conditions = {one["type"]: one for one in status["conditions"]}
        assert (conditions["Available"]["status"] == "True") == (
            ready >= spec["replicas"] - spec["replicas"] // 4
        )
        stuck = conditions["Progressing"]["reason"] == "ProgressDeadlineExceeded"
        if stuck:
            assert ready < spec["replicas"] or status.get("unavailableReplicas")
            since = parse(conditions["Progressing"]["lastTransitionTime"])
            assert since <= NOW


@every
def test_what_running_containers_refer_to_exists(name: str) -> None:
    known = keys(name)
    for pod in of_kind(name, "Pod"):
        namespace = pod["metadata"]["namespace"]
        state = {one["name"]: one["state"] for one in statuses(pod)}
        for one in containers(pod):
            waiting = state.get(one["name"], {}).get("waiting", {}).get("reason", "")
            missing = [
                (kind, reference["name"])
                for variable in one.get("env", [])
                for kind, reference in _references(variable)
                if reference["key"]
                not in known.get((kind, namespace, reference["name"]), {}).get("data", {})
            ]
            assert bool(missing) == (waiting == "CreateContainerConfigError"), (missing, waiting)
        for volume in pod["spec"]["volumes"]:
            if "configMap" in volume:
                assert ("ConfigMap", namespace, volume["configMap"]["name"]) in known
            if "persistentVolumeClaim" in volume:
                claim = volume["persistentVolumeClaim"]["claimName"]
                bound = known["PersistentVolumeClaim", namespace, claim]["status"]["phase"]
                assert (bound == "Bound") == ("nodeName" in pod["spec"])


def _references(variable: dict[str, Any]) -> Iterator[tuple[str, dict[str, str]]]:
    source = variable.get("valueFrom", {})
    if "configMapKeyRef" in source:
        yield "ConfigMap", source["configMapKeyRef"]
    if "secretKeyRef" in source:
        yield "Secret", source["secretKeyRef"]


@every
def test_services_have_the_endpoints_that_their_selector_gives(name: str) -> None:
    pods = of_kind(name, "Pod")
    for service in of_kind(name, "Service"):
        meta, selector = service["metadata"], service["spec"].get("selector")
        if not selector:
            continue
        ready = {
            pod["status"]["podIP"]
            for pod in pods
            if pod["metadata"]["namespace"] == meta["namespace"]
            and selector.items() <= pod["metadata"]["labels"].items()
            and "deletionTimestamp" not in pod["metadata"]
            and any(
                c["type"] == "Ready" and c["status"] == "True" for c in pod["status"]["conditions"]
            )
        }
        endpoints = keys(name)["Endpoints", meta["namespace"], meta["name"]]
        given = {
            row["ip"]
            for subset in endpoints.get("subsets", [])
            for row in subset.get("addresses", [])
        }
        assert given == ready


@every
def test_crashing_containers_left_a_log_of_their_last_run(name: str) -> None:
    for pod in of_kind(name, "Pod"):
        for status in statuses(pod):
            if status["state"].get("waiting", {}).get("reason") != "CrashLoopBackOff":
                continue
            last = status["lastState"]["terminated"]
            meta = pod["metadata"]
            text = world(name).logs(meta["namespace"], meta["name"], status["name"], True)
            assert text is not None
            assert world(name).logs(meta["namespace"], meta["name"], status["name"], False) == text
            if last["reason"] == "StartError":
                assert text == ""
                continue
            assert text
            for line in text.splitlines():
                when = line.split(" ", 1)[0]
                assert last["startedAt"][:19] <= when[:19] <= last["finishedAt"][:19]


@every
def test_no_log_line_of_an_incident_is_lost_outside_the_life_of_its_container(name: str) -> None:
    for path in sorted((ROOT / name).glob("logs/*/*/*.log")):
        namespace, folder = path.parts[-3], path.parts[-2]
        container = path.name.removesuffix(".log").removesuffix(".previous")
        found: list[str] = []
        for pod in of_kind(name, "Pod"):
            meta = pod["metadata"]
            if meta["namespace"] == namespace and meta["name"].startswith(folder.split(".")[0]):
                for previous in (True, False):
                    text = world(name).logs(namespace, meta["name"], container, previous)
                    found.append(text or "")
        written = path.read_text(encoding="utf-8").splitlines()
        ends = [line.split(" ", 1)[1].rsplit("{", 1)[-1].split("}")[-1] for line in written]
        for end in filter(None, ends):
            assert any(end in text for text in found), (path, end)


@every
def test_usage_is_measured_for_running_containers_alone(name: str) -> None:
    metrics = world(name).metrics
    pods = {(p["metadata"]["namespace"], p["metadata"]["name"]): p for p in of_kind(name, "Pod")}
    for where, used in metrics["pods"].items():
        running = {one["name"] for one in statuses(pods[where]) if "running" in one["state"]}
        assert set(used) == running
    if metrics["available"]:
        assert metrics["nodes"]
    else:
        assert not metrics["pods"] and not metrics["nodes"]


@every
def test_quotas_and_limits_hold(name: str) -> None:
    for quota in of_kind(name, "ResourceQuota"):
        for resource, used in quota["status"]["used"].items():
            amount = milli if resource.endswith("cpu") else plain_bytes
            assert amount(used) <= amount(quota["spec"]["hard"][resource])
    largest = plain_bytes("2Gi")
    for pod in of_kind(name, "Pod"):
        if pod["metadata"]["namespace"] == "shop":
            for one in pod["spec"]["containers"]:
                assert plain_bytes(one["resources"].get("limits", {}).get("memory", "0")) <= largest


@every
def test_each_incident_can_be_evaluated(name: str) -> None:
    assert (EVALS / name / "incident.toml").is_file()


def test_every_file_of_an_incident_is_read_by_somebody() -> None:
    known = {"scenario.toml", "objects.yaml"}
    known |= {f"{name}.toml" for name in ("exec", "hosts", "metrics", "permissions")}
    for path in ROOT.rglob("*"):
        if path.is_file() and path.suffix != ".log":
            assert path.name in known
