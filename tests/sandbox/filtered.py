"""Starting a process from a thread that has taken limits on, as `Confinement.before_start` is."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Callable, Sequence

PYTHON = "/usr/bin/python3"
"""The system's own: unlike that of a private environment, every account may run it."""

SECONDS = 30.0


def start_after(
    before: Callable[[], None], argv: Sequence[str], **options: object
) -> subprocess.CompletedProcess[str]:
    """Run `before` and then the program in a thread of its own; what fails there is raised."""
    outcome: list[subprocess.CompletedProcess[str] | BaseException] = []

    def work() -> None:
        try:
            before()
            outcome.append(
                subprocess.run(
                    argv,
                    capture_output=True,
                    text=True,
                    timeout=SECONDS,
                    check=False,
                    **options,  # type: ignore[call-overload]
                )
            )
        except BaseException as error:
            outcome.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    if isinstance(outcome[0], BaseException):
        raise outcome[0]
    return outcome[0]
