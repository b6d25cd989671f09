"""Whether a back end works here: tried for real, as the account that commands get.

A kernel, a container or a security module may refuse namespaces to some accounts and not to
others (Ubuntu's AppArmor rule, a pod's system call filter), so nothing but a start proves it.
"""

from __future__ import annotations

import functools
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from truepenny.errors import TruepennyError
from truepenny.system.descendants import RUN_VARIABLE, bury, new_cookie

from .baseline import baseline_mounts
from .bwrap.program import BwrapProgram, installed
from .bwrap.sandbox import BwrapSandbox
from .confinement import Confinement
from .level import Containment, Level
from .plan import Account, Plan, Profile, ResourceLimits
from .sandbox import Sandbox

SECONDS = 10.0
"""A start takes milliseconds; a machine that needs this long runs nothing in time."""

APPARMOR = Path("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")
NAMESPACES = Path("/proc/sys/user/max_user_namespaces")


@dataclass(frozen=True, slots=True)
class Probe:
    """What one level answered. `works` is the whole verdict; `detail` says what was tried, with
    the first line of what failed; `remedy` is empty where it works. `faults` are known faults of
    what works, each with its name and what it means here."""

    level: Level
    works: bool
    detail: str
    remedy: str = ""
    faults: tuple[str, ...] = ()


def probe_plan(account: Account) -> Plan:
    """Return the smallest plan: the system alone."""
    return Plan(Profile.COMMAND, baseline_mounts(), Path("/"), account, limits=ResourceLimits())


@functools.cache
def working_bwrap(account: Account) -> tuple[Probe, BwrapProgram | None]:
    """Try bubblewrap as the account, once for each process of ours.

    Returns it as it works here: where forbidding further namespaces fails (bubblewrap installed
    setuid, nested containers), without that.
    """
    program = installed()
    if program is None:
        remedy = "Install bubblewrap (`apt install bubblewrap`, `dnf install bubblewrap`)."
        return Probe(Level.BWRAP, False, "bubblewrap is not installed", remedy), None
    failed = try_start(BwrapSandbox(probe_plan(account), program))
    if failed is not None and program.forbids_namespaces:
        weaker = replace(program, forbids_namespaces=False)
        if try_start(BwrapSandbox(probe_plan(account), weaker)) is None:
            detail = f"{program}, which cannot forbid further namespaces here: {failed.why}"
            return Probe(Level.BWRAP, True, detail, faults=_faults(program)), weaker
    if failed is not None:
        remedy = failed.remedy or _remedy(failed.why)
        return Probe(Level.BWRAP, False, f"{program}: {failed.why}", remedy), None
    return Probe(Level.BWRAP, True, str(program), faults=_faults(program)), program


def _faults(program: BwrapProgram) -> tuple[str, ...]:
    return tuple(f"{fault.name}: {fault.what}" for fault in program.faults)


def probe_bwrap(account: Account) -> Probe:
    """Say whether bubblewrap works for an account."""
    return working_bwrap(account)[0]


@functools.cache
def probe_landlock(account: Account) -> Probe:
    """Say whether Landlock works for an account: tried once for each process of ours."""
    from .landlock.sandbox import LandlockSandbox

    failed = try_start(
        LandlockSandbox(probe_plan(account), Containment(Level.LANDLOCK, account=account.name))
    )
    if failed is not None:
        remedy = failed.remedy or "Allow the calls of Landlock to this process, or use `bwrap`."
        return Probe(Level.LANDLOCK, False, failed.why, remedy)
    return Probe(Level.LANDLOCK, True, "Landlock")


@dataclass(frozen=True, slots=True)
class Failed:
    """Why a start failed. `remedy` is empty where only the system's own words are known."""

    why: str
    remedy: str = ""


def try_start(sandbox: Sandbox) -> Failed | None:
    """Start `true` in it; return why that failed, or None where it ended well."""
    try:
        confinement = sandbox.confine()
    except TruepennyError as error:
        return Failed(error.message, error.remedy)
    try:
        # In a thread that ends with it: Landlock's rules stay on the thread that took them on.
        with ThreadPoolExecutor(1) as thread:
            done = thread.submit(_start, confinement).result()
        refused = confinement.verdict(done.returncode, done.stderr.decode("utf-8", "replace"))
    except (OSError, subprocess.TimeoutExpired) as error:
        return Failed(str(error))
    finally:
        if confinement.group is not None:
            confinement.group.kill()
        confinement.close()
    if refused is not None:
        return Failed(refused.message)
    return None if done.returncode == 0 else Failed(f"`true` ended with {done.returncode}")


def _start(confinement: Confinement) -> subprocess.CompletedProcess[bytes]:
    if confinement.before_start is not None:
        confinement.before_start()
    argv, cookie = confinement.argv(("/bin/true",)), new_cookie()
    with subprocess.Popen(
        argv,
        env={**confinement.environment({"PATH": "/usr/bin:/bin"}), RUN_VARIABLE: cookie},
        cwd=confinement.cwd,
        pass_fds=confinement.descriptors,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        try:
            _, said = process.communicate(timeout=SECONDS)
        except BaseException:
            process.kill()
            raise
    bury(process.pid, cookie)
    return subprocess.CompletedProcess(argv, process.returncode, stderr=said)


def _remedy(why: str) -> str:
    if _number(APPARMOR) == 1:
        return (
            "Ubuntu's AppArmor rule refuses user namespaces: install a profile that allows them to "
            "bwrap (package apparmor-profiles, `bwrap-userns-restrict`), or set "
            "kernel.apparmor_restrict_unprivileged_userns=0."
        )
    if _number(NAMESPACES) == 0:
        return "User namespaces are switched off: set user.max_user_namespaces above 0."
    if "Operation not permitted" in why or "Permission denied" in why:
        return (
            "A container or security module refuses namespaces: allow them (in Docker, "
            "`--security-opt seccomp=unconfined`), or use the level `landlock`."
        )
    return "Start `bwrap --unshare-all --ro-bind / / true` by hand as that account."


def _number(path: Path) -> int | None:
    try:
        return int(path.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None
