"""`truepenny session`: what past runs said and did, read from their files."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import click

from truepenny.errors import TruepennyError, UsageError

from . import complete
from .failure import Finished, say
from .terminal import json_text, plain, style, table
from .workbench import Workbench

if TYPE_CHECKING:
    from truepenny.agent.transcript import Transcript

POLL_SECONDS = 0.3
"""How often `tail` looks for more: faster than a person reads, slower than a disk minds."""

NO_SESSION = "there is no session yet"

MAKE_SESSION = 'Make one: truepenny run "Why is checkout failing?"'


def _named(bench: Workbench, session_id: str | None) -> str:
    """Return the id that was typed, or the newest session's."""
    if session_id:
        return session_id
    entries = bench.sessions.list()
    if not entries:
        raise UsageError(NO_SESSION, remedy=MAKE_SESSION)
    return entries[0].id


def _read(session_id: str | None) -> Transcript:
    """Return a transcript that can be read: of another one nothing is known, not even nothing."""
    bench = Workbench()
    found = bench.sessions.read(_named(bench, session_id))
    if not found.readable:
        raise TruepennyError(
            f"its transcript is unreadable: {found.reason}",
            where=str(found.path),
            remedy="The file stays as it is; `session list` shows the others.",
        )
    return found


@click.group(epilog="Example: truepenny session show")
def session() -> None:
    """Look at past sessions of yours; without an ID the newest."""


@session.command("list", epilog="Example: truepenny session list --json")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def list_sessions(as_json: bool) -> None:
    """List the sessions, newest first."""
    entries = Workbench().sessions.list()
    if as_json:
        rows = [entry.to_json() for entry in entries]
        click.echo(json_text({"sessions": rows}))
        return
    cells = [
        (
            entry.id,
            entry.started[:16].replace("T", " ") or "unknown",
            entry.model,
            str(entry.turns) if entry.readable else "?",
            "unreadable" if not entry.readable else "damaged" if entry.damaged else "",
            entry.prompt,
        )
        for entry in entries
    ]
    header = ("SESSION", "STARTED (UTC)", "MODEL", "TURNS", "STATE", "PROMPT")
    table(header, cells, sys.stdout, fold=False)
    if not entries:
        say(f"{NO_SESSION}\n  {MAKE_SESSION}")


@session.command("show", epilog="Example: truepenny session show --calls")
@click.argument("session_id", required=False, shell_complete=complete.session)
@click.option("--calls", is_flag=True, help="With what each call returned.")
@click.option("--json", "as_json", is_flag=True, help="Print the whole transcript as one object.")
def show_session(session_id: str | None, calls: bool, as_json: bool) -> None:
    """Show what was asked, done and answered; damage and cuts in the file are named.

    Exit 1 when the transcript cannot be read or the ledger is not what was written.
    """
    from truepenny.agent import ledger

    bench = Workbench()
    found = bench.sessions.read(_named(bench, session_id))
    checked = ledger.verify(found.path.with_name(ledger.FILE_NAME), _recorded_head(found))
    if as_json:
        click.echo(json_text(_whole(found, checked)))
    else:
        _print_head(found)
        for record in found.records:
            for line in lines(record, calls):
                click.echo(line)
        _print_state(found, checked)
    raise Finished(0 if found.readable and checked.intact is not False else 1)


@session.command(epilog="Example: truepenny session tail")
@click.argument("session_id", required=False, shell_complete=complete.session)
@click.option("--calls", is_flag=True, help="With what each call returned.")
@click.option("--follow/--no-follow", default=None, help="Wait for more; default on a terminal.")
def tail(session_id: str | None, calls: bool, follow: bool | None) -> None:
    """Show a session and go on showing as it grows, until Ctrl-C."""
    from truepenny.agent.transcript import read_transcript

    found = _read(session_id)
    follow = sys.stdout.isatty() if follow is None else follow
    while True:
        for record in found.records:
            for line in lines(record, calls):
                click.echo(line)
        if found.malformed:
            say(f"{found.malformed} malformed lines were skipped")
        if not follow:
            return
        sys.stdout.flush()
        time.sleep(POLL_SECONDS)
        found = read_transcript(found.path, found.end)


@session.command(epilog="Example: truepenny session stats")
@click.argument("session_id", required=False, shell_complete=complete.session)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def stats(session_id: str | None, as_json: bool) -> None:
    """Count turns, calls by outcome, tokens and time; cost only where it was really charged."""
    from truepenny.agent.stats import stats as count

    counted = count(_read(session_id)).to_json()
    if as_json:
        click.echo(json_text(counted))
        return
    table(("WHAT", "VALUE"), list(_stat_rows(counted)), sys.stdout)


