"""`truepenny run`: one prompt to its answer."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

import anyio
import click

from truepenny.errors import ConfigurationError, UsageError

from . import complete
from .approve import approval, somebody_is_there
from .assemble import assemble
from .failure import COULD_NOT_RUN, Finished, say
from .interruptible import ends
from .place import Place, place, place_options
from .standard_input import read_piped
from .terminal import json_text
from .work import Work, open_work, work_options
from .workbench import Workbench

if TYPE_CHECKING:
    from truepenny.agent.agent import Agent
    from truepenny.agent.event import RunEvent, RunFinished
    from truepenny.agent.session import Session
    from truepenny.model.request import Model

    from .render import Output, RunView

EXAMPLE = 'Example: truepenny run "Why is checkout failing?"'


@click.command(epilog=EXAMPLE)
@click.argument("prompt", nargs=-1)
@click.option(
    "--model",
    metavar="NAME",
    shell_complete=complete.model,
    help="Model to use, e.g. provider/model.",
)
@place_options
@work_options
@click.option(
    "--session",
    metavar="ID",
    shell_complete=complete.session,
    help="Go on with this session instead of a new one.",
)
@click.option("--deep", is_flag=True, help="Work by hypotheses and leave a report.")
@click.option("--max-turns", type=click.IntRange(1), help="Most requests to the model.")
@click.option(
    "--stdin/--no-stdin",
    "piped",
    default=None,
    help="Wait for piped input as context, or ignore it; without either it is read if it comes.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the events, one JSON object a line.")
def run(
    prompt: tuple[str, ...],
    model: str | None,
    cluster: str | None,
    demo: str | None,
    faults: tuple[str, ...],
    workspace: str | None,
    autonomy: str | None,
    session: str | None,
    deep: bool,
    max_turns: int | None,
    piped: bool | None,
    as_json: bool,
) -> None:
    """Ask PROMPT; the answer goes to stdout, what is done to find it to stderr.

    What is piped in is given to the model as context. Every run leaves a session
    (`truepenny session list`).
    """
    from truepenny.agent.investigation.investigation import MARK
    from truepenny.model.wires.builtin import DEFAULT

    words = " ".join(prompt).strip()
    if not words:
        raise UsageError("a prompt is required", where="PROMPT", remedy=_example(demo))
    if words.startswith(MARK):
        deep, words = True, words.removeprefix(MARK).strip()
    bench = Workbench()
    begun_at = _scenario(bench, session) if session and not (cluster or demo) else None
    question = _with_context(bench, words, piped)
    chosen = bench.model(model)
    if model is None and bench.settings.model.default is None:
        say(f"no model is configured: {chosen.name} answers by rules, without a language model")
    work = Work(workspace, autonomy)
    folder = work.root(bench) is not None
    if folder and chosen.name == DEFAULT:
        say(f"{DEFAULT} looks at clusters and never into a folder: name another with --model")
    with place(bench, cluster, demo or begun_at, faults, elsewhere=folder) as reached:
        if begun_at == "" and reached.scenario:
            raise ConfigurationError(
                f"{session} was about clusters of yours, and none is configured now",
                where="--session",
                remedy="Set KUBECONFIG as it was, or go on in practice with --demo INCIDENT.",
            )
        if reached.notice:
            say(reached.notice)
        code = anyio.run(
            _run, bench, chosen, reached, question, session, max_turns, work, as_json, deep
        )
    raise Finished(code)


def _example(demo: str | None) -> str:
    """Return a command line that works: for an incident the one that asks its own question."""
    from truepenny.demo.world import scenarios

    found = next((one for one in scenarios() if one.name == demo), None) if demo else None
    if found is None:
        return EXAMPLE
    return f'Example: truepenny run --demo {found.name} "{found.question}"'


def _scenario(bench: Workbench, session_id: str) -> str | None:
    """Return the incident that a session is about, empty for real clusters, None if unknown.

    A session that goes on elsewhere would explain one cluster with what was read of another.
    Raises NoSession.
    """
    found = _about(bench, session_id).get("scenario")
    return found if isinstance(found, str) else None


def _about(bench: Workbench, session_id: str) -> Mapping[str, Any]:
    """Return what the session's header says of where it comes from. Raises NoSession."""
    about = bench.sessions.read(session_id).header.get("about")
    return cast("Mapping[str, Any]", about) if isinstance(about, dict) else {}


def _with_context(bench: Workbench, words: str, piped: bool | None) -> str:
    """Return the prompt with what was piped in, which is data like a tool's output: made harmless,
    redacted, framed."""
    if piped is False:
        return words
    found = read_piped(wait=piped is True)
    if found.notice:
        say(found.notice)
    if not found.text.strip():
        return words
    from truepenny.text.control import strip_control
    from truepenny.text.frame import untrusted

    clean = bench.redactor.text(strip_control(found.text))
    if hidden := sum(clean.counts.values()):
        say(f"standard input: {hidden} secrets are kept from the model")
    return f"{words}\n\n{untrusted(clean.text, 'standard input')}"


async def _run(
    bench: Workbench,
    model: Model,
    reached: Place,
    question: str,
    session_id: str | None,
    max_turns: int | None,
    work: Work,
    as_json: bool,
    deep: bool,
) -> int:
    about = {"origin": "cli", "scenario": reached.scenario, "deep": deep}
    store = bench.sessions
    deep = deep or bool(session_id and _about(bench, session_id).get("deep"))
    try:
        # The folder first: a setting that cannot be followed ends the run, and leaves no session.
        async with open_work(bench, work) as opened_work:
            opened = await (store.open(session_id) if session_id else store.create(about))
            try:
                human = somebody_is_there() and not as_json
                made = assemble(
                    bench,
                    model,
                    reached.clusters,
                    opened,
                    work.policy(bench, human=human),
                    max_turns=max_turns,
                    hosts=reached.hosts,
                    work=opened_work,
                    ask=approval(opened_work) if human else None,
                    deep=deep,
                )
                async with made as agent:
                    return await _shown(agent, opened, question, as_json)
            finally:
                with anyio.CancelScope(shield=True):
                    await opened.close()
    finally:
        with anyio.CancelScope(shield=True):
            await model.close()


async def _shown(agent: Agent, session: Session, question: str, as_json: bool) -> int:
    """Run the question and show its events; return the exit code."""
    from truepenny.agent.event import RunFinished

    from .render import Output, RunView

    out = Output(sys.stdout)
    view = RunView(out)
    show = _json_lines(out) if as_json else view.show
    last: RunFinished | None = None
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_stop_on_signal, agent, view)
        async for event in agent.run(question):
            show(event)
            if isinstance(event, RunFinished):
                last = event
        tasks.cancel_scope.cancel()
    if out.closed:
        say(f"standard output was closed; `truepenny session show {session.id}` has the answer")
    elif not as_json:
        say(f"session {session.id}")
    if last is None:
        return 1
    if last.stop.completed and not last.recorded:
        # The answer is there; the record of how it came about is not.
        return COULD_NOT_RUN
    return last.stop.exit_code


def _json_lines(out: Output) -> Any:
    def show(event: RunEvent) -> None:
        out.write(json_text(event.to_json(), indent=None) + "\n")

    return show


async def _stop_on_signal(agent: Agent, view: RunView) -> None:
    """Abort the turn at the first signal, so that its end is recorded; die at the second."""
    with anyio.open_signal_receiver(*ends()) as signals:
        seen = 0
        async for number in signals:
            seen += 1
            if seen > 1:
                os._exit(128 + number)
            view.clear()
            say("stopping; once more to stop at once")
            await agent.abort()
