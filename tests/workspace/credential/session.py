"""An open workspace with programs outside, for tests: the whole way from settings to results."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import anyio

from tests.privilege import NOBODY
from tests.workspace.world import folder
from truepenny.config.redaction import redactor as redactor_of
from truepenny.config.settings import Settings
from truepenny.text.redact import Redactor
from truepenny.tool.contract import CallContext
from truepenny.tool.result import Result
from truepenny.workspace.opening import OpenWorkspace, open_workspace


@contextmanager
def place() -> Generator[Path]:
    """A folder with the workspace `work`, which the account of commands may write, and `state`."""
    with folder() as path:
        (path / "work").mkdir()
        (path / "state").mkdir(mode=0o700)
        if os.geteuid() == 0:
            os.chown(path / "work", NOBODY, NOBODY)
        yield path


def program(path: Path, *lines: str) -> str:
    """Write a shell script that is a program; return its path as the settings name it."""
    path.write_text("\n".join(("#!/bin/sh", *lines, "")), encoding="utf-8")
    path.chmod(0o755)
    return str(path)


class Session:
    """An open workspace; `work` is its folder."""

    def __init__(self, opened: OpenWorkspace, base: Path, redactor: Redactor) -> None:
        self.opened, self.work = opened, base / "work"
        self.context = CallContext("ann", "ses", "call_1", base / "state", redactor)

    async def call(self, name: str, arguments: Mapping[str, Any]) -> Result:
        """Call a tool by its name."""
        (tool,) = (tool for tool in self.opened.tools if tool.name == name)
        return await tool.run(arguments, self.context)

    async def bash(self, line: str, **more: Any) -> Result:
        """Run a line."""
        return await self.call("bash", {"command": line, **more})


@asynccontextmanager
async def session(
    base: Path, settings: Mapping[str, Any], env: Mapping[str, str] | None = None
) -> AsyncGenerator[Session]:
    """Open the workspace of a `place`; `env` is our own environment beside PATH and HOME."""
    ours = {"PATH": f"{base / 'work'}:{os.defpath}", "HOME": str(base), **(env or {})}
    made = Settings.model_validate(settings)
    redactor = redactor_of(made, ours)
    with anyio.fail_after(60):
        async with open_workspace(base / "work", base / "state", ours, made, redactor) as opened:
            yield Session(opened, base, redactor)
