"""Where reports are kept: `<session folder>/reports/<turn id>.json`, published whole."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from truepenny.agent.sessions import SessionStore
from truepenny.errors import TruepennyError, UsageError
from truepenny.system.atomic import publish, storage_failed
from truepenny.system.directories import ensure

from .report import Report, decode, encode

FOLDER = "reports"
_ID = re.compile(r"[A-Za-z0-9_-]{1,128}")
MOST_BYTES = 16 * 1024 * 1024
"""No report is longer: an answer and a hundred sentences are far below it."""


class NoReport(UsageError):
    """There is no report of that id."""


def save(session_folder: Path, report: Report) -> Path:
    """Write a report beside its session. Raises StorageFailed, and PolicyDenied for an odd id."""
    if not _ID.fullmatch(report.id):
        raise UsageError("a report's id is letters, digits, - and _", where=report.id)
    ensure(session_folder / FOLDER)
    path = session_folder / FOLDER / f"{report.id}.json"
    return publish(path, encode(report)).path


def entries(store: SessionStore) -> Iterator[Path]:
    """Yield the files of all reports of the store's user, newest session first."""
    for entry in store.list():
        folder = store.path(entry.id) / FOLDER
        yield from sorted(folder.glob("*.json"), reverse=True)


def load(path: Path) -> Report:
    """Read one report. Raises BadReport, StorageFailed."""
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES)
    except OSError as error:
        raise storage_failed(error, path, "reading the report") from error
    return decode(data, str(path))


def find(store: SessionStore, name: str | None) -> Report:
    """Return the report of an id, or the newest of a session's id; None is the newest of all.

    Raises NoReport, BadReport, StorageFailed.
    """
    found = list(entries(store))
    if name is None and found:
        return load(found[0])
    for path in found:
        if name in (path.stem, path.parent.parent.name):
            return load(path)
    if name is None:
        said, remedy = "there is no report yet", 'Make one: truepenny run --deep "..."'
    else:
        said, remedy = f"there is no report {name!r}", "`truepenny report list` shows them."
    raise NoReport(said, remedy=remedy)


def listed(store: SessionStore) -> Iterator[tuple[Path, Report | TruepennyError]]:
    """Yield each report or why it cannot be read; a broken one must not hide the rest."""
    for path in entries(store):
        try:
            yield path, load(path)
        except TruepennyError as error:
            yield path, error
