"""A process that works in a session until it is killed: `python -m tests.agent.victim STATE`.

Prints the session id once it is there, then a dot per turn.
"""

from __future__ import annotations

import itertools
import sys
from pathlib import Path

import anyio

from .scripted import calls, says
from .world import ECHO, SLOW_WRITE, agent_with


async def main(state: Path) -> None:
    def reply(request: object) -> object:
        number = next(count)
        if number % 3 == 2:
            return says(f"answer {number} " * 50)
        return calls((f"c{number}", "echo", {"text": "x" * 5000}), (f"d{number}", "write", {}))

    count = itertools.count()
    async with agent_with(state, [reply], ECHO, SLOW_WRITE, repeat=True) as (agent, _):
        print(agent.session.id, flush=True)
        for turn in itertools.count():
            async for _event in agent.run(f"prompt {turn}"):
                pass
            print(".", end="", flush=True)


if __name__ == "__main__":
    anyio.run(main, Path(sys.argv[1]))
