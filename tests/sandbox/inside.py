"""Starting programs in a sandbox and looking at what came of it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.privilege import NOBODY
from truepenny.config.settings import SandboxSettings
from truepenny.errors import CouldNotRun
from truepenny.sandbox.account import account_for
from truepenny.sandbox.choice import open_sandbox
from truepenny.sandbox.confinement import Confinement, NotStarted
from truepenny.sandbox.plan import Mount, Plan, Profile
from truepenny.sandbox.planning import plan_for
from truepenny.sandbox.probe import probe_bwrap
from truepenny.sandbox.sandbox import Sandbox

ENV = {"PATH": "/usr/bin:/bin"}


@dataclass(frozen=True)
class Ended:
    code: int
    out: str
    err: str
    verdict: NotStarted | None


def plan_of(
    folder: Path,
    profile: Profile = Profile.COMMAND,
    *,
    mounts: Sequence[Mount] = (),
    masks: Sequence[Path] = (),
    env: Mapping[str, str] | None = None,
    **settings: object,
) -> Plan:
    account = account_for(folder, None)
    # A home without anything in it, so that no test depends on whose machine it is.
    home = {"HOME": "/nonexistent"} if env is None else env
    made = SandboxSettings.model_validate(settings)
    return plan_for(profile, folder, account, made, mounts=mounts, masks=masks, env=home)


def bwrap(plan: Plan) -> Sandbox | None:
    """Return it, or None where this machine refuses namespaces; then that is what is said."""
    if probe_bwrap(plan.account).works:
        return open_sandbox(plan, "bwrap")
    with pytest.raises(CouldNotRun) as refused:
        open_sandbox(plan, "bwrap")
    assert refused.value.remedy
    return None


def run(
    sandbox: Sandbox,
    *argv: str,
    env: Mapping[str, str] = ENV,
    cwd: Path | None = None,
) -> Ended:
    confinement = sandbox.confine(cwd)
    try:
        with ThreadPoolExecutor(1) as thread:
            done = thread.submit(start, confinement, argv, env).result()
        err = done.stderr.decode()
        return Ended(
            done.returncode, done.stdout.decode(), err, confinement.verdict(done.returncode, err)
        )
    finally:
        confinement.close()


def start(
    confinement: Confinement, argv: Sequence[str], env: Mapping[str, str]
) -> subprocess.CompletedProcess[bytes]:
    if confinement.before_start is not None:
        confinement.before_start()
    return subprocess.run(
        confinement.argv(tuple(argv)),
        env=dict(confinement.environment(env)),
        cwd=confinement.cwd,
        pass_fds=confinement.descriptors,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )


def shell(sandbox: Sandbox, line: str) -> Ended:
    return run(sandbox, "sh", "-c", line)


def give(path: Path) -> Path:
    """Give a path to the account that commands get."""
    if os.geteuid() == 0:
        os.chown(path, NOBODY, NOBODY, follow_symlinks=False)
    return path


def make_folder(path: Path) -> Path:
    path.mkdir()
    return give(path)


def make_file(path: Path, text: str = "") -> Path:
    path.write_text(text, encoding="utf-8")
    return give(path)


def make_repository(folder: Path) -> Path:
    """Make what git needs at least, with the two places that name programs."""
    git = make_folder(folder / ".git")
    make_folder(git / "hooks")
    make_file(git / "config", "[core]\n")
    make_file(git / "HEAD", "ref: refs/heads/main\n")
    return git
