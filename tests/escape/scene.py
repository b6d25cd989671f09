"""What stands outside of the sandbox, to be stolen, changed or reached.

`Machine` is there once for a whole run of the suite, `Scene` anew for each attempt: a person's home
with secrets, a project in it which is the workspace, and a folder beside it. All of it belongs to
the account that commands run as, so that modes alone close nothing.
"""

from __future__ import annotations

import ctypes
import os
import pty
import secrets
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from truepenny.sandbox.network.python import system_python
from truepenny.sandbox.syscall import NUMBERS, machine

from .listener import Listeners
from .machine import has

PARENT_SECRET = "DEPLOY_API_KEY"
"""The variable of the runtime itself that holds a secret."""

OTHER, OTHER_SECRET = "ESCAPE_OTHER", "ESCAPE_OTHER_SECRET"
"""Variables that name a folder which root made, and the secret in it."""

LINK = "-> "
"""What the content of a planted file begins with that is a symbolic link."""

VICTIM = """
import ctypes, os, sys
libc = ctypes.CDLL(None)
libc.prctl(0x59616D61, ctypes.c_ulong(-1))
memory, held = sys.stdin.readline().split()
kept = ctypes.create_string_buffer(memory.encode())
descriptor = os.open("held", os.O_RDWR | os.O_CREAT)
os.write(descriptor, held.encode())
os.unlink("held")
print(ctypes.addressof(kept), len(memory), descriptor, flush=True)
sys.stdin.read()
"""


def token(name: str) -> str:
    """Return a secret that nobody can guess and no rule of redaction knows."""
    return f"canary {name} {' '.join(secrets.token_hex(6))}"


@dataclass
class Machine:
    """Listeners, a process of the account, a terminal, and what the runtime itself holds."""

    base: Path
    uid: int
    gid: int
    parent_token: str
    argument_token: str
    names: dict[str, str] = field(default_factory=dict[str, str])
    tokens: dict[str, str] = field(default_factory=dict[str, str])
    listeners: Listeners = field(init=False)
    terminal: int = -1
    shown: bytes = b""

    @property
    def drops(self) -> bool:
        """Whether we are root, and what we start has to become the account."""
        return os.geteuid() == 0

    def give(self, path: Path) -> Path:
        """Make the account the owner."""
        if self.drops:
            os.chown(path, self.uid, self.gid, follow_symlinks=False)
        return path

    def start(self, argv: list[str], **options: Any) -> subprocess.Popen[bytes]:
        """Start a plain process of the account."""
        if self.drops:
            options |= {"user": self.uid, "group": self.gid, "extra_groups": []}
        return subprocess.Popen(argv, **options)

    def terminal_got(self, text: str) -> bool:
        """Whether the terminal shows a text."""
        os.set_blocking(self.terminal, False)
        with suppress(BlockingIOError):
            self.shown += os.read(self.terminal, 65536)
        return text.encode() in self.shown


@contextmanager
def machine_outside(machine: Machine) -> Iterator[Machine]:
    """Set it up; everything is gone behind the context."""
    with ExitStack() as stack:
        mark = f"truepenny-escape-{secrets.token_hex(4)}"
        machine.listeners = Listeners(machine.base, mark)
        stack.callback(machine.listeners.close)
        machine.names |= machine.listeners.names
        machine.tokens["parent"] = machine.parent_token
        machine.tokens["argument"] = machine.argument_token
        _victim(machine, stack)
        _descriptor(machine, stack)
        _shared(machine, stack, mark)
        machine.terminal, slave = pty.openpty()
        stack.callback(os.close, machine.terminal)
        stack.callback(os.close, slave)
        machine.names["terminal"] = os.ttyname(slave)
        machine.give(Path(os.ttyname(slave)))
        _other(machine)
        machine.names |= {
            "python": str(system_python()),
            "parent": str(os.getpid()),
            "uid": str(machine.uid),
        }
        yield machine


