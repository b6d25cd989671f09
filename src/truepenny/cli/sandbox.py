"""`truepenny sandbox`: what a command in a folder can reach, before it runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from truepenny.errors import UsageError

from .interruptible import run as run_interruptible
from .terminal import json_text, plain
from .work import Work, open_work
from .workbench import Workbench

if TYPE_CHECKING:
    from truepenny.sandbox.level import Containment
    from truepenny.sandbox.plan import Plan

PROFILES = {
    "command": "a command, script or check",
    "tool_server": "the file tools",
    "service": "a program that serves us, such as an MCP server",
}


@click.command(epilog="Example: truepenny sandbox --workspace .")
@click.option("--workspace", metavar="FOLDER", type=click.Path(), help="The folder to work in.")
@click.option(
    "--profile",
    type=click.Choice(tuple(PROFILES)),
    default="command",
    show_default=True,
    help="What is to be held: a command, the file tools, or a service.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def sandbox(workspace: str | None, profile: str, as_json: bool) -> None:
    """Show what a command in FOLDER could reach, what holds it, and what that does not stop.

    Nothing is run but the trial of what can hold it.
    """
    described = _described if as_json else _explained
    click.echo(run_interruptible(_held, Workbench(), Work(workspace), profile, described))


async def _held(
    bench: Workbench, work: Work, profile: str, described: Callable[[Plan, Containment], str]
) -> str:
    from truepenny.sandbox.plan import Profile

    async with open_work(bench, work) as opened:
        if opened is None:
            raise UsageError("no folder is bound", where="--workspace", remedy="Add --workspace .")
        found = opened.workspace.sandbox(Profile(profile))
        return described(found.plan, found.containment)  # while all of it is there


def _explained(plan: Plan, containment: Containment) -> str:
    from truepenny.sandbox.explain import explain

    return plain(explain(plan, containment))


def _described(plan: Plan, containment: Containment) -> str:
    from truepenny.sandbox.explain import rows
    from truepenny.sandbox.gap import meaning

    shown = list(rows(plan, containment.level))
    found: dict[str, Any] = {
        "level": str(containment.level),
        "limits": str(containment.limits),
        "account": {"name": plan.account.name, "uid": plan.account.uid},
        "network": containment.network,
        "gaps": {gap: meaning(gap) for gap in containment.gaps},
        "paths": [
            {
                "path": row.path,
                "mode": str(row.mount.mode),
                "source": None if row.mount.source is None else str(row.mount.source),
                "how": row.how,
                "reason": row.why,
            }
            for row in shown
            if row.mount is not None
        ],
        "hidden": [row.path for row in shown if row.mount is None],
    }
    return json_text(found)
