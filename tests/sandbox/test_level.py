"""What a containment says of itself."""

from __future__ import annotations

from truepenny.sandbox.level import Containment, Level, LimitLayout


def test_nothing_is_claimed_unless_it_is_set() -> None:
    facts = Containment().facts()
    assert (Containment().level, facts) == (
        Level.NONE,
        {"limits": "none", "account": "", "network": "host"},
    )


def test_what_a_level_cannot_stop_is_named() -> None:
    held = Containment(Level.LANDLOCK, LimitLayout.RLIMITS, "nobody", "none", ("udp", "stat"))
    assert held.facts()["gaps"] == "udp, stat"
