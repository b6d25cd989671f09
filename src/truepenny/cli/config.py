"""`truepenny config`: the settings in force and where each comes from."""

from __future__ import annotations

import sys

import click

from . import complete
from .terminal import json_text, table


@click.group(epilog="Example: truepenny config show")
def config() -> None:
    """Look at the settings."""


@config.command(epilog="Example: truepenny config show model")
@click.argument("prefix", default="", shell_complete=complete.setting)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("--set", "only_set", is_flag=True, help="Only what somebody set.")
def show(prefix: str, as_json: bool, only_set: bool) -> None:
    """Print each key with its value and source, all or those below PREFIX; secrets are masked."""
    from truepenny.config.load import DEFAULT
    from truepenny.config.show import effective
    from truepenny.errors import UsageError

    from .workbench import Workbench

    bench = Workbench()
    rows = [
        row
        for row in effective(bench.loaded)
        if (row.key == prefix or row.key.startswith(f"{prefix}." if prefix else ""))
        and not (only_set and row.source == DEFAULT)
    ]
    if prefix and not rows and not only_set:
        raise UsageError(
            f"there is no setting {prefix!r}",
            where="PREFIX",
            remedy="`truepenny config show` lists all.",
        )
    if as_json:
        file = str(bench.loaded.file) if bench.loaded.file else None
        keys = {
            row.key: {
                "value": row.value,
                "source": row.source,
                "description": row.description,
            }
            for row in rows
        }
        click.echo(json_text({"file": file, "settings": keys}))
        return
    click.echo(f"file: {bench.loaded.file or f'none ({bench.directories.config}/truepenny.toml)'}")
    cells = [(row.key, row.value, row.source, row.description) for row in rows]
    table(("KEY", "VALUE", "SOURCE", "WHAT IT DOES"), cells, sys.stdout)
