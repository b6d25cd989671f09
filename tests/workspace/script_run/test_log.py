"""The logs of a run: written as it goes, told sparingly, and honest when the disk is full."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from truepenny.system.clock import ManualClock
from truepenny.workspace.script_run.log import RunLog


def test_progress_is_told_at_most_four_times_a_second(tmp_path: Path) -> None:
    clock, told = ManualClock(), list[str]()
    log = RunLog({"stdout": tmp_path / "o", "stderr": tmp_path / "e"}, told.append, clock)
    for number in range(10):
        log.feed("stdout", f"step {number}\n\n")
        clock.advance(0.1)
    log.close()
    assert told == ["step 0", "step 3", "step 6", "step 9"]
    assert (tmp_path / "o").read_text(encoding="utf-8").count("step") == 10
    assert (tmp_path / "o").stat().st_mode & 0o777 == 0o600


def test_a_full_disk_is_a_problem_and_no_exception(tmp_path: Path) -> None:
    # The device that is always full.
    (tmp_path / "o").touch()
    log = RunLog({"stderr": tmp_path / "e"}, lambda line: None, ManualClock())
    log._files["stdout"] = os.open("/dev/full", os.O_WRONLY)
    log.feed("stdout", "words\n")
    log.feed("stderr", "more\n")
    log.close()
    log.close()
    assert log.problem == "stdout.log is not whole: No space left on device"
    assert log.tails["stderr"].text == "more\n"


def test_a_log_never_takes_the_place_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "o").touch()
    with pytest.raises(FileExistsError):
        RunLog({"stdout": tmp_path / "o"}, lambda line: None, ManualClock())
