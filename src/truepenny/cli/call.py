"""Calling one tool by hand: through the same admission and the same view as a model's call."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TextIO

import click

from .approve import approval, somebody_is_there
from .failure import COULD_NOT_RUN, USAGE
from .interruptible import run as run_interruptible
from .outputs import outputs
from .place import Place
from .terminal import Progress, json_text, plain
from .work import Work, open_work
from .workbench import Workbench

if TYPE_CHECKING:
    from truepenny.tool.contract import Tool
    from truepenny.tool.decision import Decision
    from truepenny.tool.outcome import Outcome
    from truepenny.tool.result import Result

REFUSED = 4


def call(
    bench: Workbench, reached: Place, name: str, arguments: Mapping[str, Any], work: Work
) -> Result:
    """Call a tool and return its result, whose whole output is kept for a while."""
    return run_interruptible(_call, bench, reached, name, arguments, work)


async def _call(
    bench: Workbench, reached: Place, name: str, arguments: Mapping[str, Any], work: Work
) -> Result:
    from truepenny.tool.admission import Admission
    from truepenny.tool.contract import CallContext
    from truepenny.tool.invoke import invoke

    progress = Progress()
    human = somebody_is_there()

    progress.show(f"{name} …")
    with outputs(bench) as scratch:
        context = CallContext(
            user=bench.user,
            session="",
            call_id="call_1",
            scratch=scratch,
            redactor=bench.redactor,
            clock=bench.clock,
            progress=lambda line: progress.show(f"{name}: {line}"),
        )
        async with open_work(bench, work, background=False) as opened:
            ask = approval(opened)

            async def asking(tool: Tool, arguments: Mapping[str, Any], decision: Decision) -> bool:
                progress.clear()
                return await ask(tool, arguments, decision)

            done = await invoke(
                name,
                arguments,
                context,
                bench.registry(reached.clusters, opened.tools if opened else (), reached.hosts),
                Admission(work.policy(bench, human=human)),
                asking if human else None,
            )
    progress.clear()
    return done.result


def show(result: Result, as_json: bool, *, body_only: bool = False) -> None:
    """Print a result: whole as JSON, as the model reads it, or only what the target said."""
    from truepenny.model.message import Text
    from truepenny.tool.view import model_content, to_json

    if as_json:
        click.echo(json_text(to_json(result)))
    elif body_only and not result.outcome.failed:
        _print(result.text, sys.stdout)
    else:
        head = model_content(result)[0]
        stream = sys.stderr if body_only else sys.stdout
        _print(head.text if isinstance(head, Text) else "", stream)


def _print(text: str, stream: TextIO) -> None:
    """Print a text that may end with a newline of its own: no second one."""
    shown = plain(text)
    click.echo(shown, file=stream, nl=not shown.endswith("\n"))


def exit_code(outcome: Outcome) -> int:
    """Return the exit code for an outcome (architecture: 0 to 5)."""
    from truepenny.tool.outcome import Outcome

    if not outcome.failed:
        return 0
    return {
        Outcome.REFUSED: REFUSED,
        Outcome.INVALID_ARGUMENTS: USAGE,
        Outcome.MISSING_DEPENDENCY: COULD_NOT_RUN,
        Outcome.NOT_EXECUTABLE: COULD_NOT_RUN,
        Outcome.CHANNEL_FAILED: COULD_NOT_RUN,
    }.get(outcome, 1)
