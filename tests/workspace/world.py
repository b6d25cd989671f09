"""A real workspace for tests, one that the account of commands can reach, with a call's context."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tests.privilege import NOBODY
from truepenny.config.settings import SandboxSettings, WorkspaceSettings
from truepenny.execute.background.runs import BackgroundRuns
from truepenny.sandbox.account import account_for
from truepenny.sandbox.choice import PROBES
from truepenny.sandbox.level import Level
from truepenny.text.redact import Redactor
from truepenny.tool.admission import Admission, Policy
from truepenny.tool.contract import CallContext, Tool
from truepenny.tool.decision import Decision
from truepenny.tool.invoke import invoke
from truepenny.tool.registry import Registry
from truepenny.tool.result import Result
from truepenny.tool.view import model_content
from truepenny.workspace.workspace import Workspace

ALL_LEVELS = ("none", "landlock", "bwrap")


def _works(level: str) -> bool:
    probe = PROBES.get(Level(level))
    return probe is None or probe(account_for(Path("/"), None)).works


LEVELS = tuple(filter(_works, ALL_LEVELS))
"""Those that hold something on this machine; `test_bash` says what comes of the others."""


@contextmanager
def folder() -> Iterator[Path]:
    """A folder that everybody may enter; pytest's own are closed to the account of commands."""
    path = Path(tempfile.mkdtemp(prefix="truepenny-test-")).resolve()
    try:
        path.chmod(0o755)
        yield path
    finally:
        shutil.rmtree(path)


@dataclass
class World:
    """A workspace and the context that its tools are called with."""

    workspace: Workspace
    context: CallContext
    progress: list[str] = field(default_factory=list[str])

    @property
    def root(self) -> Path:
        return self.workspace.root

    def write(self, name: str, text: str) -> Path:
        """Put a file into the workspace, readable by everybody."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)
        return path

    async def call(self, tool: Tool, arguments: Mapping[str, Any], **context: Any) -> Result:
        """Call it as the loop does, a person approving each call."""
        with_changes = replace(self.context, **context)
        admission = Admission(Policy(human=True))
        done = await invoke(
            tool.name, arguments, with_changes, Registry([tool]), admission, ask=_approve
        )
        return done.result


async def _approve(tool: Tool, arguments: Mapping[str, Any], decision: Decision) -> bool:
    return True


@asynccontextmanager
async def world(
    level: str = "none", *, env: Mapping[str, str] | None = None, **settings: Any
) -> AsyncGenerator[World]:
    """Open one; what still runs in the background ends with it."""
    with folder() as base:
        root, state, scratch = base / "work", base / "state", base / "scratch"
        for path in (root, state, scratch):
            path.mkdir()
        state.chmod(0o700)
        scratch.chmod(0o700)
        if os.geteuid() == 0:
            os.chown(root, NOBODY, NOBODY)
        limits = WorkspaceSettings(**settings)
        async with BackgroundRuns(state / "background", limits.background) as runs:
            workspace = Workspace(
                root=root,
                state=state,
                env=env if env is not None else {"PATH": os.defpath},
                sandbox_settings=SandboxSettings(level=level),  # pyright: ignore[reportArgumentType]
                settings=limits,
                runs=runs,
            )
            context = CallContext("ann", "ses_1", "call_1", scratch, Redactor())
            made = World(workspace, context)
            made.context = replace(context, progress=made.progress.append)
            yield made


def read(result: Result) -> str:
    """What a model reads of it."""
    (part,) = model_content(result)
    return part.text  # pyright: ignore[reportAttributeAccessIssue]
