from __future__ import annotations

from truepenny.tool.arguments import problems

from .tools import tool


def test_an_unknown_name_is_told_with_the_known_ones() -> None:
    there = ("arguments: there is no 'tims'; known: say, times",)
    assert problems(tool(), {"say": "x", "tims": 1}) == there
    there = ("arguments: there are no 'a', 'b'; known: say, times",)
    assert problems(tool(), {"say": "x", "a": 1, "b": 2}) == there
