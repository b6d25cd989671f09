"""What a tool needs to take part: one class that runs a command and says what the tool said."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path

from .observed import Observed


class Adapter(ABC):
    """A tool under test. `name` and `version` go into the report.

    `takes_timeout` False says that no time limit can be given: cases about one are then not told.
    """

    name: str
    version: str
    takes_timeout: bool = True

    async def open(self) -> None:  # noqa: B027 - many tools need nothing
        """Get ready; raises `truepenny.errors.CouldNotRun` where the tool is not there."""

    async def close(self) -> None:  # noqa: B027
        """Give everything back. Called once, also after a failed `open`."""

    async def prepare(self, work: Path) -> None:  # noqa: B027
        """Get ready for one case in its own folder; start a tool that died again here."""

    @abstractmethod
    async def call(self, command: str, *, timeout: float, work: Path) -> Observed:
        """Run a shell line in `work`, with a time limit in seconds; return what the tool said.

        Cancelled, it takes the call back as a caller would. A tool that dies is an `Observed`
        with `died`, not an exception.
        """
