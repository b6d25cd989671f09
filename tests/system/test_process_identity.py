"""Who a process is, and when its death is proven."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from truepenny.system.process_identity import (
    Liveness,
    exists,
    liveness,
    read_stat,
    start_identity,
    started_at,
)

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


def test_own_identity_has_scheme_boot_namespace_and_start() -> None:
    identity = start_identity(os.getpid())
    assert identity is not None
    scheme, boot, namespace, start = identity.split(":")
    assert scheme == "linux-proc"
    assert len(boot) == 36
    assert namespace.isdigit()
    stat = read_stat(os.getpid())
    assert stat is not None and int(start) == stat.start
    assert liveness(os.getpid(), identity) is Liveness.ALIVE


def test_another_start_or_another_boot_is_dead_and_another_namespace_unknown() -> None:
    identity = start_identity(os.getpid())
    assert identity is not None
    scheme, boot, namespace, start = identity.split(":")
    pid = os.getpid()
    assert liveness(pid, f"{scheme}:{boot}:{namespace}:{int(start) + 1}") is Liveness.DEAD
    assert liveness(pid, f"{scheme}:other:{namespace}:{start}") is Liveness.DEAD
    assert liveness(pid, f"{scheme}:{boot}:1:{start}") is Liveness.UNKNOWN


def test_unknown_or_foreign_schemes_are_never_dead_while_the_number_lives() -> None:
    assert liveness(os.getpid(), None) is Liveness.UNKNOWN
    assert liveness(os.getpid(), "ps-lstart:Mon Jan 1 00:00:00 2026") is Liveness.UNKNOWN
    assert liveness(os.getpid(), "garbage") is Liveness.UNKNOWN


def test_a_child_from_birth_to_reaping() -> None:
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    identity = start_identity(child.pid)
    assert identity is not None
    assert liveness(child.pid, identity) is Liveness.ALIVE
    child.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    stat = read_stat(child.pid)
    assert stat is not None and stat.finished
    assert liveness(child.pid, identity) is Liveness.DEAD
    child.communicate()
    assert not exists(child.pid)
    assert start_identity(child.pid) is None
    assert liveness(child.pid, identity) is Liveness.DEAD
    assert liveness(child.pid, None) is Liveness.DEAD


def test_a_name_with_parentheses_and_blanks_does_not_shift_the_fields() -> None:
    child = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "open('/proc/self/comm','w').write('a) b (c) 1'); print(flush=True); input()",
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert child.stdout is not None
    child.stdout.readline()
    stat = read_stat(child.pid)
    child.kill()
    child.communicate()
    assert stat is not None
    assert stat.parent == os.getpid()


def test_odd_numbers() -> None:
    assert not exists(0)
    assert not exists(-1)
    assert not exists(2**40)
    assert exists(1)


def test_started_at_is_in_the_past() -> None:
    began = started_at(os.getpid())
    assert began is not None
    child = subprocess.Popen(["true"])
    later = started_at(child.pid)
    child.wait()
    assert later is not None and later >= began
    assert started_at(2**30) is None
