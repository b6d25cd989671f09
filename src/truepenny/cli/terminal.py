"""What people see: colour only on a terminal, tables that fit, one line of progress.

Nothing that came from elsewhere (a target, a model, a file) reaches a terminal but through
`plain`, `json_text`, `table` or `Progress`: no escape sequence of theirs, no hidden character.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import unicodedata
from collections.abc import Sequence
from typing import IO, Any

from truepenny.text.control import strip_control

_STYLES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}
_DEFAULT_WIDTH = 100
_GOOD_FOLDED, _LEAST_FOLDED = 44, 24
"""Columns in which a sentence over several lines reads well, and in which it can be read at all."""
_LEAST_CUT = 12
"""Columns in which the beginning of a sentence still says what it is about."""

_NOT_SHOWN = re.compile(
    "[\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff"
    "\ufff9-\ufffb\U000e0000-\U000e007f]"
)
"""What JSON may hold as it is and a terminal may obey or hide; also half surrogate pairs."""


def plain(text: str) -> str:
    """Return the text without terminal sequences, hidden characters shown as `\\uXXXX`."""
    return strip_control(text)


def json_text(value: Any, *, indent: int | None = 2) -> str:
    """Return JSON with all that is not for a terminal as `\\uXXXX`: the same value, harmless."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    return _NOT_SHOWN.sub(lambda match: json.dumps(match[0])[1:-1], text)


def colourful(stream: IO[str]) -> bool:
    """Whether colour is wanted on a stream (a terminal, and neither NO_COLOR nor TERM=dumb)."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return stream.isatty()


def style(text: str, name: str, stream: IO[str]) -> str:
    """Return the text in a style (a key of the table above) where the stream shows colour."""
    return f"\x1b[{_STYLES[name]}m{text}\x1b[0m" if colourful(stream) else text


def width(stream: IO[str]) -> int:
    """Return the columns to fill: the terminal's, else `COLUMNS`, else a page's."""
    if stream.isatty() or os.environ.get("COLUMNS"):
        return max(shutil.get_terminal_size((_DEFAULT_WIDTH, 24)).columns, 40)
    return 10_000  # Not a terminal: nothing is cut, somebody may be searching it.


def table(
    header: Sequence[str], rows: Sequence[Sequence[str]], stream: IO[str], *, fold: bool = True
) -> None:
    """Write a table that fits the stream's width; cells are cut with … only on a terminal.

    The first column is never cut: it names the thing, and a name is there to be copied. The last
    one holds sentences: it gives way first, and goes on below itself unless `fold` is false or too
    little room is left to read it.
    """
    clean = [[_line(cell) for cell in row] for row in rows]
    widths = [
        max(cells(header[column]), *(cells(row[column]) for row in clean), 1)
        if clean
        else cells(header[column])
        for column in range(len(header))
    ]
    limit = width(stream)
    room = limit - sum(widths[:-1]) - 2 * (len(widths) - 1)
    if len(widths) > 1:
        widths[-1] = min(widths[-1], max(room, _GOOD_FOLDED if fold else _LEAST_CUT))
    for first, last, least in ((1, len(widths) - 1, 20), (1, len(widths), 8)):
        while sum(widths) + 2 * (len(widths) - 1) > limit:
            widest = max(widths[first:last], default=0)
            if widest <= least:
                break
            widths[widths.index(widest, first)] -= 1
    fold = fold and widths[-1] >= _LEAST_FOLDED
    stream.write(style(_row(header, widths), "bold", stream) + "\n")
    for row in clean:
        last = _folded(row[-1], widths[-1]) if fold else [row[-1]]
        stream.write(_row([*row[:-1], last[0]], widths) + "\n")
        for more in last[1:]:
            stream.write(_row([*("" for _ in row[:-1]), more], widths) + "\n")


def cells(text: str) -> int:
    """Return how many terminal columns a text takes (wide characters take two)."""
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text
    )


def _row(row: Sequence[str], widths: Sequence[int]) -> str:
    fitted = (_fit(cell, wide) for cell, wide in zip(row, widths, strict=True))
    return "  ".join(fitted).rstrip()


def _fit(cell: str, wide: int) -> str:
    if cells(cell) > wide:
        while cells(cell) > wide - 1:
            cell = cell[:-1]
        cell += "…"
    return cell + " " * (wide - cells(cell))


def _folded(cell: str, wide: int) -> list[str]:
    """Return the lines of a cell; a word is broken only where it is longer than a line."""
    lines = [""]
    for word in cell.split(" "):
        if lines[-1] and cells(f"{lines[-1]} {word}") <= wide:
            lines[-1] += f" {word}"
        elif not lines[-1]:
            lines[-1] = word
        else:
            lines.append(word)
        while cells(lines[-1]) > wide:
            end = len(lines[-1])
            while cells(lines[-1][:end]) > wide:
                end -= 1
            lines[-1:] = [lines[-1][:end], lines[-1][end:]]
    return lines


def _line(cell: str) -> str:
    return " ".join("".join(c if c.isprintable() else " " for c in cell).split())


class Progress:
    """One line on stderr that is replaced as work goes on; silent where nobody is looking."""

    def __init__(self, stream: IO[str] | None = None) -> None:
        self._stream = stream or sys.stderr
        self._live = self._stream.isatty()
        self._shown = False

    def show(self, text: str) -> None:
        """Replace the line."""
        if self._live:
            # Room is left for the `^C` that a terminal echoes: the line must stay one line.
            self._stream.write(f"\r\x1b[K{_fit(_line(text), width(self._stream) - 3).rstrip()}")
            self._stream.flush()
            self._shown = True

    def clear(self) -> None:
        """Take the line away, before anything else is written."""
        if self._shown:
            self._stream.write("\r\x1b[K")
            self._stream.flush()
            self._shown = False
