"""Our own `bash` tool under test: through the same one way of calling as an agent's calls."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Literal

import truepenny
from truepenny.config.settings import SandboxSettings, WorkspaceSettings
from truepenny.execute.background.runs import BackgroundRuns
from truepenny.model.message import Text
from truepenny.sandbox.account import account_for
from truepenny.text.redact import Redactor
from truepenny.tool.admission import Admission, Policy
from truepenny.tool.autonomy import Autonomy
from truepenny.tool.contract import CallContext
from truepenny.tool.invoke import invoke
from truepenny.tool.outcome import Cause, Outcome
from truepenny.tool.registry import Registry
from truepenny.tool.result import Result
from truepenny.tool.view import model_content
from truepenny.workspace.bash import bash_tool
from truepenny.workspace.shape.shaper import ERRORS_TITLE
from truepenny.workspace.workspace import Workspace

from .adapter import Adapter
from .observed import Observed

SandboxLevel = Literal["auto", "bwrap", "landlock", "none"]

_INTERRUPTED = (Outcome.INTERRUPTED, Outcome.TRUNCATED)


class NativeTool(Adapter):
    """The tool at one sandbox level. `state` is a private folder; `env` is what it is started
    with, the suite's variables among it."""

    def __init__(
        self, state: Path, env: Mapping[str, str], redactor: Redactor, level: SandboxLevel = "auto"
    ) -> None:
        self.name = _name(level)
        self.version = truepenny.__version__
        self._state = state
        self._env = dict(env)
        self._redactor = redactor
        self._sandbox = SandboxSettings(level=level)
        self._settings = WorkspaceSettings()
        self._stack = AsyncExitStack()
        self._runs: BackgroundRuns | None = None

    async def open(self) -> None:
        """Open the registry of background runs, which the tool comes with."""
        runs = BackgroundRuns(self._state / "background", self._settings.background)
        self._runs = await self._stack.enter_async_context(runs)

    async def close(self) -> None:
        """End what still runs."""
        await self._stack.aclose()

    async def prepare(self, work: Path) -> None:
        """Give the folder to the account that commands run as."""
        if os.geteuid() != 0:
            return
        account = account_for(work, None)
        _give(work, account.uid, account.gid)

    async def call(self, command: str, *, timeout: float, work: Path) -> Observed:
        """Call the tool as an agent that may do everything without asking would."""
        assert self._runs is not None, "call after open"
        workspace = Workspace(
            work, self._state, self._env, self._sandbox, self._settings, self._runs
        )
        context = CallContext("conformance", "conformance", "call", self._state, self._redactor)
        done = await invoke(
            "bash",
            {"command": command, "timeout_ms": int(timeout * 1000)},
            context,
            Registry([bash_tool(workspace)]),
            Admission(Policy(Autonomy.FULL_AUTO)),
        )
        if done.result.facts.exit is not None:
            self.name = _name(done.result.facts.sandbox)  # The level in force, not the one asked.
        return observed(done.result)


def _name(level: str) -> str:
    return f"builtin/bash ({level})"


def _give(work: Path, uid: int, gid: int) -> None:
    for path in (work, *work.rglob("*")):
        os.chown(path, uid, gid, follow_symlinks=False)


def observed(result: Result) -> Observed:
    """Return what our result says, in neutral terms."""
    facts, exited = result.facts, result.facts.exit
    stdout, stderr = _streams(result)
    complete = facts.completeness.state
    stages = None if exited is None else exited.stages
    # A writer that a satisfied reader ended failed nobody: the outcome is success then.
    failed = result.outcome.failed
    return Observed(
        text="".join(part.text for part in model_content(result) if isinstance(part, Text)),
        output=result.text,
        stdout=stdout,
        stderr=stderr,
        exit_code=None if exited is None else exited.effective,
        signal=None if exited is None else exited.signal,
        flagged=result.outcome.failed,
        timed_out=facts.cause is Cause.TIMEOUT,
        interrupted=result.outcome in _INTERRUPTED,
        truncated=None if complete == "unknown" else complete == "partial",
        stage_failure=None if stages is None else failed and any(stages),
        bytes_written=facts.bytes.observed,
        undecodable="bad_bytes" in facts.detail,
        sandbox=facts.sandbox,
        other=str(facts),
    )


def _streams(result: Result) -> tuple[str | None, str | None]:
    """Return both streams as the text tells them apart; None where it does not."""
    streams = result.facts.detail.get("streams")
    if streams is None:
        return None, None
    if not streams["stderr"]["bytes"]:
        return result.text, ""
    before, title, after = result.text.partition(ERRORS_TITLE)
    return (before, after) if title else (None, None)
