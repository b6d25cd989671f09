from __future__ import annotations

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from truepenny.cli.terminal import Progress, cells, json_text, plain, style, table
from truepenny.cli.terminal import _folded as folded_cell


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_table_fits_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "50")
    monkeypatch.setenv("NO_COLOR", "1")
    stream = Terminal()
    table(("NAME", "WHAT"), [("a" * 40, "字" * 40), ("b", "c")], stream)
    lines = stream.getvalue().splitlines()
    assert len(lines) == 3
    assert all(cells(line) <= 50 for line in lines)
    assert "…" in lines[1]


def test_sentences_give_way_first_and_go_on_below(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "50")
    monkeypatch.setenv("NO_COLOR", "1")
    row = ("name", "2026-11-30 19:28", "one two three four five six seven eight nine ten")
    folded, cut = Terminal(), Terminal()
    table(("NAME", "WHEN", "WHAT"), [row], folded)
    table(("NAME", "WHEN", "WHAT"), [row], cut, fold=False)
    _, *lines = folded.getvalue().splitlines()
    assert " ".join(line[24:].strip() for line in lines) == row[2]
    assert all(cells(line) <= 50 for line in lines)
    _, line = cut.getvalue().splitlines()
    assert line.startswith("name  2026-11-30 19:28  one two")
    assert line.endswith("…")


@given(st.text("ab字 ", max_size=80))
def test_folding_loses_nothing(text: str) -> None:
    lines = folded_cell(" ".join(text.split()), 24)
    assert "".join(lines).replace(" ", "") == "".join(text.split())
    assert all(cells(line) <= 24 for line in lines)


@given(st.lists(st.tuples(st.text(), st.text()), max_size=5))
def test_off_a_terminal_nothing_is_cut_and_rows_stay_rows(rows: list[tuple[str, str]]) -> None:
    stream = io.StringIO()
    table(("A", "B"), rows, stream)
    assert len(stream.getvalue().split("\n")) == len(rows) + 2
    assert "\x1b" not in stream.getvalue()


def test_colour_is_for_terminals_that_want_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert style("x", "red", Terminal()) == "\x1b[31mx\x1b[0m"
    assert style("x", "red", io.StringIO()) == "x"
    monkeypatch.setenv("NO_COLOR", "1")
    assert style("x", "red", Terminal()) == "x"


def test_progress_is_silent_where_nobody_looks() -> None:
    stream = io.StringIO()
    progress = Progress(stream)
    progress.show("working")
    progress.clear()
    assert stream.getvalue() == ""


@given(st.text() | st.text("\x1b[]0;m\x07\x9b\u202e\u200b\u2028\ud800\U000e0041"))
def test_nothing_reaches_a_terminal_that_it_would_obey_or_hide(text: str) -> None:
    unsafe = "\x1b\x07\x9b\x7f\x00\u202e\u200b\u2028\U000e0041"
    assert not any(letter in plain(text) for letter in unsafe)
    shown = json_text({"k": text})
    assert not any(letter in shown for letter in unsafe)
    shown.encode("utf-8")
    assert json.loads(shown) == {"k": text}
