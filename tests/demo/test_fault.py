"""Faults: how they are written, whom they strike, and what a client sees."""

from __future__ import annotations

import http.client
import socket
from pathlib import Path

import pytest

from tests.demo.practice import Kubectl, SmallWorld, binaries, fetch, make
from truepenny.demo.cluster import PracticeCluster
from truepenny.demo.fault import Fault, FaultPlan
from truepenny.errors import UsageError

PODS = "/api/v1/namespaces/shop/pods"


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("slow:300ms", {"action": "slow", "delay": 0.3}),
        ("slow:2s:list", {"delay": 2.0, "verb": "list"}),
        ("status:403:pods/log", {"status": 403, "resource": "pods/log", "retry_after": None}),
        ("status:429", {"status": 429, "retry_after": 1}),
        ("status:429:after=7:x2", {"retry_after": 7, "times": 2}),
        ("status:500:0.3", {"status": 500, "probability": 0.3}),
        ("cut:logs", {"action": "cut", "resource": "pods/log"}),
        ("garbage:discovery", {"path": "discovery"}),
        ("hang:/apis", {"path": "/apis"}),
        ("refuse", {"action": "refuse"}),
        ("flap:list", {"action": "flap", "verb": "list"}),
    ],
)
def test_faults_read(written: str, expected: dict[str, object]) -> None:
    fault = Fault.parse(written)
    assert {name: getattr(fault, name) for name in expected} == expected
    assert fault.written == written


@pytest.mark.parametrize(
    "written", ["", "explode", "status", "status:200", "slow", "slow:2h", "slow:0s", "cut:A B"]
)
def test_a_fault_that_does_not_read_is_named(written: str) -> None:
    with pytest.raises(UsageError) as caught:
        Fault.parse(written)
    assert caught.value.remedy


def test_targets() -> None:
    log = (f"{PODS}/p/log", "get", "pods/log")
    pods = (PODS, "list", "pods")
    index = ("/apis", "", "")
    for written, hits in (
        ("status:500", {log, pods, index}),
        ("status:500:logs", {log}),
        ("status:500:list", {pods}),
        ("status:500:list:pods", {pods}),
        ("status:500:discovery", {index}),
        ("status:500:/api/v1/namespaces/shop", {log, pods}),
        ("status:500:get:pods", set[tuple[str, str, str]]()),
    ):
        fault = Fault.parse(written)
        assert {request for request in (log, pods, index) if fault.matches(*request)} == hits


def test_a_share_strikes_the_same_requests_in_each_run() -> None:
    def run() -> list[bool]:
        plan = FaultPlan([Fault.parse("status:500:0.3")])
        return [bool(plan.choose(PODS, "list", "pods")) for _ in range(200)]

    first = run()
    assert first == run()
    assert 30 <= sum(first) <= 90
    never = FaultPlan([Fault.parse("status:500:0.0")])
    assert not any(never.choose(PODS, "list", "pods") for _ in range(50))


def test_a_counted_fault_ends_and_only_one_failure_strikes_at_once() -> None:
    plan = FaultPlan([Fault.parse("status:429:x2"), Fault.parse("status:500:x1")])
    told = [[f.status for f in plan.choose(PODS, "list", "pods")] for _ in range(4)]
    assert told == [[429], [429], [500], []]


def _world() -> SmallWorld:
    return SmallWorld([make("Pod", "p", spec={"containers": [{"name": "c"}]}, status={})])


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (401, "Unauthorized"),
        (403, "Forbidden"),
        (429, "TooManyRequests"),
        (500, "InternalError"),
        (503, "ServiceUnavailable"),
    ],
)
def test_statuses_are_answered_as_status_objects(code: int, reason: str) -> None:
    with PracticeCluster(_world(), [f"status:{code}:x1"]) as cluster:
        failed = fetch(cluster, PODS)
        assert (failed.status, failed.json["reason"], failed.json["code"]) == (code, reason, code)
        assert failed.headers.get("retry-after") == ("1" if code == 429 else None)
        assert fetch(cluster, PODS).status == 200
        assert [record.status for record in cluster.requests] == [code, 200]


def test_a_cut_body_is_seen_as_incomplete() -> None:
    with PracticeCluster(_world(), ["cut"]) as cluster:
        with pytest.raises(http.client.IncompleteRead) as caught:
            fetch(cluster, PODS)
        assert caught.value.partial
        with pytest.raises(http.client.IncompleteRead):
            fetch(cluster, f"{PODS}?watch=1")


