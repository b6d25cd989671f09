"""`truepenny models`: what can be asked, and whether it answers."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from . import complete
from .failure import Finished, say
from .interruptible import run as run_interruptible
from .terminal import Progress, json_text, table
from .workbench import Workbench

if TYPE_CHECKING:
    from truepenny.model.catalog import ModelEntry
    from truepenny.model.probe import ProbeReport


@click.command(epilog="Example: truepenny models --probe")
@click.argument("name", required=False, shell_complete=complete.model)
@click.option("--probe", is_flag=True, help="Ask each one something small, over the network.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def models(name: str | None, probe: bool, as_json: bool) -> None:
    """List the models that can be named with --model, or only NAME.

    With --probe each is asked once with and once without a tool; exit 1 if one does not answer.
    """
    from truepenny.model.catalog import available, find

    bench = Workbench()
    if name:
        entries = [find(name, bench.settings, bench.env)]
    else:
        entries = available(bench.settings, bench.env)
    if probe:
        raise Finished(_probe(bench, entries, as_json))
    if as_json:
        rows = [
            {
                "name": entry.name,
                "wire": entry.wire,
                "source": entry.source,
                "ready": entry.ready,
                "default": entry.default,
                "problem": entry.problem,
                "remedy": entry.remedy,
            }
            for entry in entries
        ]
        click.echo(json_text({"models": rows}))
        return
    cells = [
        (
            entry.name,
            entry.wire,
            "default" if entry.default else "",
            entry.problem or ("ready" if entry.ready else "any model after the slash"),
            entry.remedy,
        )
        for entry in entries
    ]
    table(("MODEL", "WIRE", "", "STATE", "REMEDY"), cells, sys.stdout)


def _probe(bench: Workbench, entries: list[ModelEntry], as_json: bool) -> int:
    from truepenny.model.catalog import probe

    reports: list[ProbeReport] = []
    left = [entry for entry in entries if not entry.ready]
    progress = Progress()

    async def ask() -> None:
        for entry in entries:
            if entry.ready:
                progress.show(f"asking {entry.name} …")
                reports.append(await probe(entry, bench.directories, bench.redactor))
        progress.clear()

    run_interruptible(ask)
    if as_json:
        rows = [report.to_json() for report in reports]
        click.echo(json_text({"models": rows, "not_asked": [entry.name for entry in left]}))
    else:
        header = (
            "MODEL",
            "REACHED",
            "KEY",
            "STREAM",
            "CALL",
            "FIRST",
            "TOTAL",
            "FAILURE",
            "LEARNED",
        )
        table(header, [_cells(report) for report in reports], sys.stdout)
    for entry in left:
        # A provider that lists no model cannot be asked for one, and was not found to be working.
        which = entry.name.replace("…", "MODEL")
        remedy = entry.remedy or f"Name a model: truepenny models {which} --probe"
        say(f"not asked: {entry.name}{f': {entry.problem}' if entry.problem else ''}\n  {remedy}")
    return 0 if reports and all(report.ok for report in reports) else 1


def _cells(report: ProbeReport) -> tuple[str, ...]:
    words = {True: "yes", False: "no", None: "unknown"}
    failure = report.failure
    return (
        report.name,
        words[report.reachable],
        words[report.authorized],
        words[report.streaming],
        words[report.tool_call],
        _seconds(report.first_event),
        _seconds(report.total),
        f"{failure.kind}: {failure.message}" if failure else "",
        ", ".join(f"{name} {value}" for name, value in report.learned.items()),
    )


def _seconds(value: float | None) -> str:
    return "" if value is None else f"{value:.2f} s"
