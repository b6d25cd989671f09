"""The world as the practice server asks it: logs, exec, usage, rights, names."""

from __future__ import annotations

import base64
from datetime import UTC, datetime, timedelta, timezone

import pytest

from truepenny.demo.timeline import parse
from truepenny.demo.world import World
from truepenny.errors import ConfigurationError

NOW = datetime(2026, 11, 30, 15, 0, tzinfo=UTC)


def name(world: World, reference: str) -> str:
    return world.find(reference)["metadata"]["name"]


def test_an_unknown_incident_offers_its_neighbours() -> None:
    with pytest.raises(ConfigurationError) as caught:
        World.load("checkout-om")
    assert "checkout-oom" in caught.value.remedy


@pytest.mark.parametrize("bad", ["", "_base", "..", "../demo", "healthy/"])
def test_a_name_is_never_a_path(bad: str) -> None:
    with pytest.raises(ConfigurationError):
        World.load(bad)


def test_now_may_be_in_any_zone() -> None:
    shifted = NOW.astimezone(timezone(timedelta(hours=5, minutes=30)))
    assert World.load("healthy", shifted).objects == World.load("healthy", NOW).objects


def test_names_are_stable_while_time_moves() -> None:
    later = World.load("checkout-oom", NOW + timedelta(minutes=7))
    first = World.load("checkout-oom", NOW)
    for world in (first, later):
        assert world.find("Pod/shop/checkout[0]")["spec"]["nodeName"] == "worker-1"
    assert name(first, "Pod/shop/checkout[1]") == name(later, "Pod/shop/checkout[1]")


def test_a_running_container_has_a_log_and_no_previous_one() -> None:
    world = World.load("checkout-oom", NOW)
    pod = name(world, "Pod/shop/frontend[0]")
    text = world.logs("shop", pod, "frontend", previous=False)
    assert text is not None and '"status":502' in text
    moments = [parse(line.split(" ", 1)[0][:26] + "Z") for line in text.splitlines()]
    assert moments == sorted(moments) and moments[-1] <= NOW
    assert world.logs("shop", pod, "frontend", previous=True) is None


def test_a_container_that_never_started_has_no_log() -> None:
    world = World.load("image-typo", NOW)
    pod = name(world, "Pod/shop/frontend[2]")
    assert world.logs("shop", pod, "frontend", previous=False) is None
    assert world.exec("shop", pod, "frontend", ["hostname"]) is None


def test_an_init_container_has_its_own_log() -> None:
    world = World.load("init-container", NOW)
    pod = name(world, "Pod/shop/checkout[0]")
    text = world.logs("shop", pod, "wait-for-schema", previous=True)
    assert text is not None and "permission denied" in text
    assert world.logs("shop", pod, "checkout", previous=False) is None


@pytest.mark.parametrize("where", [("shop", "nobody", "x"), ("nowhere", "postgres-0", "postgres")])
def test_what_is_not_there_has_no_log_and_answers_nothing(where: tuple[str, str, str]) -> None:
    world = World.load("healthy", NOW)
    assert world.logs(*where, previous=False) is None
    assert world.exec(*where, ["hostname"]) is None
    assert world.logs("shop", "postgres-0", "sidecar", previous=False) is None


def test_two_pods_of_one_workload_do_not_log_in_step() -> None:
    world = World.load("healthy", NOW)
    logs = [
        world.logs("shop", name(world, f"Pod/shop/cart[{n}]"), "cart", previous=False)
        for n in (0, 1)
    ]
    assert logs[0] != logs[1]


def test_exec_knows_its_canned_commands_alone() -> None:
    world = World.load("healthy", NOW)
    assert world.exec("shop", "postgres-0", "postgres", ["hostname"]) == (b"postgres-0\n", b"", 0)
    ready = world.exec("shop", "postgres-0", "postgres", ["pg_isready", "-U", "shop"])
    assert ready is not None and ready[2] == 0
    assert world.exec("shop", "postgres-0", "postgres", ["rm", "-rf", "/"]) is None


def test_the_environment_of_a_container_leaks_as_it_would() -> None:
    world = World.load("healthy", NOW)
    printed = world.exec("shop", name(world, "Pod/shop/payments[0]"), "payments", ["env"])
    assert printed is not None
    secret = world.find("Secret/shop/payments-provider")["data"]["api-key"]
    assert base64.b64decode(secret) in printed[0]


def test_a_world_may_have_no_metrics_and_few_rights() -> None:
    assert World.load("hpa-no-metrics", NOW).metrics["available"] is False
    assert World.load("healthy", NOW).permissions == {}
    limited = World.load("restricted-access", NOW).permissions
    assert any("nodes" in rule["resources"] for rule in limited["deny"])


def test_a_silent_node_is_not_measured() -> None:
    world = World.load("node-not-ready", NOW)
    assert "worker-2" not in world.metrics["nodes"]
    lost = name(world, "Pod/shop/cart[1]")
    assert ("shop", lost) not in world.metrics["pods"]
