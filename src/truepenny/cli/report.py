"""`truepenny report`: what deep investigations found, as Markdown, HTML or JSON."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from .failure import say
from .terminal import plain, table
from .workbench import Workbench

FORMATS = ("md", "html", "json")


@click.group(epilog="Example: truepenny report show --format html --output report.html")
def report() -> None:
    """Look at reports of deep investigations (`truepenny run --deep`)."""


@report.command("list", epilog="Example: truepenny report list --json")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def list_reports(as_json: bool) -> None:
    """List the reports, newest first; one that cannot be read is named with the reason."""
    from truepenny.agent.report.report import Report
    from truepenny.agent.report.store import listed

    from .terminal import json_text

    rows = [
        {
            "id": path.stem,
            "session": path.parent.parent.name,
            "time": found.time if isinstance(found, Report) else None,
            "model": found.model if isinstance(found, Report) else None,
            "question": found.question if isinstance(found, Report) else None,
            "unreadable": "" if isinstance(found, Report) else found.message,
        }
        for path, found in listed(Workbench().sessions)
    ]
    if as_json:
        click.echo(json_text({"reports": rows}))
        return
    cells = [
        (
            str(row["id"]),
            str(row["time"] or "unknown")[:16].replace("T", " "),
            str(row["model"] or "?"),
            str(row["question"] or f"unreadable: {row['unreadable']}"),
        )
        for row in rows
    ]
    table(("REPORT", "TIME (UTC)", "MODEL", "QUESTION"), cells, sys.stdout, fold=False)


@report.command("show", epilog="Example: truepenny report show --format html --output report.html")
@click.argument("report_id", metavar="[ID]", required=False)
@click.option("--format", "form", type=click.Choice(FORMATS), default="md", help="Default: md.")
@click.option(
    "--output",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write it there, whole or not at all, instead of to standard output.",
)
def show_report(report_id: str | None, form: str, output: Path | None) -> None:
    """Show a report; ID is its own or that of its session, without it the newest."""
    from truepenny.agent.report.report import encode
    from truepenny.agent.report.store import find
    from truepenny.system.atomic import publish

    found = find(Workbench().sessions, report_id)
    if form == "json":
        text = encode(found).decode("utf-8")
    elif form == "html":
        from truepenny.agent.report.html import html

        text = html(found)
    else:
        from truepenny.agent.report.markdown import markdown

        text = markdown(found)
    if output is None:
        click.echo(plain(text), nl=False)
        return
    say(f"report {found.id} is in {publish(output, text.encode('utf-8')).path}")