def _victim(machine: Machine, stack: ExitStack) -> None:
    """Start a process of the same account, with a secret in each place that a process has."""
    folder = machine.give(_made(machine.base / "victim"))
    given = {name: token(name) for name in ("environ", "command", "memory", "held")}
    process = machine.start(
        [str(system_python()), "-S", "-c", VICTIM, given["command"]],
        env={"SECRET": given["environ"]},
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    words = [given[name].replace(" ", "_") for name in ("memory", "held")]
    process.stdin.write(f"{' '.join(words)}\n".encode())
    process.stdin.flush()
    address, length, descriptor = process.stdout.readline().decode().split()
    (folder / "secret").write_text(given.setdefault("cwd", token("cwd")), encoding="utf-8")
    machine.tokens |= {f"victim_{name}": value for name, value in given.items()}
    machine.tokens |= {"victim_memory": words[0], "victim_held": words[1]}
    machine.names |= {
        "victim": str(process.pid),
        "victim_address": address,
        "victim_length": length,
        "victim_descriptor": descriptor,
    }
    stack.callback(process.communicate)


def _descriptor(machine: Machine, stack: ExitStack) -> None:
    """Hold a file and a folder open so that a careless start passes them on."""
    machine.tokens["descriptor"] = token("descriptor")
    path = machine.base / "held-by-us"
    path.write_text(machine.tokens["descriptor"], encoding="utf-8")
    machine.give(path)
    path.chmod(0o600)
    for one in (path, machine.base):
        descriptor = os.open(one, os.O_RDONLY)
        os.set_inheritable(descriptor, True)
        stack.callback(os.close, descriptor)


def _other(machine: Machine) -> None:
    """Take note of what root left for us: a program and a secret of one more account."""
    folder = os.environ.get(OTHER, "")
    if folder:
        machine.names["other"] = folder
        machine.tokens["other"] = os.environ[OTHER_SECRET]


def _shared(machine: Machine, stack: ExitStack, mark: str) -> None:
    """Leave secrets where processes of an account share things beside the tree of files."""
    machine.tokens["shared_memory"] = token("shared_memory")
    shared = machine.give(_file(Path("/dev/shm", mark), machine.tokens["shared_memory"]))
    stack.callback(shared.unlink)
    machine.names["shared_memory"] = str(shared)
    machine.tokens["segment"] = token("segment")
    libc = ctypes.CDLL(None, use_errno=True)
    libc.shmat.restype = ctypes.c_void_p
    key = secrets.randbits(30)
    segment = libc.shmget(key, 4096, 0o1666)
    assert segment >= 0, os.strerror(ctypes.get_errno())
    stack.callback(libc.shmctl, segment, 0, None)
    address = libc.shmat(segment, None, 0)
    data = machine.tokens["segment"].encode()
    ctypes.memmove(address, data, len(data))
    libc.shmdt(ctypes.c_void_p(address))
    machine.names["segment_key"] = str(key)
    # What a careless shell reads before its first line.
    machine.tokens["start"] = token("start")
    os.environ["BASH_ENV"] = str(machine.base / "start")
    machine.give(_file(machine.base / "start", f"echo {machine.tokens['start']}\n"))
    machine.tokens["temporary"] = token("temporary")
    for name, folder in (("temporary", "/tmp"), ("var_temporary", "/var/tmp")):
        path = machine.give(_file(Path(folder, mark), machine.tokens["temporary"]))
        stack.callback(path.unlink)
        machine.names[name] = str(path)


@dataclass
class Scene:
    """One attempt's surroundings. `names` fill in the program's `@NAME@`."""

    nonce: str
    folder: Path
    tokens: Mapping[str, str]
    names: Mapping[str, str]
    planted: Mapping[str, tuple[bytes | str, int]]
    victim: subprocess.Popen[bytes] | None = None

    @property
    def workspace(self) -> Path:
        return self.folder / "home" / "project"

    @property
    def home(self) -> Path:
        return self.folder / "home"

    def fill(self, text: str) -> str:
        """Return a program with its names filled in."""
        for name, value in self.names.items():
            text = text.replace(f"@{name}@", value)
        return text


@contextmanager
def scene(machine: Machine, plant: Mapping[str, str], *, victim: bool) -> Iterator[Scene]:
    """Set up one; its folder is gone behind the context."""
    nonce = secrets.token_hex(8)
    folder = _made(machine.base / nonce)
    started: subprocess.Popen[bytes] | None = None
    try:
        tokens = {name: token(name) for name in ("secret", "program", "link", "key", "mark")}
        for name in ("home", "home/project", "home/.ssh", "home/.config", "outside", "outside/in"):
            machine.give(_made(folder / name))
        for name in ("state", "scratch"):
            _made(folder / name).chmod(0o700)
        files = _files(folder, tokens) | {f"home/project/{k}": v for k, v in plant.items()}
        names = {
            **machine.names,
            **_numbers(),
            "nonce": nonce,
            "folder": str(folder),
            "home": str(folder / "home"),
            "workspace": str(folder / "home" / "project"),
            "outside": str(folder / "outside"),
        }
        made = Scene(nonce, folder, {**machine.tokens, **tokens}, names, {})
        for name, text in files.items():
            _parents(machine, folder, folder / name)
            if text.startswith(LINK):
                os.symlink(text.removeprefix(LINK), folder / name)
                machine.give(folder / name)
                continue
            path = machine.give(_file(folder / name, made.fill(text)))
            path.chmod(0o755 if text.startswith("#!") else 0o644)
        link = folder / "outside" / "link"
        link.symlink_to(tokens["link"])
        machine.give(link)
        for name in ("objects", "refs", "refs/heads", "hooks"):
            machine.give(_made(folder / "home/project/.git" / name))
        machine.listeners.at(folder / "home/project/service.sock")
        if has("marks"):
            os.setxattr(folder / "outside/secret", "user.mark", tokens["mark"].encode())
        made.planted = {name: seen(folder / name) for name in files}
        if victim:
            made.victim = started = machine.start(["/bin/sleep", "600"], env={})
            made.names = {**names, "victim": str(started.pid)}
        yield made
    finally:
        if started is not None:
            started.kill()
            started.wait()
        shutil.rmtree(folder)


def seen(path: Path) -> tuple[bytes | str, int]:
    """Return what a file is now: its content, and its mode."""
    try:
        if path.is_symlink():
            return f"link to {os.readlink(path)}", 0
        return path.read_bytes(), path.stat().st_mode
    except OSError as error:
        return f"gone: {error.strerror}", 0


def _files(folder: Path, tokens: Mapping[str, str]) -> dict[str, str]:
    return {
        "outside/secret": tokens["secret"],
        "outside/in/file": "untouched",
        "outside/program": f"#!/bin/sh\necho {tokens['program']}\n",
        "home/.ssh/id": tokens["key"],
        "home/.bashrc": "# untouched\n",
        "home/.gitconfig": "[user]\n\tname = person\n\temail = person@example.com\n",
        "home/.npmrc": "# untouched\n",
        "home/project/README": "a project\n",
        "home/project/.git/HEAD": "ref: refs/heads/main\n",
        "home/project/.git/config": "[core]\n\trepositoryformatversion = 0\n\tbare = false\n",
        "home/project/.truepenny/checks.toml": "# untouched\n",
    }


def _numbers() -> dict[str, str]:
    here = machine()
    assert here is not None
    known = {f"call:{name}": str(found[here.column]) for name, found in NUMBERS.items()}
    return known


def _made(path: Path) -> Path:
    path.mkdir(exist_ok=True)
    path.chmod(0o755)
    return path


def _file(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def _parents(machine: Machine, base: Path, path: Path) -> None:
    for parent in reversed(path.parents):
        if parent.is_relative_to(base) and not parent.exists():
            machine.give(_made(parent))
