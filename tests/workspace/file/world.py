"""A workspace folder for file tools, and a way to call one without an agent around it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from truepenny.sandbox.roots import FileRoots
from truepenny.text.redact import Redactor
from truepenny.tool.contract import CallContext, Tool
from truepenny.tool.result import Result
from truepenny.workspace.file.access import FileAccess, FileLimits, file_access


def access(
    root: Path,
    limits: FileLimits | None = None,
    *,
    read: tuple[Path, ...] = (),
    write: tuple[Path, ...] | None = None,
    deny: tuple[Path, ...] = (),
    hidden: tuple[Path, ...] = (),
) -> FileAccess:
    """Return access to all of a folder."""
    roots = FileRoots(read, (root,) if write is None else write, deny, hidden)
    return file_access(root, roots, limits)


def context(tmp_path: Path, **changes: Any) -> CallContext:
    """Return the surroundings of a call."""
    return CallContext("user", "session", "call_1", tmp_path, Redactor(), **changes)


async def call(tool: Tool, tmp_path: Path, **arguments: Any) -> Result:
    """Run a tool as the one way to call tools would, after admission."""
    return await tool.run(arguments, context(tmp_path))
