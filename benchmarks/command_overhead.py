"""What a call of the `bash` tool costs, from its arguments to its result, at each level that works.

Three baselines. A plain subprocess is the least that any tool of this kind does:
`asyncio.create_subprocess_exec` of bash with the line, and `communicate`. A plain subprocess behind
the same walls starts what the tool starts, by the same words, and nothing else; the plan is held
and the control group made before the clock starts and removed after it stops. What the call costs
beyond it is the tool's own, and making its walls ready. The third counts making the walls ready and
clearing them away in the baseline too: the tool's limit holds against this one, since what walls
cost, the difference between levels, has a limit of its own.

Each round runs every one of them once, so that a busy machine slows all alike; medians are
compared. Four lines: `true` and a pipeline, which show the whole of what is added, and work of
two lengths, as agents run it all day.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import statistics
import subprocess
import tempfile
import threading
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import anyio

from truepenny.config.settings import SandboxSettings, WorkspaceSettings
from truepenny.execute.background.runs import BackgroundRuns
from truepenny.sandbox.account import account_for
from truepenny.sandbox.choice import PROBES, Choice
from truepenny.sandbox.confinement import Confinement
from truepenny.sandbox.level import Level
from truepenny.sandbox.plan import Profile
from truepenny.text.redact import Redactor
from truepenny.tool.admission import Admission, Policy
from truepenny.tool.autonomy import Autonomy
from truepenny.tool.contract import CallContext
from truepenny.tool.invoke import invoke
from truepenny.tool.registry import Registry
from truepenny.workspace.bash import bash_tool
from truepenny.workspace.workspace import Workspace

from .report import Row

ROUNDS, WARM_UP = 40, 4

LIMIT = 1.5
"""A call against a plain subprocess that makes the same walls, starts the same words behind them
and clears them away; a call of work against one without walls, where walls are none or the work is
long."""

MORE_MS = 15.0
"""A sandboxed command may take this much longer than the bare one."""

LEVELS: tuple[Choice, ...] = ("none", "landlock", "bwrap")
NOBODY = 65534

FOLDERS, FILES, LINES = 240, 5, 120
"""A project as large as our own: 1200 files of some 4 KB in 240 folders."""

WORK = "git status --short && grep -rn 'needle' --include='*.py' . | head -n 20"
LONG = "; ".join([WORK] * 4)
TRIVIAL = "true"
PIPELINE = "echo needle | cat | wc -l"

LINES_RUN = (
    (WORK, "a line of work (git status, grep)", True),
    (LONG, "the same four times in one line", True),
    (PIPELINE, "a pipeline (echo, cat, wc)", False),
    (TRIVIAL, "`true`", False),
)
"""Each with its name, and whether it is work."""

BARE_ENV = {
    "PATH": os.defpath,
    # The folder belongs to the account of commands, and the baseline runs as we do.
    "GIT_CONFIG_COUNT": "1",
    "GIT_CONFIG_KEY_0": "safe.directory",
    "GIT_CONFIG_VALUE_0": "*",
}

Step = Callable[[], Awaitable[tuple[str, float]]]
"""Returns what was said and the seconds that count."""


def run() -> list[Row]:
    base = Path(tempfile.mkdtemp(prefix="workspace-", dir="/tmp"))
    base.chmod(0o755)
    try:
        root = _project(base)
        return anyio.run(_measured, base, root)
    finally:
        shutil.rmtree(base)


def _project(base: Path) -> Path:
    root = base / "project"
    for number in range(FOLDERS * FILES):
        file = root / f"part_{number % FOLDERS}" / f"module_{number}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        body = "".join(f"value_{line} = {number} * {line}  # plain\n" for line in range(LINES))
        file.write_text(body + ("# needle\n" if number % 50 == 0 else ""), encoding="utf-8")
    git = ["git", "-C", str(root), "-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "all"]):
        subprocess.run([*git, *words], check=True)
    if os.geteuid() == 0:
        for folder, folders, files in os.walk(root):
            for name in ("", *folders, *files):
                os.chown(Path(folder, name), NOBODY, NOBODY)
    return root


async def _measured(base: Path, root: Path) -> list[Row]:
    levels: list[Choice] = [level for level in LEVELS if _works(level, root)]
    rows: list[Row] = []
    for line, name, work in LINES_RUN:
        steps: dict[str, Step] = {"plain": lambda line=line: _plain(line, root)}
        async with _workspace(base, root) as made:
            for level in levels:
                held = _at(made, level)
                steps[f"ready {level}"] = _held(held, line, ready=True)
                steps[f"made {level}"] = _held(held, line, ready=False)
                steps[level] = _call(held, base, line)
            found = await _medians(steps)
        for level in levels:
            what = f"{name} by the bash tool, level {level}"
            behind = "a plain subprocess behind the same walls"
            rows.append(_row(f"{what}, to {behind}", found, level, f"ready {level}"))
            made_too = f"{what}, to {behind} and making them"
            rows.append(_row(made_too, found, level, f"made {level}", LIMIT))
            # Of short work the walls alone may take more than half: they have their own limit.
            bare = LIMIT if work and (level == "none" or line == LONG) else None
            rows.append(_row(f"{what}, to a plain subprocess", found, level, "plain", bare))
            if level != "none":
                more = (found[level] - found["none"]) * 1000
                rows.append(
                    Row(
                        f"{name}, level {level}: ms more than level none, to the limit of 15",
                        f"{found[level] * 1000:.1f} ms",
                        f"{found['none'] * 1000:.1f} ms",
                        more / MORE_MS,
                        # The long line starts dozens of programs, and each of them pays.
                        None if line == LONG else 1.0,
                    )
                )
    return rows


def _row(
    what: str, found: dict[str, float], ours: str, baseline: str, limit: float | None = None
) -> Row:
    took, least = found[ours], found[baseline]
    return Row(what, f"{took * 1000:.1f} ms", f"{least * 1000:.1f} ms", took / least, limit)


async def _medians(steps: dict[str, Step]) -> dict[str, float]:
    times: dict[str, list[float]] = {name: [] for name in steps}
    said: set[str] = set()
    for number in range(WARM_UP + ROUNDS):
        for name, step in steps.items():
            text, seconds = await step()
            said.add(text)
            if number >= WARM_UP:
                times[name].append(seconds)
    if len(said) != 1:
        raise RuntimeError(f"not all did the same: {said}")
    return {name: statistics.median(found) for name, found in times.items()}


async def _plain(line: str, root: Path) -> tuple[str, float]:
    began = time.perf_counter()
    process = await asyncio.create_subprocess_exec(
        "bash",
        "-c",
        line,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=root,
        env=BARE_ENV,
    )
    out, _ = await process.communicate()
    return out.decode(), time.perf_counter() - began


def _at(workspace: Workspace, level: Choice) -> Workspace:
    settings = workspace.sandbox_settings.model_copy(update={"level": level})
    return Workspace(
        workspace.root, workspace.state, workspace.env, settings, workspace.settings, workspace.runs
    )


def _held(workspace: Workspace, line: str, *, ready: bool) -> Step:
    sandbox = workspace.sandbox(Profile.COMMAND)
    env = workspace.environment(sandbox)

    def work(confinement: Confinement) -> str:
        if confinement.before_start is not None:
            confinement.before_start()
        process = subprocess.Popen(
            confinement.argv(("bash", "-o", "pipefail", "-c", "--", line)),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=confinement.cwd,
            env=confinement.environment(env),
            start_new_session=True,
            pass_fds=confinement.descriptors,
        )
        return process.communicate()[0].decode()

    async def step() -> tuple[str, float]:
        began = time.perf_counter()
        confinement = sandbox.confine(workspace.root)
        if ready:
            began = time.perf_counter()
        # In a thread of its own: what Landlock takes on cannot be put off again.
        said: list[str] = []
        thread = threading.Thread(target=lambda: said.append(work(confinement)))
        thread.start()
        thread.join()
        ended = time.perf_counter()
        if confinement.group is not None:
            confinement.group.remove()
        confinement.close()
        return said[0], (ended if ready else time.perf_counter()) - began

    return step


def _call(workspace: Workspace, base: Path, line: str) -> Step:
    level = workspace.sandbox_settings.level
    registry = Registry([bash_tool(workspace)])
    context = CallContext("ann", "ses_1", "call_1", base, Redactor())
    admission = Admission(Policy(autonomy=Autonomy.FULL_AUTO))

    async def call() -> tuple[str, float]:
        began = time.perf_counter()
        done = await invoke("bash", {"command": line}, context, registry, admission)
        took = time.perf_counter() - began
        if done.result.facts.sandbox != level:
            raise RuntimeError(f"it did not run at {level}: {done.result.text}")
        return done.result.text, took

    return call


@asynccontextmanager
async def _workspace(base: Path, root: Path) -> AsyncGenerator[Workspace]:
    settings = WorkspaceSettings()
    async with BackgroundRuns(base / "background", settings.background) as runs:
        env = {"PATH": os.defpath}
        yield Workspace(root, base / "state", env, SandboxSettings(), settings, runs)


def _works(level: Choice, root: Path) -> bool:
    if level == "none":
        return True
    probe = PROBES[Level(level)](account_for(root, None))
    if not probe.works:
        print(f"(not measured: {level}: {probe.detail})")
    return probe.works
