"""What holding a process costs: a sandboxed `true` against the bare one, from plan to end.

Each round runs all of them once, so that a busy machine slows all alike; medians are compared.
As root there are two: the account dropped to (what commands get) and, in a process that is an
ordinary user from its start, that user's own.
"""

from __future__ import annotations

import importlib
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from truepenny.config.settings import SandboxSettings
from truepenny.errors import CouldNotRun
from truepenny.sandbox.account import account_for
from truepenny.sandbox.choice import Choice, open_sandbox
from truepenny.sandbox.confinement import Confinement
from truepenny.sandbox.plan import Profile
from truepenny.sandbox.planning import plan_for

from .report import Row

ROUNDS = 40
WARM_UP = 3
MORE_MS = 15.0
"""The bar: a sandboxed command may take this much longer than the bare one."""

LEVELS: tuple[Choice, ...] = ("bwrap", "landlock", "none")
ENV = {"PATH": "/usr/bin:/bin"}
NOBODY = 65534


def run() -> list[Row]:
    if os.geteuid() != 0:
        return [_row("an ordinary user", name, *pair) for name, pair in measured().items()]
    # The fork first: what a process found out about its rights it keeps.
    rows = [_row("an ordinary user", *found) for found in _as_ordinary_user()]
    return rows + [_row("root, dropped", name, *pair) for name, pair in measured().items()]


def _row(who: str, name: str, ours: float, bare: float) -> Row:
    more = (ours - bare) * 1000
    return Row(
        f"`true` held by {name}, {who}: ms more than the bare one, to the limit of 15",
        f"{ours * 1000:.1f} ms",
        f"{bare * 1000:.1f} ms",
        more / MORE_MS,
        1.0,
    )


def measured() -> dict[str, tuple[float, float]]:
    """Return for each level that works here the medians in seconds: held, and bare."""
    folder = Path(tempfile.mkdtemp(prefix="workspace-", dir="/tmp"))
    folder.chmod(0o755)
    if os.geteuid() == 0:
        os.chown(folder, NOBODY, NOBODY)
    try:
        works: dict[str, Callable[[], None]] = {"bare": _bare}
        for level in LEVELS:
            work = _held(folder, level)
            try:
                work()
            except CouldNotRun as error:
                print(f"(not measured: {level}: {error.message})")
                continue
            works[level] = work
        times = _times(works)
    finally:
        shutil.rmtree(folder)
    bare = times.pop("bare")
    return {name: (seconds, bare) for name, seconds in times.items()}


def _times(works: dict[str, Callable[[], None]]) -> dict[str, float]:
    found: dict[str, list[float]] = {name: [] for name in works}
    for number in range(WARM_UP + ROUNDS):
        for name, work in works.items():
            began = time.perf_counter()
            work()
            if number >= WARM_UP:
                found[name].append(time.perf_counter() - began)
    return {name: statistics.median(times) for name, times in found.items()}


def _bare() -> None:
    subprocess.run(
        ["/bin/true"], env=ENV, stdin=subprocess.DEVNULL, capture_output=True, check=True
    )


def _held(folder: Path, level: Choice) -> Callable[[], None]:
    settings = SandboxSettings()

    def work() -> None:
        # All of it, as each call of a tool does it: account, plan, sandbox, start, end.
        plan = plan_for(Profile.COMMAND, folder, account_for(folder, None), settings)
        confinement = open_sandbox(plan, level).confine()
        try:
            if confinement.before_start is None:
                _start(confinement)
            else:
                with ThreadPoolExecutor(1) as thread:
                    thread.submit(_start, confinement).result()
        finally:
            confinement.close()

    return work


def _start(confinement: Confinement) -> None:
    if confinement.before_start is not None:
        confinement.before_start()
    subprocess.run(
        confinement.argv(("/bin/true",)),
        env=dict(confinement.environment(ENV)),
        cwd=confinement.cwd,
        pass_fds=confinement.descriptors,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=True,
    )


def _as_ordinary_user() -> list[tuple[str, float, float]]:
    """Measure in a fork that has become nobody: it keeps our modules, whoever may read them."""
    for name in ("truepenny.sandbox.landlock.sandbox", "encodings.ascii", "encodings.utf_8"):
        importlib.import_module(name)  # It cannot read them any more when it needs them.
    read, write = os.pipe()
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        try:
            os.setgroups([])
            os.setresgid(NOBODY, NOBODY, NOBODY)
            os.setresuid(NOBODY, NOBODY, NOBODY)
            lines = [f"{name} {ours} {bare}\n" for name, (ours, bare) in measured().items()]
            os.write(write, "".join(lines).encode())
            os._exit(0)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
    os.close(write)
    with open(read, encoding="utf-8") as lines:
        found = [line.split() for line in lines]
    _, status = os.waitpid(pid, 0)
    if status != 0:
        raise RuntimeError("nothing was measured as an ordinary user")
    return [(name, float(ours), float(bare)) for name, ours, bare in found]
