"""Money: shown only where it is a real charge."""

from __future__ import annotations

import pytest

from truepenny.model.cost import by_basis, rendered
from truepenny.model.usage import Cost


@pytest.mark.parametrize(
    ("cost", "text"),
    [
        (None, "–"),
        (Cost(1.0, "USD", "estimated"), "–"),
        (Cost(1.0, "USD", "subscription"), "–"),
        (Cost(1.0, "USD", "unknown"), "–"),
        (Cost(0.0, "USD", "api"), "0.00 USD"),
        (Cost(0.0031, "USD", "api"), "0.0031 USD"),
        (Cost(0.01, "USD", "api"), "0.01 USD"),
        (Cost(12.345, "USD", "api"), "12.34 USD"),
    ],
)
def test_only_a_charge_is_shown(cost: Cost | None, text: str) -> None:
    assert rendered(cost) == text


def test_charges_of_different_kinds_never_meet() -> None:
    costs = [
        Cost(0.1, "USD", "api"),
        Cost(0.2, "USD", "api"),
        Cost(5.0, "EUR", "api"),
        Cost(9.0, "USD", "estimated"),
        None,
    ]
    assert by_basis(costs) == {"api": {"EUR": 5.0, "USD": 0.3}, "estimated": {"USD": 9.0}}
    assert by_basis([]) == {}
