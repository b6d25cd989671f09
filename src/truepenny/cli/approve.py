"""Asking the person at the terminal before a call runs."""

from __future__ import annotations

import json
import os
import sys
import termios
from collections.abc import Mapping
from typing import IO, TYPE_CHECKING, Any

import anyio.to_thread

from truepenny.tool.contract import Tool
from truepenny.tool.decision import Decision

from .terminal import plain, style

if TYPE_CHECKING:
    from truepenny.tool.invoke import Ask
    from truepenny.workspace.opening import OpenWorkspace
    from truepenny.workspace.workspace import Workspace

LONGEST_VALUE = 4000
"""Characters of one argument that are shown; what is cut is said, and can hide nothing at its
end: the beginning and the end are shown."""

YES = frozenset({"y", "yes"})


def somebody_is_there() -> bool:
    """Whether a person can be asked: a terminal to read from and one to ask on."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def approval(opened: OpenWorkspace | None) -> Ask:
    """Return what asks the person at the terminal; of a call in the folder it names that too."""
    inside = {tool.name for tool in opened.tools} if opened else frozenset[str]()

    async def asked(tool: Tool, arguments: Mapping[str, Any], decision: Decision) -> bool:
        here = place_of(opened.workspace) if opened and tool.name in inside else ""
        return await ask(tool, arguments, decision, here)

    return asked


def place_of(workspace: Workspace) -> str:
    """Return the folder and what will hold the call, as far as that is known without a trial."""
    level = workspace.level
    if level is None:
        return str(workspace.root)
    return f"{workspace.root}, held by {'nothing' if level == 'none' else level}"


async def ask(tool: Tool, arguments: Mapping[str, Any], decision: Decision, here: str = "") -> bool:
    """Show the call and wait for a yes; anything else, an empty line too, is a no.

    What was typed before the question was there is thrown away: it answered something else. The
    call stays cancellable while nobody answers.
    """
    question = shown(tool, arguments, decision, sys.stderr, here)
    termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
    print(question, end="", file=sys.stderr, flush=True)
    answer = await anyio.to_thread.run_sync(_line, abandon_on_cancel=True)
    return answer.strip().lower() in YES


def shown(
    tool: Tool,
    arguments: Mapping[str, Any],
    decision: Decision,
    stream: IO[str],
    here: str = "",
) -> str:
    """Return the question: every argument, each on its own line, harmless for a terminal."""
    lines = [style(f"{tool.name} ({tool.action_class}) wants to run", "bold", stream)]
    for name, value in arguments.items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        lines.append(f"  {name}: {_indented(plain(_bounded(text)))}")
    if here:
        lines.append(f"  in: {_indented(plain(here))}")
    if decision.message:
        lines.append(f"  because: {plain(decision.message)}")
    return "\n".join([*lines, "Run it? [y/N] "])


def _bounded(text: str) -> str:
    if len(text) <= LONGEST_VALUE:
        return text
    half = LONGEST_VALUE // 2
    left_out = len(text) - 2 * half
    return f"{text[:half]}\n[… {left_out} characters are not shown …]\n{text[-half:]}"


def _indented(text: str) -> str:
    return text.replace("\n", "\n    ")


def _line() -> str:
    # The descriptor itself: a buffered reader would keep what was typed ahead for another question.
    return os.read(sys.stdin.fileno(), 1024).decode("utf-8", "replace")
