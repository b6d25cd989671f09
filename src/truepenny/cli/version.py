"""`truepenny version`, where the fast path did not catch it (e.g. with --help)."""

from __future__ import annotations

import click

from truepenny import __version__


@click.command(epilog="Example: truepenny version")
def version() -> None:
    """Print the version."""
    click.echo(f"truepenny {__version__}")
