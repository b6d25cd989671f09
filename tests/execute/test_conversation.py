"""Talking with a process: both ways raw, and ended whatever happens."""

from __future__ import annotations

import os
import signal

import anyio
import pytest

from truepenny.execute.command import Command
from truepenny.execute.conversation import Conversation, converse
from truepenny.execute.execution import StartFailure, StartFault
from truepenny.execute.process import run

from .script import alive, python

pytestmark = pytest.mark.anyio

ECHO = """
import os, sys
while data := os.read(0, 65536):
    os.write(1, data)
print("bye", file=sys.stderr)
"""


def descriptors() -> set[str]:
    return set(os.listdir("/proc/self/fd"))


def talking(found: Conversation | StartFailure) -> Conversation:
    assert isinstance(found, Conversation)
    return found


async def receive(talk: Conversation, count: int) -> bytes:
    data = b""
    while len(data) < count and (more := await talk.receive()):
        data += more
    return data


@pytest.fixture(autouse=True)
async def warm() -> None:
    """What a first run keeps open (the guard) is no leak of the next."""
    await run(python(""))


async def test_what_is_sent_comes_back_and_the_end_is_accounted_for() -> None:
    before = descriptors()
    async with converse(python(ECHO)) as found:
        talk = talking(found)
        await talk.send(b"one\0\xff\n")
        assert await receive(talk, 6) == b"one\0\xff\n"
        talk.close_input()
        assert await talk.receive() == b""
        await talk.ended.wait()
        with pytest.raises(BrokenPipeError):
            await talk.send(b"more")
    assert talk.execution is not None
    assert talk.execution.exit.observed == 0
    assert talk.execution.stderr.text == "bye\n"
    assert talk.execution.stdout.bytes.observed == 0
    assert descriptors() == before


async def test_more_than_the_pipes_hold_goes_through_both_ways() -> None:
    data = os.urandom(3_000_000)
    async with converse(python(ECHO)) as found:
        talk = talking(found)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(talk.send, data)
            assert await receive(talk, len(data)) == data


async def test_one_that_does_not_end_by_itself_is_ended_with_its_children() -> None:
    code = "import os, time\nos.fork()\nos.write(1, b'%d\\n' % os.getpid())\ntime.sleep(60)"
    async with converse(python(code)) as found:
        talk = talking(found)
        text = b""
        while text.count(b"\n") < 2:
            text += await talk.receive()
        pids = [int(pid) for pid in text.split()]
    assert talk.execution is not None
    assert talk.execution.exit.signal == signal.SIGTERM
    assert not any(map(alive, pids))


async def test_one_that_dies_is_seen_by_sender_and_receiver() -> None:
    async with converse(python("import os; os.kill(os.getpid(), 9)")) as found:
        talk = talking(found)
        assert await talk.receive() == b""
        await talk.ended.wait()
        with pytest.raises(BrokenPipeError):
            await talk.send(b"x")
    assert talk.execution is not None
    assert talk.execution.exit.signal == signal.SIGKILL


async def test_a_program_that_is_not_there_is_a_failed_start_and_leaves_nothing() -> None:
    before = descriptors()
    async with converse(Command(("/no/such/program",), {})) as found:
        assert isinstance(found, StartFailure)
        assert found.fault is StartFault.MISSING_PROGRAM
    assert descriptors() == before


async def test_cancelled_or_failed_in_between_nothing_is_left() -> None:
    before = descriptors()
    pids: list[int] = []
    code = "import os, time; os.write(1, b'%d\\n' % os.getpid()); time.sleep(60)"
    with anyio.move_on_after(0.3) as scope:
        async with converse(python(code)) as found:
            pids.append(int(await talking(found).receive()))
            await talking(found).receive()
    assert scope.cancelled_caught
    with pytest.raises(ExceptionGroup):
        async with converse(python(code)) as found:
            pids.append(int(await talking(found).receive()))
            raise ValueError
    assert not any(map(alive, pids))
    assert descriptors() == before
