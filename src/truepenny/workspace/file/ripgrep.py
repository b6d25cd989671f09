"""Running ripgrep and reading its account: what matched, what it could not read, how it ended."""

from __future__ import annotations

import base64
import os
import re
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio

from truepenny.execute.command import CaptureLimits, Command
from truepenny.execute.execution import Execution
from truepenny.execute.process import Stream, run
from truepenny.model.json_value import count, decode, mapping, sequence, text
from truepenny.sandbox.sandbox import Sandbox
from truepenny.text.bound import Limits

from .tree import Skipped

LINE_BYTES = 1024 * 1024
"""Characters of one report line that are taken in; a longer one is counted as too long."""

_UNREADABLE = re.compile(r"rg: (?:\./)?(?P<path>.*?): (?P<why>.*) \(os error \d+\)$")


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a file. `at` is the character where the first match begins, None in context."""

    path: str
    line: int | None
    text: str
    at: int | None


@dataclass(slots=True)
class Report:
    """What a run came to. `searched` counts files, None where it did not get to say so.

    `files` maps paths to lines that matched. `binary` are files with a match and a NUL byte, of
    which no line is shown. `enough` says that it was stopped because no more was wanted.
    """

    rows: list[Row] = field(default_factory=list[Row])
    files: dict[str, int] = field(default_factory=dict[str, int])
    matches: int = 0
    binary: list[str] = field(default_factory=list[str])
    skipped: Skipped = field(default_factory=Skipped)
    errors: list[str] = field(default_factory=list[str])
    too_long: int = 0
    searched: int | None = None
    enough: bool = False
    execution: Execution | None = None


def program() -> str | None:
    """Return the ripgrep beside our interpreter, or the one on PATH."""
    beside = os.path.join(os.path.dirname(sys.executable), "rg")
    return beside if os.access(beside, os.X_OK) else shutil.which("rg")


async def search(
    words: Sequence[str],
    cwd: Path,
    seconds: float,
    wanted: Callable[[Report], bool],
    sandbox: Sandbox | None = None,
    *,
    rows: bool = True,
) -> Report:
    """Run ripgrep with these words, `--json` among them, in a folder until `wanted` says False.

    Without `rows` lines are only counted: there may be any number of them.
    Never raises for what it finds: errors of single files and of the pattern are in the report.
    """
    report = Report()
    reading = _Reading(report, rows)
    with anyio.CancelScope() as scope:

        def take(stream: Stream, piece: str) -> None:
            reading.feed(stream, piece)
            if not report.enough and not wanted(report):
                report.enough = True
                scope.cancel()

        report.execution = await run(_command(words, cwd, seconds, sandbox), on_output=take)
    reading.finish()
    return report


async def count_files(
    words: Sequence[str], cwd: Path, seconds: float, sandbox: Sandbox | None = None
) -> int | None:
    """Count the files that `rg --files` with these words lists; None where it did not end well."""
    found = 0

    def take(stream: Stream, piece: str) -> None:
        nonlocal found
        if stream == "stdout":
            found += piece.count("\0")

    done = await run(_command(("--files", "--null", *words), cwd, seconds, sandbox), on_output=take)
    return found if done.cause is None and done.exit.observed in (0, 1) else None


def _command(words: Sequence[str], cwd: Path, seconds: float, sandbox: Sandbox | None) -> Command:
    return Command(
        (program() or "rg", *words),
        env={"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C.UTF-8"},
        cwd=cwd,
        timeout=seconds,
        # Everything is read as it comes; nothing is kept twice.
        limits=CaptureLimits(Limits(bytes=0), Limits(bytes=16 * 1024)),
        sandbox=sandbox,
    )


class _Reading:
    def __init__(self, report: Report, rows: bool) -> None:
        self._report = report
        self._rows = rows
        self._rests = {"stdout": "", "stderr": ""}
        self._flood = False
        self._binary: set[str] = set()

    def feed(self, stream: Stream, piece: str) -> None:
        *lines, rest = (self._rests[stream] + piece).split("\n")
        for line in lines:
            if self._flood and stream == "stdout":
                self._flood = False
            elif stream == "stdout":
                self._record(line)
            else:
                self._complaint(line)
        if len(rest) > LINE_BYTES:
            if not self._flood and stream == "stdout":
                self._report.too_long += 1
                self._flood = True
            rest = ""
        self._rests[stream] = rest

    def finish(self) -> None:
        if self._rests["stderr"]:
            self._complaint(self._rests["stderr"])

    def _record(self, line: str) -> None:
        try:
            record = mapping(decode(line))
        except ValueError:
            return  # the end of a line that was too long
        report, data = self._report, mapping(record.get("data"))
        match record.get("type"):
            case "match" | "context":
                self._line(record["type"] == "match", data)
            case "end" if data.get("binary_offset") is not None:
                self._drop_binary(_path(data))
            case "summary":
                report.searched = count(mapping(data.get("stats")).get("searches"))
            case _:
                pass

    def _line(self, matches: bool, data: Mapping[str, Any]) -> None:
        report, path = self._report, _path(data)
        if matches:
            report.matches += 1
            report.files[path] = report.files.get(path, 0) + 1
        if not self._rows:
            return
        words, at = _text(mapping(data.get("lines"))), None
        if matches:
            first = mapping(next(iter(sequence(data.get("submatches"))), None))
            at = len(words.encode()[: count(first.get("start")) or 0].decode("utf-8", "ignore"))
        report.rows.append(Row(path, count(data.get("line_number")), words, at))

    def _drop_binary(self, path: str) -> None:
        """Forget the lines of a file that turned out to be binary; that it matches is told."""
        report = self._report
        report.binary.append(path)
        report.matches -= report.files.pop(path, 0)
        report.rows = [row for row in report.rows if row.path != path]

    def _complaint(self, line: str) -> None:
        if found := _UNREADABLE.match(line):
            self._report.skipped.add("unreadable", found["path"])
        elif line.strip() and len(self._report.errors) < 20:
            self._report.errors.append(line)


def _path(data: Mapping[str, Any]) -> str:
    return _text(mapping(data.get("path"))).removeprefix("./")


def _text(field: Mapping[str, Any]) -> str:
    """Return a text of the report; what is not UTF-8 comes as base64 and shows as U+FFFD."""
    if "bytes" in field:
        return base64.b64decode(text(field["bytes"])).decode("utf-8", "replace")
    return text(field.get("text"))
