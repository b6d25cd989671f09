"""`truepenny doctor`: what works here, what does not, and what to do about it."""

from __future__ import annotations

import sys

import click

from truepenny.errors import TruepennyError

from .failure import Finished
from .interruptible import run as run_interruptible
from .terminal import Progress, json_text, plain, style

_LOOKS = {
    "ok": ("✓", "green"),
    "warn": ("!", "yellow"),
    "fail": ("✗", "red"),
    "unknown": ("?", "yellow"),
    "skip": ("-", "dim"),
}


@click.command(epilog="Example: truepenny doctor")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def doctor(as_json: bool) -> None:
    """Check this machine, the settings, models and clusters; exit 1 if something stops work.

    What could not be found out is shown as unknown (?), never as fine.
    """
    from truepenny.doctor.check import Level, Surroundings
    from truepenny.doctor.checks import CHECKS
    from truepenny.doctor.examine import examine

    from .workbench import Workbench

    bench = Workbench()
    try:
        loaded = bench.loaded
    except TruepennyError as error:
        loaded = error
    progress = Progress()
    progress.show(f"{len(CHECKS)} checks …")
    around = Surroundings(bench.directories, bench.env, loaded)
    done = run_interruptible(examine, CHECKS, around)
    progress.clear()
    if as_json:
        rows = [
            {
                "name": one.name,
                "title": one.title,
                "level": str(one.level),
                "findings": [
                    {"level": str(f.level), "detail": f.detail, "remedy": f.remedy}
                    for f in one.findings
                ],
            }
            for one in done
        ]
        click.echo(json_text({"checks": rows}))
    else:
        for one in done:
            for finding in one.findings:
                mark, colour = _LOOKS[finding.level]
                click.echo(
                    f"{style(mark, colour, sys.stdout)} {one.title}: {plain(finding.detail)}"
                )
                if finding.remedy and finding.level is not Level.OK:
                    click.echo(f"    {plain(finding.remedy)}")
    raise Finished(1 if any(one.level is Level.FAIL for one in done) else 0)
