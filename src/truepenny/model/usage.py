"""Tokens and money, as measured. What was not reported is None, never zero."""

from __future__ import annotations

from dataclasses import dataclass, fields


@dataclass(frozen=True, slots=True)
class Usage:
    """Token counts of one request.

    `input_tokens` excludes cached tokens (providers that report them inclusively are converted
    once, in the wire). `reasoning_tokens` is the part of `output_tokens` spent on thinking.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    reasoning_tokens: int | None = None
    cost: Cost | None = None


@dataclass(frozen=True, slots=True)
class Cost:
    """A charge. `basis` is `api` for a real charge, else `subscription`, `estimated` or `unknown`.

    Shown to people only for `api`; charges of different bases are never added up.
    """

    amount: float
    currency: str
    basis: str


_COUNTS = tuple(f.name for f in fields(Usage) if f.name != "cost")


def add(left: Usage | None, right: Usage | None) -> Usage | None:
    """Add counts; None only where neither side measured. Costs add within one basis."""
    if left is None or right is None:
        return left or right
    counts: dict[str, int | None] = {}
    for name in _COUNTS:
        ours, theirs = getattr(left, name), getattr(right, name)
        counts[name] = theirs if ours is None else ours if theirs is None else ours + theirs
    return Usage(**counts, cost=_add_cost(left.cost, right.cost))


def _add_cost(left: Cost | None, right: Cost | None) -> Cost | None:
    if left is None or right is None:
        return left or right
    if (left.currency, left.basis) != (right.currency, right.basis):
        return None  # A sum over different bases would be nobody's charge.
    return Cost(left.amount + right.amount, left.currency, left.basis)
