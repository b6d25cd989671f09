"""`truepenny command`: what the policy says to a command line, before anybody trusts it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from truepenny.errors import ConfigurationError, UsageError

from .failure import Finished
from .terminal import json_text, plain

if TYPE_CHECKING:
    from truepenny.command.site import Site

CONTEXTS = ("local", "node", "pod", "host")
REFUSED = 4

MOST_LINE_BYTES = 128 * 1024
"""Linux passes no longer line to a shell; a longer one in a batch is answered as too long."""


@click.group(epilog="Example: truepenny command check --context node 'ss -tlnp | head -20'")
def command() -> None:
    """Try the rules that read-only commands are held to."""


@command.command(
    epilog="Example: truepenny command check --context host 'journalctl -u kubelet -n 50'"
)
@click.argument("line", required=False)
@click.option(
    "--context",
    type=click.Choice(CONTEXTS),
    required=True,
    help="Where it would run: here, on a node, in a pod, on a host.",
)
@click.option(
    "--site",
    type=click.Path(path_type=Path, dir_okay=False),
    help="File that adds programs of your site (TOML).",
)
@click.option("--batch", is_flag=True, help="Check each line of standard input; print NDJSON.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def check(line: str | None, context: str, site: Path | None, batch: bool, as_json: bool) -> None:
    """Say whether LINE would be allowed in a context, or by which rule it is refused.

    Nothing is run. Exit 0 when it is allowed, 4 when it is refused; of a batch 4 when any is.
    """
    if batch == (line is not None):
        raise UsageError(
            "give one line, or --batch with lines on standard input",
            where="LINE",
            remedy="Quote the line: truepenny command check --context local 'kubectl get pods'",
        )
    extra = _site(site)
    if not batch:
        answer = _checked(line or "", context, extra)
        click.echo(json_text(answer) if as_json else _told(answer))
        raise Finished(0 if answer["allowed"] else REFUSED)
    refused = False
    for text in _lines():
        answer = _checked(text, context, extra)
        refused = refused or not answer["allowed"]
        click.echo(json_text(answer, indent=None))
    raise Finished(REFUSED if refused else 0)


def _site(path: Path | None) -> Site | None:
    if path is None:
        return None
    from truepenny.command.site import read

    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise ConfigurationError(f"{path} cannot be read: {why}", where="--site") from error
    return read(text, str(path))


def _lines() -> Iterator[str]:
    """Yield the lines that come, without holding more than one; empty ones are no commands."""
    source = sys.stdin.buffer
    while raw := source.readline(MOST_LINE_BYTES + 1):
        # The rest of a line that is too long belongs to it: its beginning alone is refused.
        whole = raw
        while len(whole) > MOST_LINE_BYTES and not raw.endswith(b"\n"):
            if not (raw := source.readline(MOST_LINE_BYTES)):
                break
        text = whole.decode("utf-8", "surrogateescape").rstrip("\r\n")
        if text:
            yield text


def _checked(text: str, context: str, site: Site | None) -> dict[str, Any]:
    from truepenny.command.check import Admitted
    from truepenny.command.check import check as check_line

    base: dict[str, Any] = {"line": text[:2000], "context": context}
    if len(text.encode("utf-8", "surrogateescape")) > MOST_LINE_BYTES:
        message = f"the line is longer than {MOST_LINE_BYTES} bytes"
        return {**base, "allowed": False, "rejected_by": "too_long", "message": message}
    found = check_line(text, context, extra=None if site is None else site.programs)
    if isinstance(found, Admitted):
        return {**base, "allowed": True, "programs": list(found.programs)}
    return {**base, "allowed": False, **found.as_dict()}


def _told(answer: dict[str, Any]) -> str:
    if answer["allowed"]:
        return plain(f"allowed: {', '.join(answer['programs'])}")
    lines = [f"refused ({answer['rejected_by']}): {answer['message']}"]
    if answer.get("matched"):
        lines.append(f"  matched: {answer['matched']}")
    if answer.get("expands_onto"):
        lines.append(f"  reaches: {answer['expands_onto']}")
    if answer.get("hint"):
        lines.append(f"  this is allowed: {answer['hint']}")
    return plain("\n".join(lines))
