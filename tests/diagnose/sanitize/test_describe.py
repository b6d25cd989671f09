from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from truepenny.demo.cluster import PracticeCluster
from truepenny.demo.world import World
from truepenny.diagnose.cluster import Cluster, Clusters
from truepenny.diagnose.reader import Reader
from truepenny.diagnose.sanitize.describe import CONTINUED, DescribeStream
from truepenny.text.redact import Redactor
from truepenny.text.rule import mask
from truepenny.text.rules.example import word

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


def _described(text: str, step: int = 0) -> tuple[str, dict[str, int]]:
    stream = DescribeStream(Redactor())
    parts = [text[at : at + step] for at in range(0, len(text), step)] if step else [text]
    return "".join(stream.feed(part) for part in parts) + stream.finish(), stream.counts


def test_the_rest_of_a_masked_value_is_masked_and_counted() -> None:
    text, counts = _described(DESCRIBED)
    assert counts == {"continued": 2}
    assert "second line" not in text
    assert "third" not in text
    assert text.count(mask(CONTINUED)) == 1
    for kept in ("NEXT:         shown", "LAST:", "Mounts:", "Conditions:"):
        assert kept in text


def test_what_follows_a_value_that_was_not_masked_stays() -> None:
    plain = DESCRIBED.replace("[REDACTED:assignment]", "a").replace("DB_PASSWORD", "DB_HOST")
    assert _described(plain) == (plain, {})


def test_the_rows_of_events_stay() -> None:
    rows = (
        "a: b\nEvents:\n  Warning  F  5m  k  Error: password=[REDACTED:x]\n  Normal  P  5m  k  ok\n"
    )
    assert _described(rows) == (rows, {})
    text, counts = _described(f"{rows}\n\n{DESCRIBED}")
    assert text.startswith(rows)
    assert counts == {"continued": 2}


SHELL = """\
    Command:
      mysql
      -p
      hunter2
    Args:
      -p
      hunter3
      -h
      db
    Ports:  -p
    Command:
      mkdir
      -p
      /var/lib/x
"""


def test_the_password_behind_a_short_flag_is_masked_where_the_program_takes_one() -> None:
    text, counts = _described(SHELL)
    assert "hunter" not in text
    assert counts == {"key": 2}
    assert "      db\n" in text and "/var/lib/x" in text


def test_an_escape_that_is_written_out_hides_no_name() -> None:
    text, counts = _described("      pass^[[0mword=hunter2 ^[[31mred^[[0m\n  a^b:  ^\n")
    assert text == "      password=[REDACTED:assignment]\n  a^b:  ^\n"
    assert counts == {"assignment": 1}


def test_a_key_is_known_by_its_shape_under_any_name() -> None:
    key = word(38) + "/+"
    text, counts = _described(f"      COLOR:  {key}\n      SHA:  {key}\n")
    assert (text.count(key), counts) == (1, {"random-key": 1})


@given(st.integers(1, 40))
def test_pieces_give_what_the_whole_gives(step: int) -> None:
    text = f"{SHELL}\n{DESCRIBED}      pass^[[0mword=hunter2\n^"
    assert _described(text, step) == _described(text)


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
