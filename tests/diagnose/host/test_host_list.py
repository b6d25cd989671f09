"""The list of hosts: pages that add up, and no secret in any of them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from truepenny.execute.ending import Outcome

from .conftest import World

pytestmark = pytest.mark.anyio

BARE: dict[str, Any] = {"user": "ops", "auth": "password", "password": "correct-horse-9"}


def fill(world: World) -> None:
    for number in range(5):
        world.entries[f"web-{number}"] = {**BARE, "address": f"10.0.0.{number}"}
    world.entries["db"] = {
        **BARE,
        "address": "10.1.0.1",
        "port": 2222,
        "jump": "web-0",
        "description": "orders, primary",
        "production": True,
    }
    world.entries["lost"] = {**BARE, "address": "10.2.0.1", "password": "env:NOT_SET_HERE"}


async def test_a_host_is_described_without_its_secrets(world: World) -> None:
    fill(world)
    result = await world.list(query="ORDERS")
    assert json.loads(result.text) == result.facts.detail
    assert result.facts.detail == {
        "hosts": [
            {
                "name": "db",
                "address": "10.1.0.1",
                "port": 2222,
                "user": "ops",
                "auth": "password",
                "is_production": True,
                "description": "orders, primary",
                "jump_host": "web-0",
            }
        ],
        "total": 1,
        "next_cursor": None,
    }
    whole = await world.list()
    assert "correct-horse" not in repr(whole)
    assert "NOT_SET_HERE" not in repr(whole)
    (lost,) = [one for one in whole.facts.detail["hosts"] if one["name"] == "lost"]
    assert lost["problem"].startswith("hosts.lost.password: ")


async def test_pages_hold_every_host_once(world: World) -> None:
    fill(world)
    seen, cursor = list[str](), None
    for _ in range(9):
        more = {} if cursor is None else {"cursor": cursor}
        page = await world.list(limit=3, **more)
        seen += [one["name"] for one in page.facts.detail["hosts"]]
        assert page.facts.detail["total"] == 7
        assert page.facts.completeness.state == "partial"
        cursor = page.facts.detail["next_cursor"]
        assert page.facts.completeness.next == (f"host_list cursor={cursor}" if cursor else "")
        if cursor is None:
            break
    assert seen == list(world.entries)


async def test_nothing_found_and_nothing_bound_are_two_answers(world: World) -> None:
    result = await world.list()
    assert (result.outcome, result.facts.reason) == (Outcome.NO_MATCH, "no_host")
    assert "hosts.NAME" in result.facts.hint
    fill(world)
    result = await world.list(query="nope")
    assert (result.outcome, result.facts.reason) == (Outcome.NO_MATCH, "nothing_found")
    result = await world.list(cursor="nope")
    assert result.outcome is Outcome.INVALID_ARGUMENTS
