"""Our own tool under its own contract."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from truepenny.conformance.case import Case, shipped
from truepenny.conformance.judge import Verdict
from truepenny.conformance.native import NativeTool, SandboxLevel
from truepenny.conformance.trial import Trial, run
from truepenny.text.redact import Redactor

pytestmark = pytest.mark.anyio

SUITE = shipped()
QUICK = [case for case in SUITE.cases if case.level == "must" and not case.slow]
CATEGORIES = list(dict.fromkeys(case.category for case in QUICK))

KNOWN: dict[str, str] = {
    "environment-descriptors": "the statuses of a pipeline come back in a file that its stages see",
}
"""`should` cases that our tool does not pass, and why. None that it must."""


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that every account may enter: pytest's own are closed to the one of commands."""
    path = Path(tempfile.mkdtemp(prefix="truepenny-test-")).resolve()
    path.chmod(0o711)
    yield path
    shutil.rmtree(path)


async def trials(cases: Sequence[Case], folder: Path, level: SandboxLevel) -> list[Trial]:
    state = folder / "state"
    state.mkdir(mode=0o700)
    tool = NativeTool(state, {**os.environ, **SUITE.environment}, Redactor(), level)
    try:
        await tool.open()
        return await run(cases, tool, folder)
    finally:
        await tool.close()


def faults(done: Sequence[Trial]) -> dict[str, list[str]]:
    return {
        trial.case.id: [
            f"{one.expectation}: wanted {one.expected}, seen {one.observed}"
            for one in trial.findings
            if one.verdict is not Verdict.PASSED
        ]
        for trial in done
        if trial.verdict not in (Verdict.PASSED, Verdict.NOT_RUN)
    }


@pytest.mark.parametrize("category", CATEGORIES)
async def test_our_tool_passes_what_a_tool_must(category: str, folder: Path) -> None:
    done = await trials([case for case in QUICK if case.category == category], folder, "auto")
    assert faults(done) == {}


@pytest.mark.slow
@pytest.mark.parametrize("level", ["auto", "landlock", "none"])
async def test_our_tool_passes_all_of_it_at_every_level(level: SandboxLevel, folder: Path) -> None:
    assert set(faults(await trials(SUITE.cases, folder, level))) <= set(KNOWN)
