from __future__ import annotations

import os
from pathlib import Path

import pytest

from truepenny.demo.cluster import PracticeCluster
from truepenny.demo.world import World
from truepenny.diagnose.cluster import Cluster, Clusters
from truepenny.diagnose.reader import Reader
from truepenny.diagnose.reader_describe import MASK, mask_continued

DESCRIBED = """\
    Environment:
      DB_PASSWORD:  [REDACTED:assignment]
second line of it
  third, indented
      NEXT:         shown
      LAST:         <set to the key 'a' of config map 'b'>  Optional: false
    Mounts:         <none>
Conditions:
"""


def test_the_rest_of_a_masked_value_is_masked_and_counted() -> None:
    text, count = mask_continued(DESCRIBED)
    assert count == 2
    assert "second line" not in text
    assert "third" not in text
    assert text.count(MASK) == 1
    for kept in ("NEXT:         shown", "LAST:", "Mounts:", "Conditions:"):
        assert kept in text


def test_what_follows_a_value_that_was_not_masked_stays() -> None:
    plain = DESCRIBED.replace("[REDACTED:assignment]", "a")
    assert mask_continued(plain) == (plain, 0)


def test_the_rows_of_events_stay() -> None:
    rows = (
        "a: b\nEvents:\n  Warning  F  5m  k  Error: password=[REDACTED:x]\n  Normal  P  5m  k  ok\n"
    )
    assert mask_continued(rows) == (rows, 0)
    text, count = mask_continued(f"{rows}\n\n{DESCRIBED}")
    assert text.startswith(rows)
    assert count == 2


@pytest.mark.anyio
async def test_a_secret_over_several_lines_is_not_described(tmp_path: Path) -> None:
    world = World.load("healthy")
    pod = next(
        each
        for each in world.objects
        if each["kind"] == "Pod" and each["metadata"]["name"].startswith("cart-")
    )
    value = "line one\nPLANTED-second line\n  PLANTED third"
    pod["spec"]["containers"][0]["env"] = [
        {"name": "DB_PASSWORD_3", "value": value},
        {"name": "PLAIN", "value": "shown"},
    ]
    with PracticeCluster(world) as cluster:
        found = Clusters.from_kubeconfig(cluster.kubeconfig, env=dict(os.environ)).get(None)
        assert isinstance(found, Cluster)
        name = pod["metadata"]["name"]
        result = (await Reader(found).read(["describe", "pod", name, "-n", "shop"])).result
    assert "PLANTED" not in result.text
    assert "line one" not in result.text
    assert "shown" in result.text
    assert "Conditions:" in result.text
    assert result.facts.redactions["continued"] == 2
