"""The outbox: events in order, the writer waits for a slow reader, the end gets out."""

from __future__ import annotations

import anyio
import pytest

from truepenny.agent.event import Notice, ToolProgress
from truepenny.agent.outbox import ROOM, Outbox
from truepenny.errors import StorageFailed

pytestmark = pytest.mark.anyio


def notice(number: int) -> Notice:
    return Notice("t", "n", str(number))


async def test_a_writer_waits_for_a_slow_reader() -> None:
    outbox, sent = Outbox(), 0

    async def write() -> None:
        nonlocal sent
        for number in range(3 * ROOM):
            await outbox.send(notice(number))
            sent += 1
        outbox.close()

    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(write)
            await anyio.wait_all_tasks_blocked()
            assert sent == ROOM
            got = [event.message async for event in outbox]  # type: ignore[union-attr]
    assert got == [str(number) for number in range(3 * ROOM)]


async def test_putting_never_waits_and_drops_only_progress() -> None:
    outbox = Outbox()
    assert all(outbox.put(notice(number)) for number in range(ROOM))
    assert not outbox.put(ToolProgress("t", "c", "x", "line"))
    assert outbox.put(notice(ROOM))
    outbox.close()
    assert len([event async for event in outbox]) == ROOM + 1


async def test_a_failure_comes_after_what_was_sent() -> None:
    outbox = Outbox()
    outbox.put(notice(1))
    outbox.close(StorageFailed("full"))
    assert (await anext(outbox)).to_json()["message"] == "1"
    with pytest.raises(StorageFailed):
        await anext(outbox)
