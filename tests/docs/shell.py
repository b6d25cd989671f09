"""A reader's terminals: running the examples of one block, one after the other, in one home."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path
from types import TracebackType

from .examples import ROOT, Example, missing

LIMIT = 120
"""Seconds for one command; the slowest takes three on an idle machine."""


class Shell:
    """Runs examples; a context manager that ends what still serves.

    `check` raises AssertionError with the whole output when an example is not as the page says.
    """

    def __init__(self, home: Path) -> None:
        self._environment = {
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(home),
            "TRUEPENNY_HOME": str(home / "truepenny"),
            "LANG": "C.UTF-8",
            "COLUMNS": "100",
        }
        self._printed = ""
        self._serving: list[subprocess.Popen[str]] = []

    def check(self, example: Example) -> None:
        if example.pasted:
            self._paste(example)
        elif example.serves:
            self._serve(example)
        else:
            self._run(example)

    def _paste(self, example: Example) -> None:
        found = re.findall(rf"export {example.pasted}=(\S+)", self._printed)
        assert found, f"{example.name}: nothing printed says what to paste\n{self._printed}"
        self._environment[example.pasted] = found[-1]

    def _run(self, example: Example) -> None:
        done = subprocess.run(
            _argv(example.command), cwd=ROOT, env=self._environment, text=True, timeout=LIMIT,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        self._printed += done.stdout
        assert done.returncode == example.exit_code, f"{example.name}\n{done.stdout}"
        lost = missing(example.expected, done.stdout)
        assert lost is None, f"{example.name}: not in the output: {lost}\n{done.stdout}"

    def _serve(self, example: Example) -> None:
        server = subprocess.Popen(
            _argv(f"exec {example.command.removesuffix(' &')}"),
            cwd=ROOT, env=self._environment, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        self._serving.append(server)
        assert server.stdout is not None
        # Ends the reading below if the server stays silent: its output closes with it.
        watchdog = threading.Timer(LIMIT, server.kill)
        watchdog.start()
        output = ""
        for line in server.stdout:
            output += line
            if missing(example.expected, output) is None:
                break
        watchdog.cancel()
        self._printed += output
        lost = missing(example.expected, output)
        assert lost is None, f"{example.name}: not in the output: {lost}\n{output}"

    def __enter__(self) -> Shell:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for server in self._serving:
            server.send_signal(signal.SIGINT)
            try:
                server.communicate(timeout=LIMIT)
            except subprocess.TimeoutExpired:
                server.kill()
                server.communicate()


def _argv(command: str) -> list[str]:
    # `./dev run` is the same command without the set-up, which this test is part of already.
    return ["bash", "-c", re.sub(r"(?<!\S)\./dev ", "truepenny ", command)]
