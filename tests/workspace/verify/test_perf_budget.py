"""Budgets and baseline files."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from truepenny.workspace.verify.host import host_facts
from truepenny.workspace.verify.perf_budget import (
    Baseline,
    UnusableBaseline,
    decode,
    differences,
    judge,
)

HOST = host_facts()


def test_the_limit_itself_passes_and_the_ratio_is_for_people() -> None:
    assert judge(150.0, 100.0, 0.5).passed
    over = judge(150.0001, 100.0, 0.5)
    assert not over.passed
    assert over.ratio == 1.5


@given(st.floats(0.001, 1e7), st.text(max_size=30).filter(str.isprintable))
def test_what_is_recorded_is_read_back(wall: float, name: str) -> None:
    baseline = Baseline("speed", wall, "2026-01-01T00:00:00.000Z", replace(HOST, cpuModel=name))
    assert decode(baseline.encode(), "speed") == baseline


def test_version_1_is_read_without_a_host() -> None:
    found = decode(b'{"version": 1, "check": "a", "wallTimeMs": 5}', "a")
    assert (found.wall_ms, found.version, found.host) == (5.0, 1, None)
    assert differences(found.host, HOST) == {"host": ("unknown", HOST.hostname)}


@pytest.mark.parametrize(
    "change",
    [
        {"version": 3}, {"version": True}, {"version": "2"}, {"check": "other"},
        {"wallTimeMs": 0}, {"wallTimeMs": -1}, {"wallTimeMs": True}, {"wallTimeMs": "5"},
        {"wallTimeMs": float("inf")}, {"wallTimeMs": float("nan")}, {"recordedAt": 5},
        {"host": None}, {"host": {}}, {"host": {"hostname": 5}},
    ],
    ids=str,
)  # fmt: skip
def test_what_is_no_baseline(change: dict[str, Any]) -> None:
    value = json.loads(Baseline("a", 5.0, "", HOST).encode())
    assert decode(json.dumps(value).encode(), "a").wall_ms == 5.0
    with pytest.raises(UnusableBaseline):
        decode(json.dumps(value | change).encode(), "a")


@pytest.mark.parametrize("data", [b"", b"[]", b"\xff", b"[" * 100_000])
def test_what_is_not_even_an_object(data: bytes) -> None:
    with pytest.raises(UnusableBaseline):
        decode(data, "a")


def test_hosts_differ_by_name() -> None:
    other = replace(HOST, cpuCount=HOST.cpuCount + 1, nodeVersion="v20")
    assert differences(other, HOST) == {"cpuCount": (HOST.cpuCount + 1, HOST.cpuCount)}
    assert differences(HOST, HOST) == {}
