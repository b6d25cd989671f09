"""A small tool under test: it runs lines with sh and tells the truth, or what a test wants."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import anyio

from truepenny.conformance.adapter import Adapter
from truepenny.conformance.observed import Observed

Twist = Callable[[str, Observed], Observed]


class SmallTool(Adapter):
    """`twist` changes what it says; `hang` is the word in a line that makes it never answer."""

    name = "small"
    version = "1"

    def __init__(self, twist: Twist = lambda command, seen: seen, hang: str = "\0") -> None:
        self.prepared: list[Path] = []
        self._twist = twist
        self._hang = hang

    async def prepare(self, work: Path) -> None:
        self.prepared.append(work)

    async def call(self, command: str, *, timeout: float, work: Path) -> Observed:
        if self._hang in command:
            await anyio.sleep_forever()
        done = await anyio.to_thread.run_sync(
            lambda: subprocess.run(
                ["sh", "-c", command], cwd=work, stdin=subprocess.DEVNULL, capture_output=True,
                encoding="utf-8", errors="backslashreplace", timeout=timeout,
            )
        )  # fmt: skip
        text = f"exit {done.returncode}\n{done.stdout}{done.stderr}"
        seen = Observed(text, done.stdout, done.stdout, done.stderr, exit_code=done.returncode)
        return self._twist(command, seen)
