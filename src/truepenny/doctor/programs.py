"""Checks of what longer work needs: the background, interpreters of scripts, programs of checks."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from .check import Finding, Surroundings, fail, ok, skip, unknown, warn
from .execution import open_probe

if TYPE_CHECKING:
    from truepenny.execute.command import Command
    from truepenny.workspace.workspace import Workspace

PROBE_SECONDS = 12.0
"""Less than a check has: ten interpreters one after the other, some of which need a second."""

_TRY = """\
for it in {names}; do
  command -v "$it" >/dev/null || continue
  if "$it" {word} </dev/null >/dev/null 2>&1; then echo "$it ok"; else echo "$it no"; fi
done
"""

_SEE = "See the checks `sandbox` and `account`; else please report this."


async def background(around: Surroundings) -> list[Finding]:
    """One held command ends by itself and is read, another is stopped with its child."""
    from truepenny.execute.background.record import State

    async with open_probe(around) as opened:
        workspace, owner = opened.workspace, "doctor"
        runs = workspace.runs
        if workspace.settings.background == 0:
            return skip("workspace.background is 0: nothing runs in the background")
        first = runs.start(_held(workspace, "echo begun"), owner=owner, label="ends by itself")
        await first.ended.wait()
        text = runs.tail(owner, first.id, 1).text
        if first.state is not State.EXITED or text != "begun\n":
            return fail(f"a command ended as {first.state} and {text!r} was read", _SEE)
        second = runs.start(_held(workspace, "sleep 60 & wait"), owner=owner, label="is stopped")
        await runs.stop(owner, second.id)
        done = second.execution
        if second.state is not State.STOPPED or done is None or done.survivors:
            return fail(f"a command that was stopped ended as {second.state}", _SEE)
    return ok("a command is followed to its end, and one is stopped")


async def interpreters(around: Surroundings) -> list[Finding]:
    """An empty script is run by each interpreter, held as scripts are."""
    from truepenny.workspace.script_run.request import INTERPRETERS

    tried = await _tried(around, INTERPRETERS, "/dev/null")
    if isinstance(tried, list):
        return tried
    works = [name for name in tried if tried[name]]
    if not works:
        return fail("there is none that works: run_script runs nothing", "Install Python.")
    return ok(", ".join(works)) + _broken(tried, "run an empty script")


async def project_checks(around: Surroundings) -> list[Finding]:
    """npm, node and a browser are started, held as checks are; not every project needs them."""
    from truepenny.workspace.verify.page_program import BROWSERS

    tried = await _tried(around, ("npm", "node", *BROWSERS), "--version")
    if isinstance(tried, list):
        return tried
    works = [name for name in tried if tried[name]]
    found = ok(", ".join(works)) if works else []
    found += _broken(tried, "start in the sandbox")
    for names, what in (
        (("npm",), "no npm: scripts of package.json are no checks that run"),
        (("node",), "no node: scripts of pages are not looked at"),
        (BROWSERS, "no browser: pages are not loaded"),
    ):
        if tried.keys().isdisjoint(names):
            found += skip(what)
    return found


def _broken(tried: dict[str, bool], what: str) -> list[Finding]:
    found: list[Finding] = []
    for name in (name for name, works in tried.items() if not works):
        found += warn(f"{name} is there and does not {what}", f"Install {name} anew.")
    return found


async def _tried(
    around: Surroundings, names: Iterable[str], word: str
) -> dict[str, bool] | list[Finding]:
    """Start each program that is there; return whether it ended well, or why nobody knows."""
    from truepenny.execute.process import run

    line = _TRY.format(names=" ".join(names), word=word)
    async with open_probe(around) as opened:
        done = await run(_held(opened.workspace, line))
    if done.failure is not None:
        return fail(f"no command starts: {done.failure.message}", _SEE)
    if done.exit.observed != 0 or done.cause is not None:
        return unknown(f"trying them ended early ({done.cause or done.exit})", "Run it again.")
    answers = (entry.split() for entry in done.stdout.text.splitlines())
    return {name: state == "ok" for name, state in answers}


def _held(workspace: Workspace, line: str) -> Command:
    from truepenny.execute.shell import line_command
    from truepenny.sandbox.plan import Profile

    held = workspace.sandbox(Profile.COMMAND)
    env = workspace.environment(held)
    return line_command(line, env=env, cwd=workspace.root, timeout=PROBE_SECONDS, sandbox=held)
