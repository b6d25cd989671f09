"""`truepenny conformance`: the result contract, held against our own tool or anybody's."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from truepenny.errors import CouldNotRun, UsageError
from truepenny.system.scratch import scratch_folder

from . import complete
from .failure import FAILED, Finished, say
from .interruptible import run as run_interruptible
from .terminal import Progress, json_text, table
from .workbench import Workbench

if TYPE_CHECKING:
    from collections.abc import Sequence

    from truepenny.conformance.adapter import Adapter
    from truepenny.conformance.case import Case, Suite
    from truepenny.conformance.report import Report

LEVELS = ("auto", "bwrap", "landlock", "none")

ENTERED_BY_ALL = 0o711
"""Of the folder that holds the cases': commands may run as another account. Not listed by it."""


@click.command(epilog="Example: truepenny conformance --category exit --category pipeline")
@click.option(
    "--tool",
    type=click.Choice(("native", "mcp")),
    help="Our own `bash` tool (the default), or an MCP server (the default with --server).",
)
@click.option("--server", metavar="COMMAND", help="Command line that starts the MCP server.")
@click.option("--server-tool", metavar="NAME", help="Its tool to call; else the one that fits.")
@click.option(
    "--profile",
    type=click.Path(path_type=Path, dir_okay=False),
    help="File that says how to call and read the server.",
)
@click.option(
    "--category",
    "categories",
    multiple=True,
    shell_complete=complete.category,
    help="Only these cases; may be repeated.",
)
@click.option(
    "--case", "ids", multiple=True, shell_complete=complete.case, help="Only this one; likewise."
)
@click.option("--quick", is_flag=True, help="Leave out the cases that flood or wait.")
@click.option("--level", type=click.Choice(LEVELS), help="Sandbox of our own tool.")
@click.option("--list", "listing", is_flag=True, help="List the cases; run nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("--markdown", is_flag=True, help="Print the table by category as Markdown.")
@click.option(
    "--output", type=click.Path(path_type=Path, dir_okay=False), help="Write the JSON there too."
)
def conformance(
    tool: Literal["native", "mcp"] | None,
    server: str | None,
    server_tool: str | None,
    profile: Path | None,
    categories: tuple[str, ...],
    ids: tuple[str, ...],
    quick: bool,
    level: Literal["auto", "bwrap", "landlock", "none"] | None,
    listing: bool,
    as_json: bool,
    markdown: bool,
    output: Path | None,
) -> None:
    """Run the result contract's cases against a tool that runs commands.

    Exit 0 when every case that a tool must pass did, 1 when one was wrong or not told, 5 when the
    tool could not be tried. Where only cases were chosen that a tool should pass, they count.
    """
    from truepenny.conformance.case import shipped

    suite = shipped()
    cases = suite.choose(categories=categories, ids=ids, slow=not quick)
    if listing:
        _list(cases, as_json)
        return
    if tool == "mcp" and server is None:
        raise UsageError(
            "needs --server", where="--tool mcp", remedy='--server "my-server --stdio"'
        )
    if tool == "native" and server is not None:
        raise UsageError("is for --tool mcp", where="--server")
    if server is None:
        _restart_with(suite)
    bench = Workbench()
    with scratch_folder("conformance") as folder:
        folder.chmod(ENTERED_BY_ALL)
        subject = (
            _native(bench, folder, level)
            if server is None
            else _served(suite, server, server_tool, profile)
        )
        report = _run(suite, subject, cases, folder)
    if output is not None:
        text = json_text(report.to_json())
        output.write_text(f"{text}\n", encoding="utf-8")
    _show(report, as_json, markdown)
    passed = report.conforms
    if not any(case.level == "must" for case in cases):
        say("no case that a tool must pass was chosen: this says nothing of conformance")
        passed = report.passed
    if passed is None:
        raise CouldNotRun("none of the cases that count could be run here", where="conformance")
    raise Finished(0 if passed else FAILED)


def _restart_with(suite: Suite) -> None:
    """Start this very command again with the suite's variables in its own environment.

    A command may look for them in the process above it, and what the system shows there is what
    that process was started with, whatever it set later.
    """
    if any(os.environ.get(name) != value for name, value in suite.environment.items()):
        words = [sys.executable, "-m", "truepenny", *sys.argv[1:]]
        os.execve(sys.executable, words, {**os.environ, **suite.environment})


def _native(
    bench: Workbench,
    folder: Path,
    level: Literal["auto", "bwrap", "landlock", "none"] | None,
) -> Adapter:
    from truepenny.conformance.native import NativeTool

    state = folder / "state"
    state.mkdir(mode=0o700)
    return NativeTool(state, bench.env, bench.redactor, level or bench.settings.sandbox.level)


def _served(suite: Suite, server: str, tool: str | None, profile: Path | None) -> Adapter:
    from truepenny.conformance.mcp_stdio import McpServer
    from truepenny.conformance.profile import profiles, read_profile

    try:
        words = shlex.split(server)
    except ValueError as error:
        raise UsageError(f"is no command line: {error}", where="--server") from None
    chosen = None if profile is None else read_profile(profile)
    return McpServer(words, suite.environment, profiles(), chosen, tool)


def _run(suite: Suite, subject: Adapter, cases: Sequence[Case], folder: Path) -> Report:
    from truepenny.conformance.report import Report
    from truepenny.conformance.trial import Trial
    from truepenny.conformance.trial import run as run_trials

    progress = Progress()

    def started(number: int, count: int, case: Case) -> None:
        progress.show(f"{number} of {count}: {case.id} …")

    async def all_of_them() -> list[Trial]:
        try:
            await subject.open()
            return await run_trials(cases, subject, folder, started)
        finally:
            await subject.close()

    try:
        trials = run_interruptible(all_of_them)
    finally:
        progress.clear()
    return Report(suite.version, subject.name, subject.version, tuple(trials))


def _list(cases: Sequence[Case], as_json: bool) -> None:
    if as_json:
        rows = [case.model_dump(mode="json", exclude_defaults=True) for case in cases]
        click.echo(json_text({"cases": rows}))
        return
    rows = [(case.id, case.category, case.level, case.title) for case in cases]
    table(("CASE", "CATEGORY", "LEVEL", "WHAT IT IS ABOUT"), rows, sys.stdout)


def _show(report: Report, as_json: bool, markdown: bool) -> None:
    if as_json:
        click.echo(json_text(report.to_json()))
        return
    head, *rows = report.table()
    click.echo(f"{report.tool} {report.version}, contract {report.suite}\n")
    if markdown:
        click.echo(report.markdown())
        return
    table(tuple(cell.upper() for cell in head), rows, sys.stdout)
    faults = report.faults()
    if faults:
        click.echo()
        names = ("CASE", "LEVEL", "VERDICT", "EXPECTATION", "WANTED", "SEEN")
        table(names, faults, sys.stdout)
