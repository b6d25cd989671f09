"""Programs held by Landlock, where the kernel has it."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from truepenny.errors import CouldNotRun
from truepenny.sandbox.drop import drop_words
from truepenny.sandbox.landlock.ruleset import OLDEST, version
from truepenny.sandbox.landlock.sandbox import LandlockSandbox
from truepenny.sandbox.level import Containment, Level
from truepenny.sandbox.plan import Account, Plan

PYTHON = "/usr/bin/python3"


def landlock(plan: Plan) -> LandlockSandbox | None:
    """Return it, or None where the kernel has none that will do; then that is what is said."""
    sandbox = LandlockSandbox(plan, Containment(Level.LANDLOCK, account=plan.account.name))
    if version() >= OLDEST:
        return sandbox
    with pytest.raises(CouldNotRun) as refused:
        sandbox.confine()
    assert "6.7" in refused.value.remedy
    return None


@contextmanager
def victim(account: Account) -> Iterator[int]:
    """Run a process of the same account outside, and yield its number."""
    words = [*drop_words(account), "/bin/cat"]
    process = subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={"SECRET": "of-the-victim"}
    )
    assert process.stdin is not None
    assert process.stdout is not None
    # It answers, so it has become the account.
    process.stdin.write(b"x\n")
    process.stdin.flush()
    assert process.stdout.readline() == b"x\n"
    try:
        yield process.pid
        assert process.poll() is None
    finally:
        process.communicate()