def _stat_rows(counted: Mapping[str, Any]) -> list[tuple[str, str]]:
    rows: list[tuple[str, str]] = []
    for name, value in counted.items():
        if name == "costs":
            rows.append(("cost", _charged(value)))
        elif isinstance(value, dict):
            pairs = cast("Mapping[str, Any]", value)
            rows.extend((f"{name}: {key}", _known(inner)) for key, inner in pairs.items())
        else:
            rows.append((name, _known(value)))
    return rows


def _charged(costs: Sequence[Mapping[str, Any]]) -> str:
    from truepenny.model.cost import CHARGED, rendered
    from truepenny.model.usage import Cost

    charged = [Cost(**cost) for cost in costs if cost["basis"] == CHARGED]
    return ", ".join(map(rendered, charged)) or rendered(None)


def _known(value: Any) -> str:
    return "not measured" if value is None else str(value)


def lines(record: Mapping[str, Any], calls: bool = False) -> list[str]:
    """Return a record as lines for a person; none for what only machines need.

    What was said and read is made harmless to a terminal: old transcripts may hold anything.
    """
    kind = record["type"]
    match kind:
        case "message" if record.get("role") == "user":
            return _said("you", record)
        case "message" if record.get("role") == "assistant":
            return _said("agent", record)
        case "tool":
            arguments = json_text(record.get("arguments"), indent=None)
            line = f"  → [{record.get('call')}] {record.get('tool')} {arguments}"
            return [style(plain(line), "cyan", sys.stdout)]
        case "result":
            mark = "✗" if record.get("failed") else "✓"
            shown = [plain(f"  {mark} [{record.get('call')}] {record.get('outcome')}")]
            return shown + (_indented(record) if calls else [])
        case "stop":
            why = f": {record['message']}" if record.get("message") else ""
            return [style(plain(f"── {record.get('kind')}{why}"), "dim", sys.stdout)]
        case "steer":
            return [plain(f"you, meanwhile: {record.get('text')}")]
        case "repair" | "retry" | "error" | "notice" | "partial":
            words = record.get("message") or record.get("detail") or ""
            line = plain(f"  ! {kind} {record.get('kind', '')} {words}".rstrip())
            return [style(line, "yellow", sys.stdout)]
        case _:
            return []


def _said(who: str, record: Mapping[str, Any]) -> list[str]:
    text = "\n".join(_texts(record)).strip()
    return ["", style(f"{who}:", "bold", sys.stdout), text] if text else []


def _indented(record: Mapping[str, Any]) -> list[str]:
    return [f"      {line}" for text in _texts(record) for line in text.splitlines()]


def _texts(record: Mapping[str, Any]) -> list[str]:
    content = record.get("content")
    parts = cast("list[Mapping[str, Any]]", content) if isinstance(content, list) else []
    return [
        plain(part["text"])
        for part in parts
        if isinstance(part, dict) and isinstance(part.get("text"), str)
    ]


def _recorded_head(found: Transcript) -> Any:
    from truepenny.agent.ledger import Head

    for record in reversed(found.records):
        head = record.get("ledger") if record["type"] == "stop" else None
        if isinstance(head, dict):
            rows, digest = head.get("rows"), head.get("hash")  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
            if isinstance(rows, int) and isinstance(digest, str):
                return Head(rows, digest)
    return None


def _print_head(found: Transcript) -> None:
    click.echo(f"session {found.session}, begun {found.header.get('ts', 'unknown')}")


def _print_state(found: Transcript, checked: Any) -> None:
    click.echo()
    if not found.readable:
        click.echo(f"unreadable: {found.reason}")
    if found.malformed:
        places = ", ".join(map(str, found.malformed_lines))
        click.echo(f"{found.malformed} malformed lines were skipped: {places}")
    if found.tail != "none":
        click.echo(
            f"the last {found.tail_bytes} bytes are an unfinished write: "
            "the session is running, or was cut off there"
        )
    elif _open(found):
        click.echo("the last turn has no recorded end: it is running, or was cut off")
    if checked.intact is None:
        click.echo(f"ledger: unknown ({checked.reason})")
    elif checked.intact:
        click.echo(f"ledger: {checked.rows} rows, unbroken")
    else:
        click.echo(f"ledger: broken at line {checked.broken_at}: {checked.reason}")


def _open(found: Transcript) -> bool:
    last = [r["type"] for r in found.records if r["type"] in ("turn", "stop")]
    return bool(last) and last[-1] == "turn"


def _whole(found: Transcript, checked: Any) -> dict[str, Any]:
    return {
        "session": found.session,
        "user": found.user,
        "readable": found.readable,
        "reason": found.reason,
        "malformed": found.malformed,
        "malformed_lines": list(found.malformed_lines),
        "tail": found.tail,
        "tail_bytes": found.tail_bytes,
        "open_turn": _open(found),
        "ledger": {
            "intact": checked.intact,
            "rows": checked.rows,
            "broken_at": checked.broken_at,
            "reason": checked.reason,
        },
        "header": found.header,
        "records": list(found.records),
    }
