"""Runs the attempts: `python -m tests.escape.drive UID SECRET [ID ...]`, one JSON object a line.

UID is the account of commands; `+UID`, as root, makes an ordinary user of this process as well.

A process of its own, so that it has a command line and variables with secrets in them, as a runtime
may have, and so that root can become an ordinary user for good: everything is imported by then, for
that user may not be able to read where Python lies. Each attempt goes through
the workspace and its `bash` tool, as an agent's call does.
"""

from __future__ import annotations

import ctypes
import importlib
import json
import os
import shlex
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import AsyncExitStack, ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread

from truepenny.config.settings import SandboxSettings, WorkspaceSettings
from truepenny.execute.background.runs import BackgroundRuns
from truepenny.sandbox.account import account_for
from truepenny.sandbox.choice import PROBES
from truepenny.sandbox.level import Level
from truepenny.sandbox.network.address import IP
from truepenny.sandbox.network.way_out import WayOut, way_out
from truepenny.text.redact import Redactor
from truepenny.tool.admission import Admission, Policy
from truepenny.tool.contract import CallContext, Tool
from truepenny.tool.decision import Decision
from truepenny.tool.invoke import invoke
from truepenny.tool.registry import Registry
from truepenny.tool.result import Result
from truepenny.workspace.bash import bash_tool
from truepenny.workspace.workspace import Workspace

from .attempt import LEVELS, Attempt, attempts
from .machine import administers, has
from .scene import OTHER, PARENT_SECRET, Machine, Scene, machine_outside, scene, seen

AT_ONCE = 4
SECONDS = 20
SHOWN = 1500
MOST_LOOKS = 1000
MOST_TRIES = 50
"""Of starts that are refused, for each round that is wanted."""

SAID = """said() { printf '%s-%s\\n' reached @nonce@; }
"""

PRELUDE = """
import ctypes, os, socket, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
def syscall(number, *words):
    words = [ctypes.c_long(word) if isinstance(word, int) else word for word in words]
    done = libc.syscall(ctypes.c_long(number), *words)
    if done < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return done
def said():
    print("reached", "@nonce@", sep="-", flush=True)
def send(connection, text=b"@nonce@"):
    connection.sendall(text)
    connection.settimeout(5)
    print(connection.recv(4096).decode())
"""

PROXIED = """
def tunnel(host, port):
    if "HTTPS_PROXY" not in os.environ:
        return socket.create_connection((host.strip("[]"), int(port)), 5)
    connection = to_proxy()
    connection.sendall(f"CONNECT {host}:{port} HTTP/1.1\\r\\n\\r\\n".encode())
    answer = connection.recv(4096)
    if b" 200 " not in answer:
        sys.exit(answer.decode())
    return connection
def to_proxy():
    host, port = os.environ["HTTPS_PROXY"].rpartition("/")[2].split(":")
    return socket.create_connection((host, int(port)), 5)
"""

NAMES = {
    "inner.example": ("127.0.0.1",),
    "mapped.example": ("::ffff:127.0.0.1",),
    "mixed.example": ("192.0.2.200", "127.0.0.1"),
    "metadata.example": ("169.254.169.254",),
    "friend.example": ("127.0.0.1",),
}


@dataclass
class Outcome:
    """What came of one run. `gaps` are what its own result names."""

    id: str
    run: str
    success: bool
    ran: bool
    gaps: list[str]
    text: str


async def resolver(name: str, port: int) -> tuple[IP, ...]:
    if name not in NAMES:
        raise OSError(f"no such name: {name}")
    return tuple(map(ip_address, NAMES[name]))


