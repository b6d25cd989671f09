"""The rules over the practice worlds, without a server: fast, and every incident."""

from __future__ import annotations

from functools import partial

import anyio
import pytest

from truepenny.demo.world import World, scenarios
from truepenny.diagnose.triage.engine import investigate
from truepenny.diagnose.triage.query import CLUSTER_WIDE, NAMESPACED, listing

from .world import NOW, Objects, evidence


@pytest.mark.parametrize("name", [each.name for each in scenarios()])
def test_the_root_object_leads_an_incident(name: str) -> None:
    world = World.load(name, NOW)
    objects = Objects(world.objects, logs=world.logs)
    first = [listing(group, None) for group in (*NAMESPACED, *CLUSTER_WIDE)]
    examination = anyio.run(partial(investigate, evidence(), first, objects.fetch))
    root = world.scenario.root
    if not root:
        assert examination.incidents == ()
        return
    leading = [(each.root, *each.root.about) for each in examination.incidents]
    notes = [(each, *each.about) for each in examination.notes]
    named = [{getattr(ref, "object", ref) for ref in group} for group in (*leading, *notes)]
    assert any(
        (root["kind"], root["namespace"], root["name"]) in {tuple(ref) for ref in group}
        for group in named
    ), [each.root.sentence for each in examination.incidents]
