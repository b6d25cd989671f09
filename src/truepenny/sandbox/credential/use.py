"""What was asked of the credential proxy, as facts for the result: each request with its end."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

MOST_USES = 200
"""Kept of one proxy: the newest, and a count of those before them."""

MOST_NAME = 100
"""Characters of a name that comes from inside."""


class Kind(StrEnum):
    """What was asked for."""

    PROGRAM = "program"
    CREDENTIAL = "credential"
    """The value itself."""
    UNREADABLE = "unreadable"


@dataclass(slots=True)
class Use:
    """One request. No value and no argument is ever in it.

    `arguments` counts those of a program. `returncode` is its exit code (128 and the number for a
    signal), None while it runs or where it never ran. `refusal` is the reason of a request that
    got nothing, or of a program that was ended before its time.
    """

    kind: Kind
    name: str = ""
    arguments: int | None = None
    returncode: int | None = None
    refusal: str = ""
    over: bool = False

    def record(self) -> dict[str, Any]:
        """Return it as JSON: the kind with the name, then what there is to tell."""
        found: dict[str, Any] = {str(self.kind): self.name}
        if self.arguments is not None:
            found["arguments"] = self.arguments
        if self.refusal:
            found["refusal"] = self.refusal
        elif not self.over:
            found["running"] = True
        elif self.kind is Kind.PROGRAM:
            found["exit"] = self.returncode
        return found

    def line(self) -> str:
        """Return it for people: `ship with 2 arguments: exit 0`."""
        what = self.name
        if self.arguments is not None:
            what += f" with {self.arguments} argument{'s' * (self.arguments != 1)}"
        if self.refusal:
            return f"{what or 'a request'}: {self.refusal}"
        if not self.over:
            return f"{what}: still running"
        if self.kind is Kind.CREDENTIAL:
            return f"{what}: value handed out"
        return f"{what}: exit {self.returncode}"


class Uses:
    """The uses of one proxy, which may serve many runs one after another.

    Take a `mark` before a run and ask `since` after it. What other runs did meanwhile is among
    the answer, for a connection does not tell whose it is.
    """

    def __init__(self) -> None:
        self._kept: deque[Use] = deque(maxlen=MOST_USES)
        self._total = 0

    def add(self, kind: Kind, name: str = "", arguments: int | None = None) -> Use:
        """Append one that has begun and return it; the oldest makes room."""
        # The name comes from inside: as a literal it cannot forge a line.
        shown = name if name.isprintable() else ascii(name)
        use = Use(kind, shown[:MOST_NAME], arguments)
        self._kept.append(use)
        self._total += 1
        return use

    def mark(self) -> int:
        """Return the place behind the last one."""
        return self._total

    def since(self, mark: int = 0) -> list[Use]:
        """Return what is kept of those from a mark on, in their order."""
        return list(self._kept)[max(0, mark - (self._total - len(self._kept))) :]

    def omitted(self, mark: int = 0) -> int:
        """Return how many from a mark on are not kept any more."""
        return max(0, self._total - len(self._kept) - mark)
