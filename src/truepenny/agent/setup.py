"""What a session's turns run with, fixed while the session is open."""

from __future__ import annotations

from dataclasses import dataclass

from truepenny.model.request import Model
from truepenny.system.clock import Clock
from truepenny.system.ids import Ids
from truepenny.text.redact import Redactor
from truepenny.tool.admission import Admission
from truepenny.tool.invoke import Ask
from truepenny.tool.registry import Registry

from .investigation.investigation import Investigation
from .limits import Limits


@dataclass(frozen=True, slots=True)
class Setup:
    """The bindings of an agent. `ask` puts a call before a person; None means nobody is there.
    `investigation` is there where the session is a deep one."""

    model: Model
    registry: Registry
    admission: Admission
    limits: Limits
    system_prompt: str
    clock: Clock
    ids: Ids
    redactor: Redactor
    ask: Ask | None = None
    investigation: Investigation | None = None
