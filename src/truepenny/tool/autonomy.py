"""How much is done without asking a person: one table, action class by level (tools spec 3.1).

What a session may never do is another axis: the tools' own rules, which no level lifts.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from .contract import ActionClass
from .decision import Verdict


class Autonomy(StrEnum):
    """The level of a session, from the narrowest to the widest."""

    READ_ONLY = "read-only"
    SUGGEST = "suggest"
    """Whatever changes something is asked first."""
    AUTO_EDIT = "auto-edit"
    """Files of the workspace are changed without asking; commands are asked first."""
    FULL_AUTO = "full-auto"
    """Commands run without asking; changes of the system itself are still asked first."""


_ALLOW, _ASK, _DENY = Verdict.ALLOW, Verdict.ASK, Verdict.DENY

VERDICTS: Mapping[ActionClass, tuple[Verdict, Verdict, Verdict, Verdict]] = {
    ActionClass.READ: (_ALLOW, _ALLOW, _ALLOW, _ALLOW),
    ActionClass.WRITE: (_DENY, _ASK, _ALLOW, _ALLOW),
    ActionClass.EXECUTE: (_DENY, _ASK, _ASK, _ALLOW),
    ActionClass.DISPATCH: (_DENY, _ASK, _ALLOW, _ALLOW),
    ActionClass.OUTWARD: (_DENY, _ASK, _ASK, _ALLOW),
    ActionClass.SYSTEM_MODIFY: (_DENY, _ASK, _ASK, _ASK),
    ActionClass.GIT_DESTRUCTIVE: (_DENY, _DENY, _DENY, _DENY),
}
"""Columns in the order of `Autonomy`. A test pins that each class is here."""


def verdict(action_class: ActionClass, autonomy: Autonomy) -> Verdict:
    """Return what a level says to a class."""
    return VERDICTS[action_class][list(Autonomy).index(autonomy)]
