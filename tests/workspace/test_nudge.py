"""The word towards the file tools: for the lines that they replace, and only once."""

from __future__ import annotations

import pytest

from truepenny.workspace.bash import bash_tool
from truepenny.workspace.nudge import nudge

from .world import read, world


@pytest.mark.parametrize(
    ("line", "tool"),
    [
        ("cat notes.txt", "tool read"),
        ("/bin/cat notes.txt", "tool read"),
        ("cd src; ls -la", "tool find"),
        ("grep -rn TODO src 2>/dev/null", "tool grep"),
        ("find . -name '*.py'", "tool find"),
    ],
)
def test_lines_that_a_tool_replaces(line: str, tool: str) -> None:
    assert tool in nudge(line)


@pytest.mark.parametrize(
    "line",
    [
        "cat a | sort",
        "make && ls",
        "sort a",
        "cat >a <<'E'\nx\nE",
        "cat a >b",
        "cat 'a",
        "ls &",
        "(",
    ],
)
def test_other_lines(line: str) -> None:
    assert nudge(line) == ""


@pytest.mark.anyio
async def test_it_is_said_once_a_session() -> None:
    async with world() as here:
        here.write("a", "text\n")
        tool = bash_tool(here.workspace)
        told = [await here.call(tool, {"command": line}) for line in ("true", "cat a", "cat a")]
        assert ["tool read" in read(one) for one in told] == [False, True, False]
        again = await here.call(tool, {"command": "cat a"}, session="another")
        assert "tool read" in read(again)
