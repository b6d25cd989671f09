"""A tool server for tests: a real process with a workspace, outside of any sandbox."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

from truepenny.workspace.server.client import Start, ToolServer, open_server
from truepenny.workspace.server.protocol import PROTOCOL, Hello

PATH = os.environ.get("PATH", os.defpath)


def hello(tmp_path: Path, **changes: Any) -> Hello:
    """Return a hello for a workspace below `tmp_path`."""
    root, scratch = tmp_path / "work", tmp_path / "scratch"
    root.mkdir(exist_ok=True)
    scratch.mkdir(exist_ok=True)
    words: dict[str, Any] = {
        "protocol": PROTOCOL,
        "cwd": str(root),
        "subprocess_env": {"PATH": PATH},
        "read_roots": [],
        "write_roots": [str(root)],
        "denied_roots": [],
        "hidden_roots": [],
        "deferred_dir": str(scratch),
        **changes,
    }
    return Hello(**words)


def server(
    tmp_path: Path, env: Mapping[str, str] | None = None, **changes: Any
) -> AbstractAsyncContextManager[ToolServer]:
    """Return a server to enter."""
    return open_server(Start(hello(tmp_path, **changes), {"PATH": PATH} if env is None else env))
