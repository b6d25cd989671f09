"""The whole output in a file: when, how much, and what the counts say."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from truepenny.execute.capture import Captured
from truepenny.execute.command import CaptureLimits
from truepenny.execute.ending import ByteCounts
from truepenny.execute.execution import Execution
from truepenny.execute.offload import FLUSH_BYTES, Offload
from truepenny.execute.process import run
from truepenny.text.bound import Limits
from truepenny.text.redact import Redactor

from .script import python

pytestmark = pytest.mark.anyio

SMALL = CaptureLimits(stdout=Limits(bytes=1000), stderr=Limits(bytes=1000))


def whole(counts: ByteCounts) -> bool:
    return counts.observed == counts.kept + counts.discarded + counts.offloaded


async def test_what_is_left_out_is_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "out"
    code = "for n in range(10000): print(n)"
    done = await run(python(code, limits=SMALL, offload=path))
    text = "".join(f"{n}\n" for n in range(10_000))
    assert path.read_text(encoding="utf-8") == text
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert done.offloaded is not None
    assert (done.offloaded.path, done.offloaded.bytes) == (str(path), len(text))
    assert done.offloaded.complete
    counts = done.stdout.bytes
    assert (counts.discarded, counts.offload_path) == (0, str(path))
    assert counts.offloaded == len(text) - counts.kept
    assert whole(counts)
    assert done.stderr.bytes == ByteCounts()


async def test_both_streams_are_in_it_in_the_order_they_came(tmp_path: Path) -> None:
    code = """
import os, sys
os.write(1, b'out ' * 500)
os.write(2, b'err')
"""
    path = tmp_path / "out"
    done = await run(python(code, limits=SMALL, offload=path))
    found = path.read_text(encoding="utf-8")
    assert sorted([found[:2000], found[2000:]])[-1].startswith("out")
    assert len(found) == 2003
    assert done.stderr.text == "err"


async def test_nothing_left_out_leaves_no_file(tmp_path: Path) -> None:
    done = await run(python("print('x' * 900)", limits=SMALL, offload=tmp_path / "out"))
    assert done.offloaded is None
    assert list(tmp_path.iterdir()) == []
    # Also where it had been begun.
    limits = CaptureLimits(stdout=Limits(bytes=4 * FLUSH_BYTES))
    code = f"print('x' * {2 * FLUSH_BYTES})"
    done = await run(python(code, limits=limits, offload=tmp_path / "out"))
    assert done.offloaded is None
    assert list(tmp_path.iterdir()) == []


async def test_no_secret_is_in_the_file(tmp_path: Path) -> None:
    redactor = Redactor()
    redactor.learn("correct-horse-battery", "test")
    path = tmp_path / "out"
    code = "for n in range(3000): print('a correct-horse-battery', n)"
    done = await run(python(code, limits=SMALL, offload=path, redactor=redactor))
    found = path.read_text(encoding="utf-8")
    assert "battery" not in found
    assert found.count("\n") == 3000
    assert whole(done.stdout.bytes)


async def test_what_stands_there_already_is_not_touched(tmp_path: Path) -> None:
    victim, link = tmp_path / "victim", tmp_path / "link"
    victim.write_text("mine", encoding="utf-8")
    link.symlink_to(victim)
    for path in (victim, link):
        done = await run(python("print('x' * 9000)", limits=SMALL, offload=path))
        assert done.exit.observed == 0
        assert done.offloaded is not None
        assert not done.offloaded.complete
        assert done.offloaded.problem == "File exists"
        assert done.stdout.bytes.offloaded == 0
        assert whole(done.stdout.bytes)
    assert victim.read_text(encoding="utf-8") == "mine"
    assert link.is_symlink()


async def test_a_folder_that_is_not_there_is_a_fact(tmp_path: Path) -> None:
    done = await run(python("print('x' * 9000)", limits=SMALL, offload=tmp_path / "no" / "out"))
    assert done.exit.observed == 0
    assert done.offloaded is not None
    assert done.offloaded.problem == "No such file or directory"


async def test_a_run_that_breaks_leaves_no_file(tmp_path: Path) -> None:
    def fail(_: str, text: str) -> None:
        raise RuntimeError(text)

    code = f"print('x' * {3 * FLUSH_BYTES})"
    with pytest.raises(ExceptionGroup):
        await run(python(code, limits=SMALL, offload=tmp_path / "out"), on_output=fail)
    assert list(tmp_path.iterdir()) == []


@given(
    pieces=st.lists(st.tuples(st.sampled_from(["stdout", "stderr"]), st.text(max_size=60))),
    limit=st.integers(0, 200),
    kept=st.integers(0, 40),
)
def test_counts_keep_their_law_at_any_limit(
    tmp_path_factory: pytest.TempPathFactory, pieces: list[tuple[str, str]], limit: int, kept: int
) -> None:
    path = tmp_path_factory.mktemp("offload") / "out"
    offload = Offload(path, limit)
    sizes = {"stdout": 0, "stderr": 0}
    for stream, text in pieces:
        clean = text.encode("utf-8", "replace").decode()
        sizes[stream] += len(clean.encode())
        offload.feed(stream, clean)
    captured = {
        stream: Captured(
            cut=size > kept, bytes=ByteCounts(size, min(size, kept), max(0, size - kept))
        )
        for stream, size in sizes.items()
    }
    done = offload.settle(Execution(stdout=captured["stdout"], stderr=captured["stderr"]))
    assert whole(done.stdout.bytes)
    assert whole(done.stderr.bytes)
    if done.offloaded is None:
        assert not path.exists()
        return
    assert done.offloaded.bytes == (path.stat().st_size if path.exists() else 0) <= limit
    if path.exists():
        path.read_text(encoding="utf-8")  # never a part of a character
        os.unlink(path)
    for counts in (done.stdout.bytes, done.stderr.bytes):
        assert counts.offloaded <= done.offloaded.bytes
        assert bool(counts.offload_path) == bool(counts.offloaded)
    if done.offloaded.complete:
        assert done.stdout.bytes.discarded == done.stderr.bytes.discarded == 0
