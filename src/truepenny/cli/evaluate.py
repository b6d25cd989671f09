"""`truepenny evaluate`: a model's answers against incidents with known causes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import anyio
import click

from truepenny.system.scratch import scratch_folder

from . import complete
from .assemble import assemble
from .failure import COULD_NOT_RUN, Finished
from .interruptible import run as run_interruptible
from .terminal import Progress, json_text
from .workbench import Workbench

if TYPE_CHECKING:
    from truepenny.evaluate.answer import Answer, Question
    from truepenny.evaluate.report import Report


@click.command(epilog="Example: truepenny evaluate checkout-oom healthy")
@click.argument("names", nargs=-1, shell_complete=complete.evaluated)
@click.option(
    "--model",
    metavar="NAME",
    shell_complete=complete.model,
    help="Model to score; else the default.",
)
@click.option(
    "--incidents",
    "folder",
    type=click.Path(path_type=Path),
    help="Folder of incidents; else the shipped ones.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("--markdown", is_flag=True, help="Print Markdown tables.")
def evaluate(
    names: tuple[str, ...], model: str | None, folder: Path | None, as_json: bool, markdown: bool
) -> None:
    """Ask a model about incidents whose causes are known, each in its own practice cluster.

    Exit 0 when every answer passed, 1 when one failed, 5 when one could not be had at all:
    that is not the same as a wrong answer and never scored as one.
    """
    from truepenny.evaluate.incident import incidents
    from truepenny.evaluate.report import Report
    from truepenny.evaluate.shipped import shipped
    from truepenny.evaluate.trial import evaluate as run_trials

    bench = Workbench()
    chosen = incidents(folder or shipped(), names)
    subject = _subject(bench, model)
    progress = Progress()
    done = 0

    async def answer(question: Question) -> Answer:
        nonlocal done
        done += 1
        progress.show(f"{done} of {len(chosen)}: {question.incident} …")
        return await _answer(bench, model, question)

    trials = run_interruptible(run_trials, chosen, answer)
    progress.clear()
    report = Report(subject, tuple(trials))
    if as_json:
        click.echo(json_text(report.to_json()))
    else:
        click.echo(f"{subject}, {len(chosen)} incident{'' if len(chosen) == 1 else 's'}\n")
        click.echo(report.markdown() if markdown else report.table())
    raise Finished(_exit_code(report))


def _exit_code(report: Report) -> int:
    if report.total.could_not_run:
        return COULD_NOT_RUN
    return 0 if report.passed else 1


def _subject(bench: Workbench, model: str | None) -> str:
    from truepenny.model.catalog import find

    return find(model, bench.settings, bench.env).name


async def _answer(bench: Workbench, name: str | None, question: Question) -> Answer:
    """Run one agent in a session of its own that is thrown away."""
    from truepenny.agent.event import RunFinished, ToolStarted
    from truepenny.agent.sessions import SessionStore
    from truepenny.agent.stop import StopKind
    from truepenny.errors import CouldNotRun
    from truepenny.evaluate.answer import Answer
    from truepenny.tool.admission import Policy
    from truepenny.tool.autonomy import Autonomy

    from .place import practice

    model = bench.model(name)
    calls: set[str] = set()
    last: RunFinished | None = None
    with (
        scratch_folder("evaluate") as state,
        practice(bench, question.scenario) as reached,
    ):
        store = SessionStore(state, bench.user, clock=bench.clock, redactor=bench.redactor)
        session = await store.create({"origin": "evaluate"})
        try:
            async with assemble(
                bench, model, reached.clusters, session, Policy(autonomy=Autonomy.READ_ONLY)
            ) as agent:
                async for event in agent.run(question.prompt):
                    if isinstance(event, ToolStarted):
                        calls.add(event.call)
                    elif isinstance(event, RunFinished):
                        last = event
        finally:
            with anyio.CancelScope(shield=True):
                await session.close()
                await model.close()
    if last is None:
        raise CouldNotRun("the run had no end", where=question.incident)
    if last.stop.failure is not None:
        raise CouldNotRun(last.stop.failure.message, where=f"model ({last.stop.failure.kind})")
    if last.stop.kind in (StopKind.INTERNAL_ERROR, StopKind.STORAGE_FAILED):
        # A fault of ours says nothing about the model.
        raise CouldNotRun(last.stop.message or last.stop.detail, where=str(last.stop.kind))
    return Answer(
        last.answer,
        seconds=last.totals["duration"],
        tool_calls=last.totals["calls"],
        calls=frozenset(calls),
        stop=str(last.stop.kind),
        claims=last.claims["counts"],
    )
