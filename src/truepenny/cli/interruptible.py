"""Async work that ends in order when a signal asks for it."""

from __future__ import annotations

import signal
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import anyio
from anyio.abc import TaskStatus

T = TypeVar("T")

_ENDS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def ends() -> list[signal.Signals]:
    """Return the signals that ask for an end here; one that is ignored (`nohup`, `&`) stays so."""
    return [number for number in _ENDS if signal.getsignal(number) is not signal.SIG_IGN]


def run(function: Callable[..., Awaitable[T]], *arguments: Any) -> T:
    """Run an async function to its end as `anyio.run`; asked to end, cancel it and interrupt.

    A signal is taken up between two steps of the loop, so that whatever runs is cancelled where it
    waits and cleans up. Raised amidst a step, an interrupt can turn into another error there.
    """
    return anyio.run(_watched, function, arguments)


async def _watched(function: Callable[..., Awaitable[T]], arguments: tuple[Any, ...]) -> T:
    async def watch(*, task_status: TaskStatus[None]) -> None:
        with anyio.open_signal_receiver(*ends()) as signals:
            task_status.started()
            async for _ in signals:
                tasks.cancel_scope.cancel()
                return

    async with anyio.create_task_group() as tasks:
        await tasks.start(watch)
        result = await function(*arguments)
        tasks.cancel_scope.cancel()
        return result
    raise KeyboardInterrupt
