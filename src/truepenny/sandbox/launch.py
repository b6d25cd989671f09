"""What every back end starts with: the control group, the limits, the account.

One order, for all of them: join the group while we may, set limits, then become the account. What
the back end adds comes after.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace

from .cgroup import layout, open_group
from .confinement import NotStarted, TaskGroup
from .drop import CODES, drop_words, exec_failure
from .level import LimitLayout
from .placement import place
from .plan import Account, Plan
from .rlimits import rlimit_words


@dataclass(frozen=True, slots=True)
class Launch:
    """The words before the back end's own, and what goes with them."""

    words: tuple[str, ...]
    descriptors: tuple[int, ...]
    group: TaskGroup | None
    layout: LimitLayout
    verdict: Callable[[int | None, str], NotStarted | None]


def prepare(plan: Plan, stack: ExitStack, *, closed: bool = False) -> Launch:
    """Make the group and the words; `stack` gives back what was taken. `closed` says that the
    words can open nothing of ours themselves.

    Raises CouldNotRun where a control group is delegated to us but cannot be made.
    """
    group = open_group(plan.limits)
    if group is not None:
        stack.callback(group.remove)
    descriptors = () if group is None or not closed else group.descriptors
    joins = descriptors if group is None or closed else group.joins
    placement = place(joins, rlimit_words(plan.limits, grouped=group is not None))
    return Launch(
        (*placement.words, *drop_words(plan.account)),
        descriptors,
        group,
        LimitLayout.RLIMITS if group is None else layout(),
        placement.verdict,
    )


def program_verdict(
    launch: Launch, account: Account, code: int | None, stderr: str
) -> NotStarted | None:
    """Read an end where nothing stands between the words and the program: the last of them is
    the one that tries to start it."""
    found = launch.verdict(code, stderr)
    if account.drop:
        return found or exec_failure(code, stderr)
    why = CODES.get(code or 0)
    return found if found is None or why is None else replace(found, why=why)