def become(uid: int, words: list[str]) -> None:
    """Become an ordinary user for good, one that debuggers of its own may look at.

    What a run imports is found out by a first one, in a copy of this process: nothing of what that
    learned about the machine as root stays.
    """
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        anyio.run(main, words)
        os.write(write, " ".join(sys.modules).encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as known:
        names = known.read().decode().split()
    assert os.waitpid(child, 0)[1] == 0
    for name in names:
        if name != "__main__":
            importlib.import_module(name)
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
    ctypes.CDLL(None).prctl(4, 1, 0, 0, 0)  # PR_SET_DUMPABLE, which a change of user takes away


class Driver:
    """Runs attempts against one machine."""

    def __init__(self, machine: Machine, way: WayOut | None) -> None:
        self._machine = machine
        self._way = way

    async def run(self, attempt: Attempt, name: str) -> Outcome:
        """Run one attempt at a level, or as one of its controls."""
        own_victim = attempt.success == "victim"
        with scene(self._machine, attempt.plant, victim=own_victim) as here:
            if name in ("bare", "root"):
                ran, gaps, text = True, [], ""
                for _ in range(attempt.rounds):
                    text += await self._bare(attempt, here, name == "root")
            else:
                level, network = (name, attempt.network) if name != "host" else ("none", "host")
                ran, gaps, text = await self._held(attempt, here, level, network)
            success = await self._judge(attempt, here, text)
            return Outcome(attempt.id, name, success, ran, gaps, text[:SHOWN])

    async def _held(
        self, attempt: Attempt, here: Scene, level: str, network: str
    ) -> tuple[bool, list[str], str]:
        env = {**os.environ, "HOME": str(here.home)}
        env["PATH"] = f"{here.workspace}/bin:{env['PATH']}"
        settings = {k: _filled(v, here) for k, v in attempt.settings.items()}
        sandbox = SandboxSettings.model_validate({"level": level, "network": network, **settings})
        async with BackgroundRuns(here.folder / "state" / "background", 2) as runs:
            workspace = Workspace(
                here.workspace, here.folder / "state", env, sandbox, WorkspaceSettings(), runs
            )
            if network == "proxy":
                workspace.way = self._way
            context = CallContext("ann", "ses", "call", here.folder / "scratch", Redactor())
            tool = bash_tool(workspace)
            if attempt.before:
                await self._meanwhile(attempt, here, tool, context)
            said: list[str] = []
            gaps: list[str] = []
            line = _line(attempt, here)
            arguments: dict[str, Any] = {"command": line, "timeout_ms": SECONDS * 1000}
            if attempt.cwd != ".":
                arguments["cwd"] = here.fill(attempt.cwd)
            rounds = 0
            for _ in range(1 if attempt.rounds == 1 else attempt.rounds * MOST_TRIES):
                result = await _call(tool, arguments, context)
                rounds += result.facts.exit is not None
                gaps += result.facts.containment.get("gaps", "").split(", ")
                said.append(result.text)
                # A start may be refused while something is swapped; it does not count.
                if rounds == attempt.rounds:
                    break
            return rounds > 0, sorted({gap for gap in gaps if gap}), "\n".join(said)

    async def _meanwhile(
        self, attempt: Attempt, here: Scene, tool: Tool, context: CallContext
    ) -> None:
        """Start the program that runs meanwhile, and wait for its word that it does."""
        ready = here.workspace / "ready"
        os.mkfifo(ready)
        self._machine.give(ready)
        descriptor = os.open(ready, os.O_RDONLY | os.O_NONBLOCK)
        try:
            line = here.fill(f"{SAID}{attempt.before}")
            arguments = {"command": line, "background": True, "timeout_ms": SECONDS * 1000}
            await _call(tool, arguments, context)
            with anyio.move_on_after(SECONDS):
                await anyio.wait_readable(descriptor)
        finally:
            os.close(descriptor)

    async def _bare(self, attempt: Attempt, here: Scene, as_root: bool) -> str:
        env = {**os.environ, "HOME": str(here.home)}
        env["PATH"] = f"{here.workspace}/bin:{env['PATH']}"
        argv = ["/bin/bash", "-c", _line(attempt, here)]
        options: dict[str, Any] = {
            "env": env,
            "cwd": here.workspace / here.fill(attempt.cwd),
            "close_fds": False,
            "start_new_session": True,
            "stdin": subprocess.DEVNULL,
            "stdout": subprocess.PIPE,
            "stderr": subprocess.STDOUT,
        }

        def work() -> str:
            start = subprocess.Popen if as_root else self._machine.start
            process = start(argv, **options)
            try:
                said = process.communicate(timeout=SECONDS)[0]
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                said = process.communicate()[0]
            return said.decode("utf-8", "replace")

        return await anyio.to_thread.run_sync(work)

    async def _judge(self, attempt: Attempt, here: Scene, text: str) -> bool:
        machine, what = self._machine, here.fill(attempt.what)
        match attempt.success:
            case "stolen":
                return here.tokens[what] in text
            case "said":
                return f"reached-{here.nonce}" in text
            case "reached" if what == "terminal":
                return machine.terminal_got(here.nonce)
            case "reached":
                return machine.listeners.heard(what, here.nonce)
            case "changed":
                return seen(here.folder / what) != here.planted[what]
            case "created":
                found = Path(what)
                made = os.path.lexists(found)
                if made and not found.is_relative_to(here.folder):
                    found.unlink()
                return made
            case "victim":
                return _harmed(here, what)
            case "left":
                return _ended(here.nonce)
            case "later":
                await self._person(here, what)
                return (here.folder / "outside" / "marker").exists()
            case "setuid" | "setgid":
                bit = stat.S_ISUID if attempt.success == "setuid" else stat.S_ISGID
                files = [path for path in here.workspace.rglob("*") if not path.is_symlink()]
                found = [path.stat() for path in files if path.is_file()]
                return any(one.st_mode & bit and one.st_size for one in found)
            case other:
                raise AssertionError(other)

    async def _person(self, here: Scene, line: str) -> None:
        """Do what a person does in the project afterwards, with all their rights."""
        env = {"HOME": str(here.home), "PATH": os.defpath, "GIT_CONFIG_NOSYSTEM": "1"}

        def work() -> None:
            process = self._machine.start(
                ["/bin/sh", "-c", line],
                env=env,
                cwd=here.workspace,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            process.wait(SECONDS)

        await anyio.to_thread.run_sync(work)


async def _call(tool: Tool, arguments: Mapping[str, Any], context: CallContext) -> Result:
    """Call the tool as the loop does, a person approving each call."""
    admission = Admission(Policy(human=True))
    done = await invoke(tool.name, arguments, context, Registry([tool]), admission, ask=_approve)
    return done.result


async def _approve(tool: Tool, arguments: Mapping[str, Any], decision: Decision) -> bool:
    return True


def _line(attempt: Attempt, here: Scene) -> str:
    if not attempt.python:
        return here.fill(SAID + attempt.program)
    proxied = PROXIED if attempt.network == "proxy" else ""
    program = here.fill(PRELUDE + proxied + attempt.program)
    return f"{here.names['python']} -S -c {shlex.quote(program)}"


def _filled(value: Any, here: Scene) -> Any:
    if isinstance(value, str):
        return here.fill(value)
    if isinstance(value, list):
        return tuple(here.fill(one) for one in value)
    return value


def _harmed(here: Scene, how: str) -> bool:
    assert here.victim is not None
    pid = here.victim.pid
    if here.victim.poll() is not None:
        return True
    if how == "niced":
        return os.getpriority(os.PRIO_PROCESS, pid) != os.getpriority(os.PRIO_PROCESS, 0)
    if how == "bound":
        return os.sched_getaffinity(pid) != os.sched_getaffinity(0)
    if how == "offered":
        # One of its own: where memory runs out, the kernel takes it.
        return Path(f"/proc/{pid}/oom_score_adj").read_text(encoding="ascii").strip() == "1000"
    text = Path(f"/proc/{pid}/limits").read_text(encoding="ascii")
    return how == "limited" and "Max core file size        77" in text


def _ended(mark: str) -> bool:
    """Kill whatever has a mark in its command line, and return whether there was any.

    One look is not enough: a process that forks as we look is in no list, and one that replaces
    its program has no command line for a moment.
    """
    found = False
    for _ in range(MOST_LOOKS):
        again = False
        for pid, words in _running():
            if mark.encode() in words:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
                found = True
            again = again or mark.encode() in words or not words
        if not again:
            break
    return found


def _running() -> Iterator[tuple[int, bytes]]:
    """Yield the processes that have a program, each with its command line."""
    for entry in os.listdir("/proc"):
        if entry.isdigit() and int(entry) != os.getpid():
            try:
                os.stat(f"/proc/{entry}/exe")
                yield int(entry), Path("/proc", entry, "cmdline").read_bytes()
            except OSError:
                continue


def available(folder: Path) -> tuple[str, ...]:
    """Return the levels that hold something here, for the account of a folder."""
    account = account_for(folder, None)

    return tuple(
        level for level in LEVELS if level == "none" or PROBES[Level(level)](account).works
    )


def _there(need: str) -> bool:
    return OTHER in os.environ if need == "root" else not need or has(need)


def works(
    attempts: Mapping[str, Attempt], levels: tuple[str, ...], kind: str
) -> Iterator[tuple[Attempt, str]]:
    """Yield what to run: every attempt at every level, and the controls beside them."""
    for attempt in attempts.values():
        for level in levels:
            yield attempt, level
        control = attempt.controls(kind)
        if control not in ("none", "") and (control != "root" or administers()):
            yield attempt, control


@contextmanager
def base() -> Iterator[Path]:
    """A folder that the account can enter."""
    made = Path(tempfile.mkdtemp(prefix="truepenny-escape-")).resolve()
    try:
        made.chmod(0o755)
        yield made
    finally:
        shutil.rmtree(made)


async def main(words: list[str]) -> None:
    uid, argument, wanted = int(words[0]), words[1], words[2:]
    kind = "root" if os.geteuid() == 0 else "user"
    chosen = {one.id: one for one in attempts() if not wanted or one.id in wanted}
    # What only root can set up was left for us, or is not there.
    absent = {need for need in {one.needs for one in chosen.values()} if not _there(need)}
    chosen = {id: one for id, one in chosen.items() if one.needs not in absent}
    with ExitStack() as stack:
        folder = stack.enter_context(base())
        machine = Machine(folder, uid, uid, os.environ[PARENT_SECRET], argument)
        stack.enter_context(machine_outside(machine))
        machine.give(folder)
        levels = available(folder)
        print(json.dumps({"levels": levels, "account": kind}), flush=True)
        async with AsyncExitStack() as opened:
            way = None
            if "bwrap" in levels and any(one.network == "proxy" for one in chosen.values()):
                tcp = machine.names["tcp"]
                entries = [f"{name}:{tcp}" for name in NAMES if name != "friend.example"]
                entries.append(f"friend.example:{tcp} private")
                account = account_for(folder, None)
                way = await opened.enter_async_context(way_out(entries, account, resolver=resolver))
            driver = Driver(machine, way)
            limiter = anyio.CapacityLimiter(AT_ONCE)

            async def one(attempt: Attempt, name: str) -> None:
                async with limiter:
                    outcome = await driver.run(attempt, name)
                print(json.dumps(asdict(outcome)), flush=True)

            async with anyio.create_task_group() as tasks:
                for attempt, name in works(chosen, levels, kind):
                    tasks.start_soon(one, attempt, name)


if __name__ == "__main__":
    if os.geteuid() == 0 and sys.argv[1].startswith("+"):
        become(int(sys.argv[1]), [sys.argv[1], sys.argv[2], "absolute-path"])
    anyio.run(main, sys.argv[1:])
