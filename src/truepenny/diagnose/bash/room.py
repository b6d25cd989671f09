"""Where a line runs: an empty private folder, a sandbox around it, and kubectl's surroundings.

Network and a kubeconfig are there for a line that calls kubectl for a named cluster, and for no
other. The kubeconfig is a copy of that one context, readable by the account of the line; no
program that the rules admit but kubectl opens a file it could name.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import anyio
import anyio.to_thread

from truepenny.config.settings import SandboxSettings
from truepenny.diagnose.cluster import Cluster
from truepenny.errors import CouldNotRun
from truepenny.sandbox.access import reaches
from truepenny.sandbox.account import account_for
from truepenny.sandbox.choice import open_sandbox
from truepenny.sandbox.credential.environment import clean_environment
from truepenny.sandbox.level import Level
from truepenny.sandbox.place import is_within
from truepenny.sandbox.plan import Account, Mode, Mount, Profile
from truepenny.sandbox.planning import plan_for
from truepenny.sandbox.sandbox import Sandbox
from truepenny.sandbox.search_path import search_path

NO_KUBECONFIG = "/dev/null"
"""Without a named cluster kubectl finds none, rather than whatever is the default of this user."""

_SYSTEM = Path("/usr")


@dataclass(frozen=True, slots=True)
class Room:
    """The place of one line. `env` is its whole environment."""

    folder: Path
    sandbox: Sandbox
    env: Mapping[str, str]


@asynccontextmanager
async def room(
    settings: SandboxSettings,
    env: Mapping[str, str],
    cluster: Cluster | None,
    kubeconfig: str | None,
) -> AsyncGenerator[Room]:
    """Make it; behind the context nothing of it is left. `env` is our own environment.

    `kubeconfig` is for `cluster`, both or neither. Raises CouldNotRun and ConfigurationError where
    nothing can hold a line.
    """
    folder = _empty()
    try:
        yield _made(folder, settings, env, cluster, kubeconfig)
    finally:
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(lambda: shutil.rmtree(folder, ignore_errors=True))


def _empty() -> Path:
    return Path(os.path.realpath(tempfile.mkdtemp(prefix="truepenny-line-")))


def _made(
    folder: Path,
    settings: SandboxSettings,
    env: Mapping[str, str],
    cluster: Cluster | None,
    kubeconfig: str | None,
) -> Room:
    account = account_for(folder, settings.account)
    network = "none" if kubeconfig is None else "host"
    wanted = settings.model_copy(update={"network": network})
    more: dict[str, str] = {"KUBECONFIG": NO_KUBECONFIG, "KUBECTL_KUBERC": "false"}
    mounts: tuple[Mount, ...] = ()
    if cluster is not None and kubeconfig is not None:
        program = Path(os.path.realpath(cluster.kubectl.find()))
        mounts = _program(program, account)
        file = folder / ".kube" / "config"
        file.parent.mkdir(mode=0o700)
        (folder / "bin").mkdir(mode=0o700)
        (folder / "bin" / "kubectl").symlink_to(program)
        file.touch(mode=0o600)
        file.write_text(kubeconfig, encoding="utf-8")
        more = {
            **_connection(cluster),
            "KUBECONFIG": str(file),
            "KUBECACHEDIR": str(folder / ".kube" / "cache"),
        }
    if account.drop:
        _hand_over(folder, account)
    plan = plan_for(Profile.COMMAND, folder, account, wanted, mounts=mounts, env=env)
    sandbox = open_sandbox(plan, settings.level)
    clean = clean_environment(env, folder, account=account)
    if sandbox.containment.level is not Level.NONE:
        clean["PATH"] = search_path(clean["PATH"], plan)
    if kubeconfig is not None:
        clean["PATH"] = f"{folder / 'bin'}{os.pathsep}{clean['PATH']}"
    return Room(folder, sandbox, {**clean, **more})


def _program(program: Path, account: Account) -> tuple[Mount, ...]:
    if account.drop and not reaches(account, program.parent):
        raise CouldNotRun(
            f"{account.name}, as which lines run, cannot reach {program}",
            where="kubectl.path",
            remedy="Install kubectl outside of private folders, or use the kubectl tool.",
        )
    if is_within(program, _SYSTEM):
        return ()
    return (Mount(Mode.READ, program, "kubectl", program, required=True),)


def _connection(cluster: Cluster) -> dict[str, str]:
    """Return what kubectl's own surroundings say of the way to the server; the rest is the
    sandbox's."""
    found = cluster.kubectl.environment("", plugin=False)
    return {
        name: value
        for name, value in found.items()
        if name not in ("HOME", "LANG", "PATH", "TMPDIR")
    }


def _hand_over(folder: Path, account: Account) -> None:
    for place, folders, files in os.walk(folder):
        for name in (".", *folders, *files):
            os.chown(Path(place, name), account.uid, account.gid, follow_symlinks=False)
