from __future__ import annotations

from pathlib import Path

from truepenny.evaluate.incident import incidents
from truepenny.evaluate.shipped import shipped

EVALS = Path(__file__).parents[2] / "evals"


def test_the_shipped_incidents_are_those_of_the_source_tree() -> None:
    names = {one.name for one in incidents(shipped())}
    assert names == {path.parent.name for path in EVALS.glob("*/incident.toml")}


def test_eight_incidents_are_hard_and_each_says_what_must_not_be_claimed() -> None:
    hard = [one for one in incidents(shipped()) if "hard" in one.tags]
    assert len(hard) >= 8
    assert [one.name for one in hard if not one.forbidden] == []
