"""How one kind of check is prepared before its program runs, and judged after."""

from __future__ import annotations

from abc import ABC, abstractmethod

from truepenny.execute.ending import Outcome
from truepenny.execute.execution import Execution

from .judgement import Judgement, Validation


class NotPrepared(Exception):
    """What the check is judged by cannot be used; nothing ran. `reason` is a machine word."""

    def __init__(self, reason: str, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.reason = reason
        self.hint = hint


class Judge(ABC):
    """Made before the program runs, so that it cannot change what it is judged by."""

    takes_arguments = False
    """Whether more words may be passed on: other words would make another check of it."""

    judged_bytes: int | None = None
    """Bytes of standard output that are kept whole for the judgement; None: only to be shown."""

    @abstractmethod
    def judge(self, execution: Execution) -> Judgement:
        """Judge a run that ended well. May take seconds: it is called in a thread."""


class ExitJudge(Judge):
    """The exit status is the judgement."""

    takes_arguments = True

    def judge(self, execution: Execution) -> Judgement:
        return Judgement(Validation.EXIT_CODE, Outcome.SUCCESS)
