from __future__ import annotations

import re
from dataclasses import fields, replace
from itertools import product
from pathlib import Path

import pytest

from truepenny.sandbox.gap import GAPS, Situation, gaps, meaning
from truepenny.sandbox.level import Level, LimitLayout
from truepenny.sandbox.plan import Account, Mode, Mount, Network, Plan, Profile, ResourceLimits

PLAN = Plan(Profile.COMMAND, (), Path("/"), Account("nobody", 65534, 65534, drop=False))
SOCKET = Mount(Mode.READ, Path("/run/ours.sock"), "ours", source=Path("/run/ours.sock"))
WRITABLE = Mount(Mode.WRITE, Path("/w"), "the workspace", source=Path("/w"))
UNLIMITED = ResourceLimits(memory=None, processes=None, cpu=None)
NEWEST = 7


def at(
    level: Level,
    *,
    plan: Plan = PLAN,
    limits: LimitLayout = LimitLayout.CGROUP_V2,
    landlock: int | None = NEWEST,
    unprotected: bool = False,
) -> tuple[str, ...]:
    known = landlock if level is Level.LANDLOCK else None
    return gaps(Situation(plan, level, limits, known, unprotected))


def test_bubblewrap_with_a_group_has_sockets_in_what_it_shows_alone() -> None:
    assert at(Level.BWRAP) == ("shown_sockets",)
    assert at(Level.BWRAP, plan=replace(PLAN, network=Network.PROXY)) == ("shown_sockets",)
    assert at(Level.BWRAP, limits=LimitLayout.CGROUP_V1) == ("shown_sockets",)


def test_the_machines_network_brings_its_abstract_sockets() -> None:
    host = replace(PLAN, network=Network.HOST)
    assert at(Level.BWRAP, plan=host) == ("shown_sockets", "abstract_sockets")


def test_landlock() -> None:
    assert at(Level.LANDLOCK) == ("attributes", "scheduling")
    assert at(Level.LANDLOCK, unprotected=True) == ("protected_paths", "attributes", "scheduling")
    assert "signals" in at(Level.LANDLOCK, landlock=5)
    assert "signals" not in at(Level.LANDLOCK, landlock=6)


@pytest.mark.parametrize(
    "plan", [replace(PLAN, network=Network.HOST), replace(PLAN, sockets=(SOCKET,))]
)
def test_landlock_where_something_may_be_connected_to(plan: Plan) -> None:
    assert "socket_files" in at(Level.LANDLOCK, plan=plan)
    assert "abstract_sockets" not in at(Level.LANDLOCK, plan=plan)
    assert "abstract_sockets" in at(Level.LANDLOCK, plan=plan, landlock=5)


@pytest.mark.parametrize("level", Level)
def test_what_is_left_in_a_writable_folder_is_told_at_every_level(level: Level) -> None:
    assert "left_behind" in at(level, plan=replace(PLAN, mounts=(WRITABLE,)))


def test_no_walls_at_all() -> None:
    found = at(Level.NONE)
    assert {"files", "network", "processes", "system_calls", "socket_files"} <= set(found)
    # What the plan allows is no gap.
    assert "network" not in at(Level.NONE, plan=replace(PLAN, network=Network.HOST))


@pytest.mark.parametrize("level", Level)
def test_limits_for_each_process_are_not_limits_for_the_run(level: Level) -> None:
    found = set(at(level, limits=LimitLayout.RLIMITS)) - set(at(level))
    ended = set[str]() if level is Level.BWRAP else {"stragglers"}
    assert found == {"limits_per_process", "processor_time"} | ended
    unlimited = replace(PLAN, limits=UNLIMITED)
    without = at(level, plan=unlimited, limits=LimitLayout.RLIMITS)
    assert set(without) - set(at(level)) == ended


def situations(level: Level) -> list[Situation]:
    """Every start that differs in what a gap asks for; flags that a level never has are left."""
    flags = [one.name for one in fields(Situation) if one.type == "bool"]
    plans = [
        *(replace(PLAN, network=network) for network in Network),
        replace(PLAN, sockets=(SOCKET,)),
        replace(PLAN, limits=UNLIMITED),
        replace(PLAN, mounts=(WRITABLE,)),
    ]
    versions = (5, 7) if level is Level.LANDLOCK else (None,)
    return [
        replace(Situation(plan, level, limits, version), **flagged)
        for plan, limits, version in product(plans, LimitLayout, versions)
        for flagged in ({}, *({flag: True} for flag in flags))
        if level is Level.BWRAP or not {"swappable", "linkable"} & set(flagged)
    ]


AT_MOUNTING = ("late_swap", "late_link")
"""Gaps of making mounts, which only one level does."""

STATES = {(False,): "held", (True,): "open", (False, True): "depends"}


def rows() -> list[str]:
    """Return the rows of the table in docs/containment.md."""
    found: list[str] = []
    for gap in GAPS:
        cells = [
            STATES[tuple(sorted({gap.open(one) for one in situations(level)}))]
            if level is Level.BWRAP or gap.word not in AT_MOUNTING
            else "does not arise"
            for level in Level
        ]
        found.append(f"| `{gap.word}` | {' | '.join(cells)} | {gap.meaning} |")
    return found


def test_every_gap_is_open_somewhere_and_closed_somewhere_else() -> None:
    for gap in GAPS:
        found = {gap.open(one) for level in Level for one in situations(level)}
        assert found == {True, False}, gap.word


def test_the_documentation_shows_all_of_them_as_they_are() -> None:
    text = (Path(__file__).parents[2] / "docs/containment.md").read_text(encoding="utf-8")
    table = text.partition("## What a level cannot stop")[2]
    assert re.findall(r"^\| `.*\|$", table, re.MULTILINE) == rows()


def test_each_word_is_one_and_has_its_sentence() -> None:
    words = [gap.word for gap in GAPS]
    assert len(words) == len(set(words))
    for word in words:
        assert meaning(word).endswith(".")
        assert word == word.lower()
    with pytest.raises(KeyError):
        meaning("nothing")
