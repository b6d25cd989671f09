"""Finding what moved away from its session, with real processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from truepenny.system import descendants
from truepenny.system.descendants import (
    RUN_VARIABLE,
    Descendants,
    adopt_orphans,
    children,
    hold_start,
    new_cookie,
    release_start,
    runtime_mark,
    send,
    tree,
)

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

ESCAPE = """
import os, sys
if os.fork():
    sys.exit()
os.setsid()
if os.fork():
    os._exit(0)
os.write(1, b"%d" % os.getpid())
os.close(1)
os.execv("/bin/sleep", ["sleep", "60"])
"""


def reaped(pid: int) -> bool:
    return not os.path.exists(f"/proc/{pid}")


@contextmanager
def started(code: str, cookie: str) -> Iterator[subprocess.Popen[bytes]]:
    """Start a program as a run does."""
    assert adopt_orphans()
    child = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", code],
        env={RUN_VARIABLE: cookie},
        start_new_session=True,
        stdout=subprocess.PIPE,
    )
    hold_start(child.pid)
    try:
        yield child
    finally:
        child.kill()
        child.wait()
        release_start(child.pid)
        assert child.stdout is not None
        child.stdout.close()


def output(child: subprocess.Popen[bytes]) -> int:
    assert child.stdout is not None
    return int(child.stdout.read())


def end(found: Descendants, pid: int) -> None:
    for stat in found.living().values():
        assert send(stat, signal.SIGKILL)
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    assert found.living() == {}
    assert reaped(pid)


def test_a_double_fork_into_another_session_is_found_by_the_cookie() -> None:
    before, cookie = children(os.getpid()), new_cookie()
    with started(ESCAPE, cookie) as child:
        pid = output(child)
        child.wait()
        release_start(child.pid)
        found = Descendants(child.pid, cookie)
        assert list(found.living()) == [pid]
        end(found, pid)
        # The one in the middle ended unseen; it was reaped with the others.
        assert set(children(os.getpid())) <= set(before)


def test_another_run_takes_it_not_for_its_own() -> None:
    cookie = new_cookie()
    with started(ESCAPE, cookie) as child:
        pid = output(child)
        child.wait()
        assert Descendants(child.pid, new_cookie()).living() == {}
        assert not reaped(pid)
        end(Descendants(child.pid, cookie), pid)


SCRUBBED = """
import os, time
if os.fork():
    os.close(1)
    time.sleep(60)
os.setsid()
os.write(1, b"%d" % os.getpid())
told = os.dup(1)  # closed by becoming another program
os.close(1)
os.execve("/bin/sleep", ["sleep", "60"], {})
"""


def test_one_that_was_seen_below_its_parent_needs_no_cookie() -> None:
    cookie = new_cookie()
    with started(SCRUBBED, cookie) as child:
        pid = output(child)
        found = Descendants(child.pid, cookie)
        assert list(found.living()) == [pid]
        child.kill()
        child.wait()
        release_start(child.pid)
        assert Descendants(child.pid, cookie).living() == {}
        assert list(found.living()) == [pid]
        end(found, pid)


def test_an_environment_that_is_not_there_for_a_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    cookie = new_cookie()
    with started(ESCAPE, cookie) as child:
        pid = output(child)
        child.wait()
        release_start(child.pid)
        real, looks = descendants._environment, [b"", b""]  # pyright: ignore[reportPrivateUsage]
        monkeypatch.setattr(
            descendants, "_environment", lambda pid: looks.pop() if looks else real(pid)
        )
        found = Descendants(child.pid, cookie)
        assert list(found.living()) == [pid]
        assert looks == []
        end(found, pid)


def test_a_child_of_other_code_is_left_alone() -> None:
    found = Descendants(1 << 30, new_cookie())
    for session in (False, True):
        other = subprocess.Popen(["/bin/sh", "-c", "exit 7"], start_new_session=session)
        os.waitid(os.P_PID, other.pid, os.WEXITED | os.WNOWAIT)
        assert found.living() == {}
        assert other.wait() == 7


def test_the_tree_below_a_process() -> None:
    code = "import os, time\nos.fork(); os.fork()\nos.write(1, b'x')\ntime.sleep(60)"
    cookie = new_cookie()
    with started(code, cookie) as child:
        assert child.stdout is not None
        seen = b""
        while len(seen) < 4:
            seen += os.read(child.stdout.fileno(), 4)
        below = tree(child.pid)
        assert len(below) == 3
        assert set(children(child.pid)) <= set(below)
        for stat in below.values():
            assert send(stat, signal.SIGKILL)


def test_a_number_that_was_given_away_is_not_signalled() -> None:
    from dataclasses import replace

    from truepenny.system.process_identity import read_stat

    stat = read_stat(os.getpid())
    assert stat is not None
    assert not send(replace(stat, start=stat.start - 1), signal.SIGKILL)
    assert not send(replace(stat, pid=1 << 30), signal.SIGKILL)


def test_cookies_of_a_process_begin_alike_and_differ() -> None:
    first, second = new_cookie(), new_cookie()
    assert first != second
    assert first.startswith(runtime_mark())
    assert second.startswith(runtime_mark())