def test_garbage_is_no_json() -> None:
    with PracticeCluster(_world(), ["garbage:pods"]) as cluster:
        answer = fetch(cluster, PODS)
        assert answer.status == 200
        with pytest.raises(ValueError):
            _ = answer.json


def test_a_hanging_server_answers_nothing_and_still_stops() -> None:
    with PracticeCluster(_world(), ["hang"]) as cluster:
        with pytest.raises(TimeoutError):
            fetch(cluster, PODS, timeout=0.2)
        assert [record.status for record in cluster.requests] == [0]


def test_a_refusing_server_refuses_connections() -> None:
    with PracticeCluster(_world(), ["refuse"]) as cluster, pytest.raises(ConnectionRefusedError):
        fetch(cluster, PODS)


def test_slowness_takes_the_told_time_on_the_clock() -> None:
    from truepenny.system.clock import ManualClock

    clock = ManualClock()
    with PracticeCluster(_world(), ["slow:90s:pods"], clock=clock) as cluster:
        assert fetch(cluster, PODS).status == 200
        assert fetch(cluster, "/version").status == 200
    assert clock.monotonic() == 90


def test_kubectl_sees_faults_as_from_a_real_server(tmp_path: Path) -> None:
    if not binaries():
        pytest.fail("no kubectl: ./dev installs one")
    for fault, call, said in (
        ("status:401", ("get", "pods"), "You must be logged in"),
        ("status:403:pods", ("get", "pods"), "(Forbidden)"),
        ("status:503:pods", ("get", "pods"), "ServiceUnavailable"),
        ("garbage:pods", ("get", "pods"), "invalid character"),
        ("cut:pods", ("get", "pods"), "unexpected EOF"),
        ("refuse", ("get", "pods"), "was refused"),
    ):
        with PracticeCluster(_world(), [fault]) as cluster:
            done = Kubectl(cluster, tmp_path / fault, binaries()[0])(*call)
        assert done.returncode == 1, fault
        assert said in done.stderr, fault


def test_faults_of_exec(tmp_path: Path) -> None:
    if not binaries():
        pytest.fail("no kubectl: ./dev installs one")
    spec = {"containers": [{"name": "c"}]}
    status = {"phase": "Running", "containerStatuses": [{"name": "c", "state": {"running": {}}}]}
    world = SmallWorld([make("Pod", "p", spec=spec, status=status)])
    world.commands["hostname"] = (b"p\n", b"", 0)
    for fault, printed in (
        ("status:403:exec", ""),
        ("garbage:exec", "p\n"),
        ("cut:exec", "p\n"),
        ("slow:1ms:exec", "p\n"),
    ):
        with PracticeCluster(world, [fault]) as cluster:
            kubectl = Kubectl(cluster, tmp_path / fault, binaries()[0])
            done = kubectl("exec", "-n", "shop", "p", "--", "hostname")
        assert done.stdout == printed, fault
        assert (done.returncode == 0) is fault.startswith("slow"), fault


def test_kubectl_waits_out_a_429(tmp_path: Path) -> None:
    if not binaries():
        pytest.fail("no kubectl: ./dev installs one")
    with PracticeCluster(_world(), ["status:429:pods:x1:after=0"]) as cluster:
        done = Kubectl(cluster, tmp_path, binaries()[0])("get", "pods", "-n", "shop")
        statuses = [r.status for r in cluster.requests if r.resource == "pods"]
    assert (done.returncode, statuses) in ((0, [429, 200]), (1, [429]))


def test_an_occupied_port_is_a_clear_error() -> None:
    from truepenny.errors import CouldNotRun

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen(1)
        port = taken.getsockname()[1]
        with pytest.raises(CouldNotRun) as caught, PracticeCluster(_world(), port=port):
            pass
    assert str(port) in caught.value.message


def test_a_flapping_server_takes_turns_by_the_number_of_the_request() -> None:
    plan = FaultPlan([Fault.parse("flap:list")])
    seen = [
        [(fault.action, fault.status) for fault in plan.choose(PODS, "list", "pods")]
        for _ in range(5)
    ]
    assert seen == [[("cut", 0)], [("status", 503)], [], [("cut", 0)], [("status", 503)]]
    assert plan.choose("/apis", "", "") == ()


def test_a_flapping_server_comes_to_rest_after_a_count() -> None:
    plan = FaultPlan([Fault.parse("flap:x3")])
    struck = [len(plan.choose(PODS, "list", "pods")) for _ in range(7)]
    assert struck == [1, 1, 0, 1, 0, 0, 0]
