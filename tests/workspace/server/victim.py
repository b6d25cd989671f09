"""A parent that starts a tool server with a running command, tells their ids, and waits."""

from __future__ import annotations

import sys
from pathlib import Path

import anyio

from tests.workspace.server.world import server


async def main(folder: Path) -> None:
    async with server(folder) as found, anyio.create_task_group() as tasks:
        command = "echo $PPID $$ > ids.part; mv ids.part ids; exec sleep 60"
        tasks.start_soon(found.call, "bash", {"command": command})
        await anyio.sleep_forever()


anyio.run(main, Path(sys.argv[1]))
