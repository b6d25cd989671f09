from __future__ import annotations

from pathlib import Path

from truepenny.evaluate.incident import incidents
from truepenny.evaluate.shipped import shipped

EVALS = Path(__file__).parents[2] / "evals"


def test_the_shipped_incidents_are_those_of_the_source_tree() -> None:
    names = {one.name for one in incidents(shipped())}
    assert names == {path.parent.name for path in EVALS.glob("*/incident.toml")}
