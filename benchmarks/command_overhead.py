"""What running a line costs, from call to result: ours against `subprocess.run` of the same words.

Each round runs all of them once, so that a busy machine slows all alike; medians are compared.
Ours decodes, bounds, sees the end by the process id, looks for what was left behind and guards
against our own death; the baseline reads two pipes and waits.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import anyio

from truepenny.config.settings import SandboxSettings
from truepenny.errors import CouldNotRun
from truepenny.execute.command import Command
from truepenny.execute.process import run as run_process
from truepenny.execute.shell import line_command, run_line
from truepenny.sandbox.account import account_for
from truepenny.sandbox.choice import open_sandbox
from truepenny.sandbox.plan import Profile
from truepenny.sandbox.planning import plan_for
from truepenny.sandbox.sandbox import Sandbox

from .report import Row

ROUNDS, WARM_UP = 60, 5
LIMIT = 1.5
MORE_MS = 15.0
"""The bar of a sandboxed command over the bare one, through all of our own running as well."""

ENV = {"PATH": os.defpath}
BASH = ("bash", "-o", "pipefail", "-c")
PLAIN_LINE, PIPED_LINE = "true", "echo a | cat"

Work = Callable[[], Awaitable[object]]


def run() -> list[Row]:
    with tempfile.TemporaryDirectory(prefix="workspace-", dir="/tmp") as folder:
        os.chmod(folder, 0o777)
        return anyio.run(_measured, Path(folder))


async def _measured(folder: Path) -> list[Row]:
    works: dict[str, Work] = {
        "plain": lambda: run_line(line_command(PLAIN_LINE, env=ENV)),
        "plain baseline": lambda: _subprocess((*BASH, PLAIN_LINE)),
        "piped": lambda: run_line(line_command(PIPED_LINE, env=ENV)),
        "piped baseline": lambda: _subprocess((*BASH, PIPED_LINE)),
        "bare": lambda: run_process(Command(("true",), ENV)),
    }
    held = _sandbox(folder)
    if held is not None:
        command = Command(("true",), ENV, folder, sandbox=held)
        works["held"] = lambda: run_process(command)
    times: dict[str, list[float]] = {name: [] for name in works}
    for number in range(WARM_UP + ROUNDS):
        for name, work in works.items():
            began = time.perf_counter()
            await work()
            if number >= WARM_UP:
                times[name].append(time.perf_counter() - began)
    ms = {name: statistics.median(found) * 1000 for name, found in times.items()}
    rows = [
        Row(
            f"`{line}` by bash, to subprocess.run",
            f"{ms[name]:.2f} ms",
            f"{ms[f'{name} baseline']:.2f} ms",
            ms[name] / ms[f"{name} baseline"],
            LIMIT,
        )
        for name, line in (("plain", PLAIN_LINE), ("piped", PIPED_LINE))
    ]
    if "held" in ms:
        rows.append(
            Row(
                "`true` sandboxed: ms more than bare, both run by us, to the limit of 15",
                f"{ms['held']:.1f} ms",
                f"{ms['bare']:.1f} ms",
                (ms["held"] - ms["bare"]) / MORE_MS,
                1.0,
            )
        )
    return rows


def _sandbox(folder: Path) -> Sandbox | None:
    plan = plan_for(Profile.COMMAND, folder, account_for(folder, None), SandboxSettings())
    try:
        return open_sandbox(plan, "auto")
    except CouldNotRun as error:
        print(f"(no sandbox to measure: {error.message})")
        return None


async def _subprocess(argv: tuple[str, ...]) -> object:
    return subprocess.run(  # noqa: ASYNC221
        argv, env=ENV, stdin=subprocess.DEVNULL, capture_output=True, check=True
    )
