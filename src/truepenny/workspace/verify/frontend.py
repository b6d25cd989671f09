"""The one check that needs no declaration: a look at the files of a web page (tools spec 2.10).

Each aspect of each file is `pass`, `warn`, `fail` or `skip`; what was skipped never counts as
passed, and a look at nothing is no pass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Literal

import anyio

from truepenny.execute.command import CaptureLimits, Command
from truepenny.execute.execution import Execution
from truepenny.execute.process import run
from truepenny.sandbox.level import Containment
from truepenny.sandbox.plan import Profile
from truepenny.sandbox.sandbox import Sandbox
from truepenny.text.bound import Limits
from truepenny.tool.contract import CallContext
from truepenny.workspace.workspace import Workspace

from . import inside
from .brief import MESSAGE, brief
from .page_files import MAX_BYTES, PAGES, SCRIPTS, STYLES, find
from .page_finding import Aspect, Finding, Problem, Reference, Status
from .page_program import BROWSERS, MAX_BROWSED, browse, check_script, find_program
from .page_reference import problem_of
from .page_style import read_style
from .page_tags import Inline, read_page

Browser = Literal["auto", "required", "off"]

MAX_INLINE = 20
"""Scripts inside one page that node looks at."""

MAX_REFERENCES = 2000
"""Of one file; each is looked for on the disk."""

PROGRAM_SECONDS = 20.0
"""Of one start of node or a browser."""

_OUTPUT = CaptureLimits(Limits(bytes=64 * 1024), Limits(bytes=64 * 1024))


@dataclass(slots=True)
class Look:
    """All that was found. `rest` says why there may be more; `containment` held the programs."""

    findings: list[Finding]
    rest: str = ""
    containment: Containment | None = None

    def counts(self) -> dict[str, int]:
        return {
            str(status): sum(finding.status is status for finding in self.findings)
            for status in Status
        }


@dataclass(frozen=True, slots=True)
class _Script:
    file: str
    inline: Inline
    kinds: tuple[str, ...]


async def look(
    workspace: Workspace, path: str, browser: Browser, timeout: float, context: CallContext
) -> Look:
    """Look at a file, or at all files of a folder. `timeout` is in seconds, for all together.

    Raises NotInside for a path that cannot be used, and what `Workspace.sandbox` raises.
    """
    started = context.clock.monotonic()
    sandbox = await anyio.to_thread.run_sync(workspace.sandbox, Profile.COMMAND)
    clock, until = context.clock, started + timeout
    reach = inside.Reach.of(sandbox)
    reader = _Reader(workspace.root, path, reach, lambda: clock.monotonic() > until)
    await anyio.to_thread.run_sync(reader.read)
    result = Look(reader.findings, reader.rest)
    programs = _Programs(workspace, sandbox, context, until)
    await programs.scripts(result, reader.scripts)
    if browser != "off":
        await programs.pages(result, reader.pages, required=browser == "required")
    return result


class _Reader:
    """What can be said without any program."""

    def __init__(
        self, root: Path, path: str, reach: inside.Reach, late: Callable[[], bool]
    ) -> None:
        self._root, self._path, self._reach, self._late = root, path, reach, late
        self._site = root
        self.findings: list[Finding] = []
        self.scripts: list[_Script] = []
        self.pages: list[str] = []
        self.rest = ""

    def read(self) -> None:
        where = inside.resolve(self._root, self._path)
        target = self._root / where
        if target.is_dir():
            self._site = target
            found = find(self._root, target)
            files, self.rest = found.files, found.rest
        elif target.is_file():
            self._site = target.parent
            files = [where.as_posix()]
        else:
            raise inside.NotInside("missing", f"{self._path!r} does not exist")
        for file in files:
            if self._late():
                self.rest = "the time was up before"
                return
            self._file(file)

    def _file(self, file: str) -> None:
        suffix = PurePosixPath(file).suffix.lower()
        aspect = Aspect.TAGS
        if suffix not in PAGES:
            aspect = Aspect.STYLE if suffix in STYLES else Aspect.SCRIPT
        if suffix not in PAGES | STYLES | SCRIPTS:
            message = f"{suffix or 'a name without a suffix'} is no kind of file that is looked at"
            self.findings.append(Finding(file, aspect, Status.SKIP, message))
            return
        try:
            text = inside.read(self._root, file, MAX_BYTES, self._reach).decode("utf-8-sig")
        except inside.NotInside as problem:
            self.findings.append(Finding(file, aspect, Status.SKIP, str(problem)))
            return
        except UnicodeDecodeError as error:
            message = f"not UTF-8 (byte {error.start})"
            self.findings.append(Finding(file, aspect, Status.FAIL, message))
            return
        if suffix in PAGES:
            self._page(file, text)
        elif suffix in STYLES:
            style = read_style(text)
            self._answer(file, Aspect.STYLE, style.problems, "balanced")
            self._refer(file, style.references)
        else:
            kinds = {".mjs": ("module",), ".cjs": ("commonjs",)}.get(suffix)
            self.scripts.append(_Script(file, Inline(text, 1), kinds or ("commonjs", "module")))

    def _page(self, file: str, text: str) -> None:
        page = read_page(text)
        self.pages.append(file)
        if page.tags:
            self._answer(file, Aspect.TAGS, page.problems, f"{page.tags} tags, balanced")
        else:
            problems = page.problems or [Problem(1, "there is no tag in it")]
            self._answer(file, Aspect.TAGS, problems, "")
        for inline in page.styles:
            style = read_style(inline.text, inline.line)
            self._answer(file, Aspect.STYLE, style.problems, "balanced")
            page.references.extend(style.references)
        if page.rebased:
            message = "a <base> moves them: where they lead is not known"
            self.findings.append(Finding(file, Aspect.REFERENCES, Status.SKIP, message))
        else:
            self._refer(file, page.references)
        for inline in page.scripts[:MAX_INLINE]:
            kinds = ("module",) if inline.module else ("commonjs",)
            self.scripts.append(_Script(file, inline, kinds))
        if len(page.scripts) > MAX_INLINE:
            message = f"{len(page.scripts) - MAX_INLINE} further scripts inside"
            self.findings.append(Finding(file, Aspect.SCRIPT, Status.SKIP, message))

    def _refer(self, file: str, references: list[Reference]) -> None:
        if not references:
            return
        if len(references) > MAX_REFERENCES:
            message = f"{len(references) - MAX_REFERENCES} further references"
            self.findings.append(Finding(file, Aspect.REFERENCES, Status.SKIP, message))
            references = references[:MAX_REFERENCES]
        known = {
            reference: problem_of(reference, self._root / file, self._site, self._root)
            for reference in references
        }
        problems = [problem for problem in known.values() if problem is not None]
        self._answer(file, Aspect.REFERENCES, problems, f"{len(references)}, none is missing")

    def _answer(self, file: str, aspect: Aspect, problems: Iterable[Problem], fine: str) -> None:
        found = [
            Finding(file, aspect, problem.status, brief(problem.message, MESSAGE), problem.line)
            for problem in problems
        ]
        self.findings.extend(found or [Finding(file, aspect, Status.PASS, fine)])


class _Programs:
    def __init__(
        self, workspace: Workspace, sandbox: Sandbox, context: CallContext, until: float
    ) -> None:
        self._workspace, self._context, self._until = workspace, context, until
        self._env = workspace.environment(sandbox)
        self._sandbox = sandbox
        self._containment: Containment | None = None

    async def scripts(self, result: Look, scripts: list[_Script]) -> None:
        if not scripts:
            return
        node = find_program(("node",), self._env)
        why = "" if node else "node is not installed"
        for one in scripts:
            late = why or self._late()
            if late or node is None:
                finding = Finding(one.file, Aspect.SCRIPT, Status.SKIP, late, one.inline.line)
            else:
                finding = await check_script(
                    self._run, node, one.file, one.inline.text, one.inline.line, one.kinds
                )
            result.findings.append(finding)
        result.containment = self._containment

    async def pages(self, result: Look, pages: list[str], *, required: bool) -> None:
        if not pages:
            return
        browser = find_program(BROWSERS, self._env)
        why = "" if browser else "no browser is installed"
        for number, file in enumerate(pages):
            late = why or self._late()
            if not late and number >= MAX_BROWSED:
                late = f"only {MAX_BROWSED} pages are loaded"
            if late or browser is None:
                status = Status.FAIL if required else Status.SKIP
                finding = Finding(file, Aspect.BROWSER, status, late)
            else:
                finding = await browse(
                    self._run, browser, self._workspace.root, file, required=required
                )
            result.findings.append(finding)
        result.containment = self._containment

    def _late(self) -> str:
        return "" if self._left() > 0 else "the time was up before"

    def _left(self) -> float:
        return self._until - self._context.clock.monotonic()

    async def _run(self, argv: tuple[str, ...], stdin: bytes | None) -> Execution:
        command = Command(
            argv, self._env, cwd=self._workspace.root, stdin=stdin,
            timeout=min(PROGRAM_SECONDS, max(self._left(), 0.001)),
            limits=_OUTPUT, redactor=self._context.redactor, sandbox=self._sandbox,
        )  # fmt: skip
        execution = await run(command, clock=self._context.clock)
        if execution.failure is None:
            self._containment = execution.containment
        return execution
