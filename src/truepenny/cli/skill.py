"""`truepenny skill`: the shipped playbooks, and a check of one's own."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from . import complete
from .terminal import json_text, plain, table

if TYPE_CHECKING:
    from truepenny.skill import Skill, Skills


@click.group(epilog="Example: truepenny skill show pvc-debug")
def skill() -> None:
    """List the shipped skills, show one, or check a skill's folder."""


@skill.command("list", epilog="Example: truepenny skill list --json")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def list_skills(as_json: bool) -> None:
    """List the skills that can be used; one that breaks the format is named, not used."""
    skills = _load()
    if as_json:
        refused = [str(error) for error in skills.refused]
        rows = [_entry(one) for one in skills.by_name.values()]
        click.echo(json_text({"skills": rows, "refused": refused}))
        return
    cells = [(one.name, str(len(one.scripts)), one.description) for one in skills.by_name.values()]
    table(("SKILL", "SCRIPTS", "DESCRIPTION"), cells, sys.stdout)


@skill.command(epilog="Example: truepenny skill show pvc-debug")
@click.argument("name", shell_complete=complete.skill)
def show(name: str) -> None:
    """Print the playbook NAME and what its scripts report."""
    found = _load().by_name.get(name)
    if found is None:
        raise click.UsageError(f"there is no skill {name!r}. List them: truepenny skill list")
    click.echo(plain(found.description) + "\n")
    click.echo("\n".join(plain(line) for line in found.body.splitlines()))
    for script in found.scripts:
        where = ", ".join(sorted(script.contexts))
        click.echo(plain(f"\n{script.name} ({script.interpreter}; {where}): {script.summary}"))
        click.echo(plain(f"  Arguments: {script.arguments}"))


@skill.command(epilog="Example: truepenny skill check ./pvc-debug")
@click.argument("path", type=click.Path(path_type=Path))
def check(path: Path) -> None:
    """Check the skill in the folder PATH; exit 3 with file, field and remedy if broken."""
    from truepenny.skill import read

    # Absolute without following links: `.` has a name then, and a linked folder is still refused.
    found = read(path.absolute())
    for warning in found.warnings:
        click.echo(f"truepenny: {plain(warning)}", err=True)
    count = len(found.scripts)
    click.echo(f"{found.name}: keeps the format, {count} script{'' if count == 1 else 's'}")


def _load() -> Skills:
    from truepenny.skill import Skills, shipped

    skills = Skills.load([shipped()])
    for said in (*skills.warnings, *(f"not used: {error}" for error in skills.refused)):
        click.echo(f"truepenny: {plain(said)}", err=True)
    return skills


def _entry(one: Skill) -> dict[str, object]:
    scripts = [
        {
            "name": script.name,
            "interpreter": script.interpreter,
            "contexts": sorted(script.contexts),
            "summary": script.summary,
            "arguments": script.arguments,
        }
        for script in one.scripts
    ]
    return {"name": one.name, "description": one.description, "scripts": scripts}
