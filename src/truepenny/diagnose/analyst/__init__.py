"""`builtin/analyst`: a rule-based diagnostician behind the model protocol; no language model.

It plans tool calls, reads their results as a model sees them, and writes an answer that cites
them. It keeps nothing between requests: all it knows it reads again from the history.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .analyst import Analyst

__all__ = ["Analyst"]


def __getattr__(name: str) -> object:
    if name == "Analyst":
        from .analyst import Analyst

        return Analyst
    raise AttributeError(name)
