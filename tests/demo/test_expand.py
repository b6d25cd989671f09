"""Shorthand into objects: time tokens, merging, names, endpoints, log lines."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from truepenny.demo import identity
from truepenny.demo.expand.build import Build
from truepenny.demo.expand.keys import KNOWN, check
from truepenny.demo.expand.plain import expand_object
from truepenny.demo.expand.pod import quality
from truepenny.demo.journal import Instance, read_log
from truepenny.demo.merge import merged
from truepenny.demo.quantity import milli, plain_bytes, write_bytes, write_milli
from truepenny.demo.timeline import Timeline, duration, parse, seconds
from truepenny.demo.world import World
from truepenny.errors import ConfigurationError

NOW = datetime(2026, 11, 30, 15, 0, tzinfo=UTC)
LINE = Timeline(NOW)

scalars = st.none() | st.booleans() | st.integers() | st.text(max_size=5)
trees = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(st.integers(0, 90), st.integers(0, 23), st.integers(0, 59), st.integers(0, 59))
def test_durations_read_what_was_written(days: int, hours: int, minutes: int, secs: int) -> None:
    expected = timedelta(days=days, hours=hours, minutes=minutes, seconds=secs)
    assert duration(f"{days}d{hours}h{minutes}m{secs}s") == expected
    assert LINE.resolve(f"@-{days}d{hours}h{minutes}m{secs}s") == seconds(NOW - expected)
    assert parse(LINE.resolve(f"x {{@+{secs}s}}").removeprefix("x ")) == NOW + timedelta(
        seconds=secs
    )


@pytest.mark.parametrize("bad", ["", "5", "m", "5x", "5m ", "-5m", "1h-2m", "5 m"])
def test_what_is_no_duration_is_refused(bad: str) -> None:
    with pytest.raises(ConfigurationError):
        duration(bad)


@pytest.mark.parametrize("text", ["a@-5m", "@5m", "@-", "{@}", "{-5m}", "mail@-example"])
def test_text_without_a_token_stays(text: str) -> None:
    assert LINE.resolve(text) == text


@given(trees, trees)
def test_merging_is_a_merge_patch_and_changes_nothing_it_was_given(under: Any, over: Any) -> None:
    before = repr((under, over))
    result = merged(under, over)
    assert repr((under, over)) == before
    if not isinstance(over, dict):
        assert result == over
        return
    for key, value in over.items():
        if value is None:
            assert key not in result
    assert merged(result, over) == result


@given(st.integers(0, 10**7), st.integers(0, 2**45))
def test_quantities_are_written_without_loss(cpu: int, memory: int) -> None:
    assert milli(write_milli(cpu)) == cpu
    assert plain_bytes(write_bytes(memory)) == memory


@given(st.text(max_size=20))
def test_made_up_names_are_legal_and_repeatable(key: str) -> None:
    assert identity.letters(key, 10) == identity.letters(key, 10)
    assert identity.letters(key, 10).isalnum() and not set(identity.letters(key, 10)) & set(
        "aeiou01"
    )
    assert len(identity.hexadecimal(key)) == 64


@pytest.mark.parametrize(
    ("resources", "expected"),
    [
        ({}, "BestEffort"),
        ({"requests": {"cpu": "1"}}, "Burstable"),
        ({"limits": {"cpu": "1", "memory": "1Gi"}}, "Guaranteed"),
        ({"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "500m"}}, "Burstable"),
    ],
)
def test_quality_of_service_follows_the_resources(resources: Any, expected: str) -> None:
    assert quality({"containers": [{"resources": resources}]}) == expected


def test_a_kind_that_nobody_serves_is_refused() -> None:
    with pytest.raises(ConfigurationError):
        expand_object(Build(LINE), "Gadget/shop/x", {})


def test_a_reference_to_nothing_is_refused() -> None:
    build = Build(LINE)
    for reference in ("Pod/shop/x", "Pod/shop/x[0]", "ReplicaSet/shop/x[]", "Node/x"):
        with pytest.raises(ConfigurationError):
            build.find(reference)


def test_a_named_target_port_that_no_pod_has_gives_no_endpoint() -> None:
    world = World.load("service-port", NOW)
    wrong = world.find("Endpoints/shop/catalog")["subsets"][0]["ports"]
    assert wrong[0]["port"] == 9090  # a number is believed
    assert "subsets" not in World.load("service-selector", NOW).find("Endpoints/shop/cart")


def test_history_keeps_what_each_revision_was() -> None:
    world = World.load("checkout-oom", NOW)
    sets = [
        item
        for item in world.objects
        if item["kind"] == "ReplicaSet"
        and item["metadata"]["ownerReferences"][0]["name"] == "checkout"
    ]
    limits = {
        item["metadata"]["annotations"]["deployment.kubernetes.io/revision"]: item["spec"][
            "template"
        ]["spec"]["containers"][0]["resources"]["limits"]["memory"]
        for item in sets
    }
    assert limits == {"1": "512Mi", "2": "512Mi", "3": "512Mi", "4": "64Mi"}
    assert len({item["metadata"]["labels"]["pod-template-hash"] for item in sets}) == len(sets)


def log(tmp_path: Path, text: str, run: Instance) -> list[str]:
    path = tmp_path / "c.log"
    path.write_text(text, encoding="utf-8")
    return read_log(path, run, LINE, str, {"{host}": "pod-1", "{ip}": "10.0.0.9"}).splitlines()


def test_log_lines_stand_where_they_were_written(tmp_path: Path) -> None:
    run = Instance(NOW - timedelta(minutes=10), NOW)
    lines = log(tmp_path, "@-1m late {host}\n+1.5s early\n  at Trace\n@-20m before\n", run)
    assert [line.split(" ", 1)[1] for line in lines] == ["early", "  at Trace", "late pod-1"]
    assert lines[0].startswith("2026-11-30T14:50:01.500000")


def test_repeats_end_with_the_run_or_with_their_count(tmp_path: Path) -> None:
    run = Instance(NOW - timedelta(minutes=10), NOW - timedelta(minutes=5))
    assert len(log(tmp_path, "+0s/10s*4 tick {n}\n", run)) == 4
    endless = log(tmp_path, "+0s/10s tick {n}\n", run)
    assert 25 <= len(endless) <= 31
    assert endless[1].endswith("tick 2")


@given(
    st.text(
        alphabet=st.characters(
            codec="utf-8", exclude_characters="\r\n\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
        ),
        max_size=40,
    )
)
def test_no_text_breaks_a_log(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    run = Instance(NOW - timedelta(minutes=1), NOW)
    lines = log(tmp_path_factory.mktemp("log"), f"+1s {text}\n", run)
    assert len(lines) == 1


@pytest.mark.parametrize(
    ("piece", "key", "near"),
    [("workload", "replica", "replicas"), ("state", "restart", "restarts"), ("event", "on", "")],
)
def test_a_misspelt_key_is_an_error_not_another_story(piece: str, key: str, near: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        check(piece, [key], "here")
    assert near in caught.value.remedy
    check(piece, KNOWN[piece], "here")
