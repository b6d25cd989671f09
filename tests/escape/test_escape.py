"""Every attempt at every level that works here, for root that drops and for an ordinary user."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from truepenny.sandbox.gap import GAPS

from .attempt import Attempt, attempts
from .machine import administers, has
from .scene import OTHER, OTHER_SECRET, PARENT_SECRET, token

ROOT = Path(__file__).parents[2]
SECONDS = 300
MOST_LOOKS = 60

HALVES = ("root", "user") if os.geteuid() == 0 else ("user",)


@pytest.mark.parametrize("half", HALVES)
def test_every_attempt_ends_as_its_cell_says(half: str) -> None:
    report = drive(half)
    head, runs = report[0], report[1:]
    assert head["account"] == half
    wanted = {one.id: one for one in attempts() if not one.needs or has(one.needs)}
    found = {(run["id"], run["run"]): run for run in runs}
    wrong = [
        f"{id} at {name}: {why}\n{found.get((id, name), {}).get('text', '')}"
        for id, attempt in wanted.items()
        for name, why in _wrong(attempt, half, head["levels"], found)
    ]
    assert wrong == [], "\n".join(wrong)
    assert len(wanted) >= 60


def _wrong(
    attempt: Attempt,
    half: str,
    levels: list[str],
    found: Mapping[tuple[str, str], Mapping[str, Any]],
) -> Iterator[tuple[str, str]]:
    for level in levels:
        cell = attempt.cell(level, half)
        if why := _differs(cell, found[attempt.id, level]):
            yield level, f"{why} (expected: {cell})"
    control = attempt.controls(half)
    run = found.get((attempt.id, control))
    # An ordinary user cannot show what root could do, nor can root of a container.
    shown = control != "root" or (half == "root" and administers())
    if run is None and control not in ("", "none") and shown:
        yield control, "the control did not run"
    if run is not None and control != "none" and not run["success"]:
        yield control, "the control does not succeed: the attempt is dead"


def _differs(cell: str, run: Mapping[str, Any]) -> str:
    kind, _, word = cell.partition(":")
    told = word in run["gaps"]
    if run["ran"] == (kind == "refused"):
        return "it ran" if run["ran"] else "it did not run"
    if kind in ("gap", "depends", "may") and run["success"] and not told:
        return f"the result does not name {word}: {run['gaps']}"
    match kind:
        case "gap":
            wrong = not run["success"]
        case "depends":
            wrong = run["success"] != told
        case "may":
            wrong = False
        case "allowed":
            wrong = not run["success"]
        case _:
            wrong = run["success"]
    return f"success {run['success']}" if wrong else ""


def drive(half: str) -> list[dict[str, Any]]:
    """Run the suite in a process of its own, which has secrets of its own."""
    uid = 61000 + secrets.randbelow(4000) if os.geteuid() == 0 else os.geteuid()
    argument = token("argument")
    words = [f"{'+' if half == 'user' and os.geteuid() == 0 else ''}{uid}", argument]
    with another_account() as other:
        env = {**os.environ, **other, PARENT_SECRET: token("parent")}
        done = subprocess.run(
            [sys.executable, "-m", "tests.escape.drive", *words],
            cwd=ROOT,
            env=env,
            capture_output=True,
            timeout=SECONDS,
            check=False,
        )
    if os.geteuid() == 0:
        assert left_by(uid) == []
    assert done.returncode == 0, done.stderr.decode()
    assert done.stderr == b"", done.stderr.decode()
    return [json.loads(line) for line in done.stdout.splitlines()]


def left_by(uid: int) -> list[str]:
    """Return what a user still runs; what its end takes is waited for, a few moments long."""
    for _ in range(MOST_LOOKS):
        found = [
            path.read_text(encoding="ascii")
            for path in Path("/proc").glob("[0-9]*/stat")
            if _owner(path) == uid
        ]
        if not found:
            break
        threading.Event().wait(0.05)
    return found


def _owner(path: Path) -> int | None:
    try:
        return path.stat().st_uid
    except OSError:
        return None


@contextmanager
def another_account() -> Iterator[dict[str, str]]:
    """As root, leave a program that gives the rights of one more account, and a secret of it."""
    if os.geteuid() != 0:
        yield {}
        return
    folder = Path(tempfile.mkdtemp(prefix="truepenny-other-")).resolve()
    try:
        folder.chmod(0o755)
        secret = token("other")
        (folder / "secret").write_text(secret, encoding="utf-8")
        shutil.copy("/bin/cat", folder / "cat")
        for name, mode in (("secret", 0o600), ("cat", 0o4755)):
            os.chown(folder / name, 60999, 60999)
            (folder / name).chmod(mode)
        yield {OTHER: str(folder), OTHER_SECRET: secret}
    finally:
        shutil.rmtree(folder)


def test_every_word_of_a_cell_is_a_gap() -> None:
    known = {gap.word for gap in GAPS}
    used = {
        cell.partition(":")[2]
        for attempt in attempts()
        for cells in attempt.cells.values()
        for cell in cells.values()
        if ":" in cell
    }
    assert used <= known


def test_every_attempt_is_known_to_be_alive() -> None:
    ids = [attempt.id for attempt in attempts()]
    assert len(ids) == len(set(ids)) >= 60
    for attempt in attempts():
        for account in ("root", "user"):
            assert bool(attempt.controls(account)) != bool(attempt.no_control), attempt.id
