"""Reads of the practice cluster with the real kubectl, in good and bad weather."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from truepenny.demo.cluster import PracticeCluster
from truepenny.demo.world import World
from truepenny.diagnose.cluster import Cluster, Clusters
from truepenny.diagnose.kubectl_program import Kubectl
from truepenny.diagnose.reader import Reader
from truepenny.execute.ending import Cause, Leg, Outcome
from truepenny.tool.result import Result

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(
        not Path(Kubectl(os.environ, Path()).find()).is_file(), reason="no kubectl is installed"
    ),
]

SHOP = "checkout-oom"


def reader_of(practice: PracticeCluster) -> Reader:
    cluster = Clusters.from_kubeconfig(practice.kubeconfig, env=os.environ).get(None)
    assert isinstance(cluster, Cluster)
    return Reader(cluster)


@pytest.fixture(scope="module")
def reader() -> Iterator[Reader]:
    with PracticeCluster(World.load(SHOP, datetime.now(UTC))) as practice:
        yield reader_of(practice)


@asynccontextmanager
async def faulty(*faults: str) -> AsyncIterator[Reader]:
    with PracticeCluster(World.load(SHOP, datetime.now(UTC)), faults) as practice:
        yield reader_of(practice)


async def read(reader: Reader, line: str, timeout: float = 30.0) -> Result:
    return (await reader.read(line.split(), timeout=timeout)).result


@pytest.mark.parametrize(
    "line",
    [
        "get pods -n shop -o wide",
        "get deploy,svc -n shop",
        "get secrets -A",
        "describe pod -n shop -l app=checkout",
        "describe secret -n shop",
        "logs deploy/checkout -n shop",
        "logs deploy/checkout -n shop --previous --tail=3",
        "events -n shop",
        "top pods -n shop",
        "top nodes",
        "explain pod.spec",
        "api-resources",
        "api-versions",
        "version -o json",
        "cluster-info",
        "auth can-i get pods",
        "auth can-i --list",
        "auth whoami",
        "rollout history deploy/checkout -n shop",
    ],
)
async def test_every_read_verb_answers(reader: Reader, line: str) -> None:
    result = await read(reader, line)
    assert result.outcome is Outcome.SUCCESS
    assert result.text.strip()
    assert result.facts.source["cluster"] == "demo"


@pytest.mark.parametrize(
    ("line", "outcome", "reason"),
    [
        ("get pods -n nope", Outcome.NO_MATCH, "nothing_found"),
        ("get pods -n nope -o json", Outcome.NO_MATCH, "nothing_found"),
        ("describe pods -n nope", Outcome.NO_MATCH, "nothing_found"),
        ("events -n nope", Outcome.NO_MATCH, "nothing_found"),
        ("get pod nope -n shop", Outcome.NO_MATCH, "not_found"),
        ("logs nope -n shop", Outcome.NO_MATCH, "not_found"),
        ("get ns nope -o json", Outcome.NO_MATCH, "not_found"),
        ("get nonsense", Outcome.INVALID_ARGUMENTS, "unknown_resource"),
        ("logs deploy/checkout -c nope -n shop", Outcome.INVALID_ARGUMENTS, "container"),
        ("get pods --field-selector=x=y", Outcome.INVALID_ARGUMENTS, "field_selector"),
        ("get pods --chunk-size=x", Outcome.INVALID_ARGUMENTS, "usage"),
        ("explain pod.nope", Outcome.INVALID_ARGUMENTS, "unknown_field"),
    ],
)
async def test_answers_that_are_no_rows(
    reader: Reader, line: str, outcome: Outcome, reason: str
) -> None:
    result = await read(reader, line)
    assert (result.outcome, result.facts.reason) == (outcome, reason)


async def test_a_no_of_can_i_is_an_answer(reader: Reader) -> None:
    result = await read(reader, "auth can-i delete pods")
    assert result.outcome is Outcome.SUCCESS
    assert result.facts.detail["allowed"] is False


async def test_a_document_is_the_object_without_its_secrets(reader: Reader) -> None:
    reading = await reader.read(["get", "pods", "-A", "-o", "json"], max_bytes=20_000)
    shown = json.loads(reading.result.text)
    assert len(reading.value["items"]) == reading.result.facts.completeness.total
    assert len(shown["items"]) == reading.result.facts.completeness.shown
    assert reading.value["items"][: len(shown["items"])] == shown["items"]


async def test_a_document_may_stay_unwritten_and_is_the_same(reader: Reader) -> None:
    argv = ["get", "pods", "-A", "-o", "json"]
    bare = await reader.read(argv, max_bytes=20_000, written=False)
    assert (bare.result.text, bare.result.outcome) == ("", Outcome.SUCCESS)
    assert bare.value == (await reader.read(argv)).value
    assert bare.result.facts.completeness.state == "complete"
    # What is no document is told all the same.
    gone = await reader.read(["get", "pod", "nope", "-o", "json"], written=False)
    assert gone.value is None and "nope" in gone.result.text


async def test_some_of_several_objects_are_a_partial_answer(reader: Reader) -> None:
    result = await read(reader, "get deploy checkout nope -n shop")
    assert (result.outcome, result.facts.reason) == (Outcome.TARGET_FAILED, "not_found")
    assert result.facts.completeness.state == "partial"


async def test_events_that_describe_could_not_show_are_asked_for(reader: Reader) -> None:
    async with faulty("status:503:events") as blind:
        result = await read(blind, "describe deploy checkout -n shop")
    assert result.facts.hint == "kubectl events --for deploy/checkout -n shop"


@pytest.mark.parametrize(
    ("fault", "line", "outcome", "reason"),
    [
        ("status:403:pods/log", "logs deploy/checkout -n shop", Outcome.TARGET_FAILED, "forbidden"),
        ("status:401", "get pods -n shop", Outcome.CHANNEL_FAILED, "unauthorized"),
        ("status:500", "get pods -n shop", Outcome.CHANNEL_FAILED, "server_error"),
        ("status:503:list", "get pods -n shop", Outcome.CHANNEL_FAILED, "server_error"),
        ("cut:logs", "logs deploy/checkout -n shop", Outcome.CHANNEL_FAILED, "stream_cut"),
        ("cut:list", "get pods -n shop -o json", Outcome.CHANNEL_FAILED, "stream_cut"),
        ("garbage:list", "get pods -n shop -o json", Outcome.CHANNEL_FAILED, "bad_answer"),
        ("refuse", "get pods -n shop", Outcome.CHANNEL_FAILED, "transport"),
        ("refuse", "version -o json", Outcome.CHANNEL_FAILED, "transport"),
    ],
)
async def test_bad_weather_is_never_an_answer(
    fault: str, line: str, outcome: Outcome, reason: str
) -> None:
    async with faulty(fault) as reader:
        reading = await reader.read(line.split())
    result = reading.result
    assert (result.outcome, result.facts.reason) == (outcome, reason)
    assert (result.facts.leg is Leg.TRANSPORT) == (outcome is Outcome.CHANNEL_FAILED)
    assert result.facts.completeness.state != "complete"
    assert reading.value is None


async def test_a_server_that_always_says_later_is_no_cut_stream() -> None:
    async with faulty("status:429:list") as reader:
        result = await read(reader, "get pods -n shop", timeout=6.0)
    # On a machine that is busy the limit may pass while kubectl still connects.
    assert result.outcome is Outcome.CHANNEL_FAILED
    assert result.facts.reason in ("timeout", "transport")
    assert result.facts.completeness.state == "unknown"


async def test_a_server_that_hangs_is_given_up_in_time() -> None:
    async with faulty("hang:/api*") as reader:
        result = await read(reader, "get pods", timeout=2.0)
    assert (result.outcome, result.facts.cause) == (Outcome.INTERRUPTED, Cause.TIMEOUT)
    assert (result.facts.leg, result.facts.reason) == (None, "")
    assert result.facts.duration < 6


async def test_a_cache_that_cannot_be_written_costs_speed_alone(reader: Reader) -> None:
    cluster = reader.cluster
    readonly = replace(cluster, kubectl=replace(cluster.kubectl, cache=Path("/proc/no")))
    assert (await read(Reader(readonly), "get pods -n shop")).outcome is Outcome.SUCCESS


@pytest.mark.parametrize(
    ("user", "outcome", "reason"),
    [
        ({"token": "wrong"}, Outcome.CHANNEL_FAILED, "unauthorized"),
        ({"exec": {"command": "no-such"}}, Outcome.MISSING_DEPENDENCY, "credential_plugin"),
        ({"exec": {"command": "false"}}, Outcome.CHANNEL_FAILED, "credential_plugin"),
    ],
)
async def test_credentials_that_do_not_work(
    reader: Reader, tmp_path: Path, user: dict[str, Any], outcome: Outcome, reason: str
) -> None:
    config = yaml.safe_load(Path(reader.cluster.kubeconfig).read_text(encoding="utf-8"))
    if "exec" in user:
        user["exec"] |= {
            "apiVersion": "client.authentication.k8s.io/v1",
            "interactiveMode": "Never",
        }
    config["users"][0]["user"] = user
    (tmp_path / "config").write_text(yaml.safe_dump(config), encoding="utf-8")
    cluster = Clusters.from_kubeconfig(tmp_path / "config", env=os.environ).get(None)
    assert isinstance(cluster, Cluster)
    result = await read(Reader(cluster), "get pods -n shop")
    assert (result.outcome, result.facts.reason) == (outcome, reason)
    assert result.facts.completeness.state == "unknown"
