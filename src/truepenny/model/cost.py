"""Money, shown only where it is a real charge.

Truepenny keeps no price list: a product of tokens and a list price is not what anybody paid. A
cost exists where the provider reports the charge of a request (profile field `reports_cost`).
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal

from .usage import Cost

CHARGED = "api"
"""The one basis that is a real charge."""

_CENT = Decimal("0.01")


def rendered(cost: Cost | None) -> str:
    """Return the charge for a person, or a dash where there is none to show.

    Two decimals; four below a cent, so that a cheap request does not read as free.
    """
    if cost is None or cost.basis != CHARGED:
        return "–"
    amount = Decimal(repr(cost.amount))
    digits = 4 if 0 < amount < _CENT else 2
    return f"{amount:.{digits}f} {cost.currency}"


def by_basis(costs: Iterable[Cost | None]) -> dict[str, dict[str, float]]:
    """Return sums by basis and, inside, by currency; charges of different kinds never meet."""
    sums: dict[str, dict[str, Decimal]] = {}
    for cost in costs:
        if cost is not None:
            inner = sums.setdefault(cost.basis, {})
            amount = inner.get(cost.currency, Decimal(0)) + Decimal(repr(cost.amount))
            inner[cost.currency] = amount
    return {
        basis: {currency: float(amount) for currency, amount in sorted(inner.items())}
        for basis, inner in sorted(sums.items())
    }
