from __future__ import annotations

from pathlib import Path

from .matrix import tables

PAGE = Path(__file__).parents[2] / "docs/escapes.md"


def test_the_page_shows_every_attempt_as_it_is_expected_to_end() -> None:
    text = PAGE.read_text(encoding="utf-8")
    start = text.index("\n## ") + 1
    assert text[start:] == "\n".join(tables()), "paste `python -m tests.escape.matrix` at its end"
