"""Asked to end, a command ends in order: nothing of it stays behind."""

from __future__ import annotations

import os
import select
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import Account


def _in_front() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _in_the_background() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@pytest.mark.parametrize(
    ("number", "before"),
    [
        (signal.SIGTERM, _in_front),
        (signal.SIGHUP, _in_front),
        (signal.SIGINT, _in_front),
        (signal.SIGTERM, _in_the_background),
        (signal.SIGHUP, _in_the_background),
    ],
)
def test_a_signal_leaves_neither_processes_nor_folders(
    account: Account, tmp_path: Path, number: signal.Signals, before: Callable[[], None]
) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    account.env["TMPDIR"] = str(scratch)
    process = account.start(
        "triage", "--demo", "healthy", "--fault", "hang:/api/v1/pods", preexec_fn=before
    )
    # It has begun to read once a kubectl runs.
    while not _kubectl(scratch):
        assert process.poll() is None
    process.send_signal(number)
    assert process.wait(20) == 130
    assert not _kubectl(scratch)
    assert list(scratch.iterdir()) == []


def test_killed_outright_it_leaves_no_process_and_the_next_takes_its_folders_away(
    account: Account, tmp_path: Path
) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    account.env["TMPDIR"] = str(scratch)
    process = account.start("triage", "--demo", "healthy", "--fault", "hang:/api/v1/pods")
    while not (running := _kubectl(scratch)):
        assert process.poll() is None
    handles = [os.pidfd_open(int(pid)) for pid in running]
    process.kill()
    process.wait(20)
    for handle in handles:
        assert select.select([handle], [], [], 20)[0]
        os.close(handle)
    assert list(scratch.iterdir()) != []
    assert account.run("triage", "--demo", "healthy").returncode == 0
    assert list(scratch.iterdir()) == []


def _kubectl(scratch: Path) -> list[str]:
    """The processes that use a kubeconfig below the folder."""
    found: list[str] = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                environment = (entry / "environ").read_bytes()
            except OSError:
                continue
            if f"KUBECONFIG={scratch}".encode() in environment:
                found.append(entry.name)
    return found
