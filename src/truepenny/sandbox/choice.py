"""Choosing what holds a plan: the strongest that works here, or the one that was named.

Nothing is ever held by less than was asked for: a level that does not work is an error, and `none`
is taken only where a person named it (spec/field.md B5).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from truepenny.errors import CouldNotRun

from .access import require_entry
from .cgroup import layout
from .gap import Situation, gaps
from .level import Containment, Level
from .none.sandbox import NoneSandbox
from .plan import Account, Plan
from .probe import Probe, probe_bwrap, probe_landlock, working_bwrap
from .sandbox import Sandbox

Choice = Literal["auto", "bwrap", "landlock", "none"]

ORDER = (Level.BWRAP, Level.LANDLOCK)
"""What `auto` tries, strongest first."""

WHERE = "sandbox.level"


def open_sandbox(plan: Plan, level: Choice) -> Sandbox:
    """Return the plan held by a back end that was tried here, as the plan's account.

    Raises CouldNotRun where the named level does not work, or for `auto` none of them, saying what
    was tried, why each failed and what to do; and where the account cannot enter the workspace.
    """
    _enter(plan.account, plan.cwd)
    if level == "none":
        return NoneSandbox(plan)
    wanted = ORDER if level == "auto" else (Level(level),)
    failed: list[Probe] = []
    for one in wanted:
        probe = PROBES[one](plan.account)
        if probe.works:
            return _open(plan, one)
        failed.append(probe)
    tried = "; ".join(f"{probe.level}: {probe.detail}" for probe in failed)
    raise CouldNotRun(
        f"nothing here can hold a command ({tried})",
        where=WHERE,
        remedy=" ".join(dict.fromkeys(probe.remedy for probe in failed if probe.remedy)),
    )


PROBES: dict[Level, Callable[[Account], Probe]] = {
    Level.BWRAP: probe_bwrap,
    Level.LANDLOCK: probe_landlock,
}


@functools.lru_cache(maxsize=256)
def _enter(account: Account, folder: Path) -> None:
    """Check once for each folder: a right that is lost later shows at the start itself."""
    require_entry(account, folder)


def _open(plan: Plan, level: Level) -> Sandbox:
    if level is Level.LANDLOCK:
        from .landlock.grants import unprotected
        from .landlock.ruleset import version
        from .landlock.sandbox import LandlockSandbox

        at = Situation(plan, level, layout(), version(), bool(unprotected(plan)))
        account, network = plan.account.name, str(plan.network)
        return LandlockSandbox(plan, Containment(level, at.limits, account, network, gaps(at)))
    from .bwrap.sandbox import BwrapSandbox

    _, program = working_bwrap(plan.account)
    if program is None:
        raise AssertionError("a level that works has its program")
    return BwrapSandbox(plan, program)
