"""The tool `grep`: lines that match, and what was not looked at (tools spec 2.5).

`detail`: `path` (real search root), `mode`, `matches`, `files`, `search` {`complete`, `reason`
(`limit`, `timeout`, `errors`, `output_cap` or empty), `searched` (files; None: it did not end),
`skipped` {reason: {`count`, `samples`}}, `ignored` (files left out by ignore rules; None: not
counted), `ignored_matches` (files among those that do match, told when nothing else does),
`binary` (files that match and are binary)}. Characters that are not UTF-8 show as U+FFFD.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import takewhile
from pathlib import Path
from typing import Any

from truepenny.execute.ending import Cause
from truepenny.model.message import Text
from truepenny.sandbox.level import Containment
from truepenny.sandbox.sandbox import Sandbox
from truepenny.text.control import strip_control
from truepenny.text.redact import Redactor
from truepenny.tool.contract import ActionClass, CallContext, Plane, Tool
from truepenny.tool.outcome import Outcome
from truepenny.tool.result import ByteCounts, Completeness, Facts, Result

from .access import FileAccess
from .fault import FileFault, invalid_path
from .ignore import GENERATED, VERSION_CONTROL
from .place import Need, Place, find_place
from .ripgrep import Report, Row, count_files, program, search

PATTERN_BYTES = 64 * 1024
GREP_LIMIT = 100
MOST_LIMIT = 2000
MOST_CONTEXT = 20
LINE_CHARS = 500
"""Characters of a line that are shown, around its first match."""

CONTENT_BYTES = 16 * 1024
LIST_BYTES = 8 * 1024
"""Bytes shown in mode content, and in the modes files and count (tools spec 2.0)."""

GREP_SECONDS = 30.0
"""After this what was found so far is the answer (tools spec 2.5)."""

COVERAGE_SECONDS = 5.0
"""For counting what ignore rules left out, and for looking into it when nothing else matched."""

PARAMETERS: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "pattern": {"type": "string", "description": "A regular expression (Rust syntax)."},
        "path": {"type": "string", "description": "A directory or file; the workspace by default."},
        "mode": {
            "type": "string",
            "enum": ["content", "files", "count"],
            "description": "Lines, or only the files, or the matching lines of each file.",
        },
        "glob": {"type": "string", "description": "Only files like this, e.g. *.py."},
        "ignore_case": {"type": "boolean"},
        "literal": {"type": "boolean", "description": "The pattern is plain text."},
        "context": {"type": "integer", "minimum": 0, "maximum": MOST_CONTEXT},
        "limit": {"type": "integer", "minimum": 1, "maximum": MOST_LIMIT},
        "include_ignored": {
            "type": "boolean",
            "description": "Also search what .gitignore names, and node_modules and the like.",
        },
    },
    "required": ["pattern"],
    "additionalProperties": False,
}


def grep_tool(files: FileAccess, sandbox: Sandbox | None = None) -> Tool:
    """Return the tool; `sandbox` holds the search program (None: as we are held ourselves)."""

    async def run(arguments: Mapping[str, Any], context: CallContext) -> Result:
        try:
            return await grep(files, arguments, context.redactor, sandbox)
        except FileFault as fault:
            return fault.result()

    return Tool(
        name="grep",
        description=(
            "Search the lines of files below a directory, hidden ones too. Says how many files "
            "were searched and what was left out: ignored, unreadable, binary."
        ),
        parameters=PARAMETERS,
        run=run,
        action_class=ActionClass.READ,
        plane=Plane.OBSERVE,
        timeout=GREP_SECONDS + 4 * COVERAGE_SECONDS + 10,
        example={"pattern": "def main", "glob": "*.py"},
    )


async def grep(
    files: FileAccess,
    arguments: Mapping[str, Any],
    redactor: Redactor,
    sandbox: Sandbox | None = None,
    seconds: float = GREP_SECONDS,
) -> Result:
    """Search; raises FileFault."""
    pattern = str(arguments["pattern"])
    if not pattern or "\0" in pattern or len(pattern.encode("utf-8", "replace")) > PATTERN_BYTES:
        raise invalid_path("pattern", f"a pattern has 1 to {PATTERN_BYTES} bytes and no NUL")
    if "\n" in pattern:
        raise invalid_path("pattern", "a pattern is one line: lines are searched one by one")
    if program() is None:
        raise FileFault(
            "no_ripgrep", "the search program rg is not there", "install ripgrep",
            outcome=Outcome.MISSING_DEPENDENCY,
        )  # fmt: skip
    with find_place(files, arguments.get("path") or ".", Need.READ) as place:
        if place.kind != "directory":
            place.require_file()
        asked = _Search(files, place, arguments, sandbox)
        report = await asked.run(seconds)
        ignored, hidden = await asked.ignored(report)
    return _Answer(report, arguments, redactor, place.path, ignored, hidden).result()


class _Search:
    def __init__(
        self,
        files: FileAccess,
        place: Place,
        arguments: Mapping[str, Any],
        sandbox: Sandbox | None,
    ) -> None:
        self._arguments = arguments
        self._sandbox = sandbox
        self._directory = place.kind == "directory"
        self._cwd = place.path if self._directory else place.path.parent
        self._target = "./" if self._directory else f"./{place.name}"
        self._lifted = bool(arguments.get("include_ignored"))
        self._denied = [
            "/" + "/".join(map(_escape, path.relative_to(self._cwd).parts))
            for path in files.roots.hidden
            if path.is_relative_to(self._cwd) and path != self._cwd
        ]
        self.limit = int(arguments.get("limit") or GREP_LIMIT)

    async def run(self, seconds: float) -> Report:
        mode = self._arguments.get("mode") or "content"
        words = self._asking(self._arguments)
        if mode == "files":
            words.append("--max-count=1")
        elif mode == "content" and self._arguments.get("context"):
            words.append(f"--context={self._arguments['context']}")
        words += [*self._scope(lifted=self._lifted), "--", self._target]

        def wanted(report: Report) -> bool:
            count = report.matches if mode == "content" else len(report.files)
            return count <= self.limit

        rows = mode == "content"
        return await search(words, self._cwd, seconds, wanted, self._sandbox, rows=rows)

    async def ignored(self, report: Report) -> tuple[int | None, list[str]]:
        """Return how many files ignore rules left out, and those that match if nothing else did."""
        if self._lifted or not self._directory or report.searched is None:
            return (0, []) if self._lifted or not self._directory else (None, [])
        scope = [*self._scope(lifted=True), "--", self._target]
        every = await count_files(scope, self._cwd, COVERAGE_SECONDS, self._sandbox)
        ignored = None if every is None else max(every - report.searched, 0)
        if report.files or report.binary or ignored == 0:
            return ignored, []
        words = [*self._asking(self._arguments), "--max-count=1", *scope]
        other = await search(
            words, self._cwd, COVERAGE_SECONDS, lambda found: len(found.files) < 5, self._sandbox,
            rows=False,
        )  # fmt: skip
        return ignored, [*other.files, *other.binary]

    def _asking(self, arguments: Mapping[str, Any]) -> list[str]:
        words = ["--json", "--binary", "--sort=path", f"--regexp={arguments['pattern']}"]
        if arguments.get("literal"):
            words.append("--fixed-strings")
        if arguments.get("ignore_case"):
            words.append("--ignore-case")
        return words

    def _scope(self, *, lifted: bool) -> list[str]:
        """Return what is searched: nothing outside the root decides about it."""
        words = [
            "--no-config", "--hidden", "--no-follow", "--no-ignore-global", "--no-ignore-parent",
        ]  # fmt: skip
        if lifted:
            words.append("--no-ignore")
        if self._arguments.get("glob"):
            words.append(f"--glob={self._arguments['glob']}")
        # The last glob that fits decides, so these come after.
        left_out = [*VERSION_CONTROL, *(() if lifted else GENERATED)]
        words += [f"--glob=!**/{name}/**" for name in sorted(left_out)]
        return words + [f"--glob=!{path}" for path in self._denied]


class _Answer:
    def __init__(
        self,
        report: Report,
        arguments: Mapping[str, Any],
        redactor: Redactor,
        root: Path,
        ignored: int | None,
        hidden: list[str],
    ) -> None:
        self._report = report
        self._arguments = arguments
        self._redactor = redactor
        self._root = root
        self._ignored = ignored
        self._hidden = hidden
        self._mode = str(arguments.get("mode") or "content")
        self._limit = int(arguments.get("limit") or GREP_LIMIT)
        self._counts: dict[str, int] = {}

    def result(self) -> Result:
        report = self._report
        if self._unusable():
            # Its advice is to use an option that no call has.
            message = "\n".join(takewhile(lambda line: "--pcre2" not in line, report.errors))
            raise invalid_path(
                "pattern", strip_control(message), "set literal for plain text, or escape it"
            )
        lines = self._content() if self._mode == "content" else self._list()
        shown, size = _fit(lines, CONTENT_BYTES if self._mode == "content" else LIST_BYTES)
        kept = sum(len(line.encode("utf-8", "replace")) for line in shown)
        reason = self._reason(len(shown) < len(lines))
        whole = self._completeness(reason, len(shown))
        execution = report.execution
        facts = Facts(
            completeness=whole,
            redactions=self._counts,
            bytes=ByteCounts(size, kept, size - kept),
            exit=execution.exit if execution else None,
            cause=Cause.TIMEOUT if reason == "timeout" else None,
            hint=self._hint(whole),
            detail=self._detail(reason),
        )
        if execution is not None:
            facts = _contained(facts, execution.containment)
        nothing = not report.files and not report.binary
        if nothing and reason == "timeout":
            outcome, text = Outcome.INTERRUPTED, "no match was found before the time was up"
        elif nothing and reason:
            outcome, text = Outcome.TRUNCATED, "no match in what could be searched"
        elif nothing:
            outcome = Outcome.NO_MATCH
            files = "1 file" if report.searched == 1 else f"{report.searched} files"
            text = f"no line of {files} matches"
            # ripgrep's 1 is its way to say so, not a failure.
            facts = _effective(facts)
        else:
            outcome, text = Outcome.SUCCESS, "".join(shown)
        return Result(outcome, (Text(text),), facts)

    def _unusable(self) -> bool:
        """Whether ripgrep could make nothing of the pattern or glob: it then searches nothing."""
        report = self._report
        return report.searched is None and not report.files and bool(report.errors)

    def _content(self) -> list[str]:
        out: list[str] = []
        matches = 0
        for row in self._report.rows:
            if row.at is not None:
                matches += 1
                if matches > self._limit:
                    break
            out.append(self._row(row))
        for path in self._report.binary:
            out.append(f"{_name(path)}: binary file matches\n")
        return out

    def _row(self, row: Row) -> str:
        mark = "-" if row.at is None else ":"
        number = "?" if row.line is None else row.line
        redacted = self._redactor.text(strip_control(row.text).rstrip("\n"))
        for rule, count in redacted.counts.items():
            self._counts[rule] = self._counts.get(rule, 0) + count
        text = redacted.text.replace("\n", " ")
        if len(text) > LINE_CHARS:
            begin = max(0, min((row.at or 0) - LINE_CHARS // 4, len(text) - LINE_CHARS))
            before = f"[{begin} characters] " if begin else ""
            after = len(text) - begin - LINE_CHARS
            text = before + text[begin : begin + LINE_CHARS] + (
                f" [{after} characters]" if after else ""
            )  # fmt: skip
        return f"{_name(row.path)}{mark}{number}{mark} {text}\n"

    def _list(self) -> list[str]:
        names = list(self._report.files.items())[: self._limit]
        if self._mode == "count":
            out = [f"{_name(path)}: {count}\n" for path, count in names]
        else:
            out = [f"{_name(path)}\n" for path, _ in names]
        return out + [f"{_name(path)}: binary file matches\n" for path in self._report.binary]

    def _reason(self, cut: bool) -> str:
        report = self._report
        if report.enough or cut:
            return "limit"
        cause = report.execution.cause if report.execution else None
        if cause is Cause.TIMEOUT:
            return "timeout"
        if cause is not None or report.searched is None:
            return str(cause or "stopped")
        return "errors" if report.skipped.counts or report.errors or report.too_long else ""

    def _completeness(self, reason: str, shown: int) -> Completeness:
        report = self._report
        if not reason:
            return Completeness()
        words = {
            "limit": f"more than the {shown} lines shown",
            "timeout": "stopped when its time was up; files may not have been searched",
            "errors": f"left out: {report.skipped.words() or '; '.join(report.errors[:2])}",
        }
        text = words.get(reason, f"the search ended early ({reason})")
        if reason == "errors" and report.too_long:
            text += f"; {report.too_long} matching lines are too long to show"
        narrow = "a narrower pattern, path or glob" if reason != "errors" else ""
        return Completeness("partial", text, "lines", shown, None, narrow)

    def _hint(self, whole: Completeness) -> str:
        if self._hidden:
            names = ", ".join(map(_name, self._hidden[:3]))
            return f"ignored files do match, e.g. {names}: set include_ignored"
        if whole.state != "complete" and not self._report.files:
            return "that nothing was found proves nothing: not all was searched"
        if self._ignored:
            files = "1 file is" if self._ignored == 1 else f"{self._ignored} files are"
            return f"{files} left out by ignore rules (include_ignored)"
        if self._ignored is None and whole.state == "complete":
            return "what ignore rules left out was not counted"
        return ""

    def _detail(self, reason: str) -> dict[str, Any]:
        report = self._report
        return {
            "path": str(self._root),
            "mode": self._mode,
            "matches": report.matches,
            "files": len(report.files),
            "search": {
                "complete": not reason,
                "reason": reason,
                "searched": report.searched,
                "skipped": report.skipped.detail(),
                "ignored": self._ignored,
                "ignored_matches": self._hidden,
                "binary": report.binary,
            },
        }


def _fit(lines: list[str], most: int) -> tuple[list[str], int]:
    """Return the first lines within a budget, and the size of all of them."""
    size = 0
    shown: list[str] = []
    for line in lines:
        size += len(line.encode("utf-8", "replace"))
        if size <= most:
            shown.append(line)
    return shown, size


def _contained(facts: Facts, containment: Containment) -> Facts:
    return replace(facts, sandbox=str(containment.level), containment=containment.facts())


def _effective(facts: Facts) -> Facts:
    status = facts.exit
    if status is None or status.observed != 1:
        return facts
    return replace(facts, exit=replace(status, effective=0))


def _name(path: str) -> str:
    return strip_control(path).replace("\n", "\\n")


def _escape(name: str) -> str:
    return "".join(f"\\{char}" if char in "*?[]{}\\!," else char for char in name)
