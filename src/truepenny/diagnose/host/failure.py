"""Why a host was not reached, by stage."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from truepenny.errors import CouldNotRun
from truepenny.execute.ending import Leg, Outcome
from truepenny.model.message import Text
from truepenny.text.bound import Limits, bound
from truepenny.text.control import strip_control
from truepenny.tool.result import NEVER_RAN, Facts, Result

MESSAGE_BYTES = 300
"""Of what a server says about its refusal: a sentence."""


class Stage(StrEnum):
    """Where dialling failed."""

    JUMP_HOP = "jump_hop"
    """A host on the way; which one and at what stage is in the detail."""
    AUTHENTICATION = "authentication"
    NETWORK = "network"
    HOST_KEY = "host_key"
    UNKNOWN = "unknown"


class DialFailed(CouldNotRun):
    """A host was not reached. `hop` is the host that failed, `stage` its own stage.

    `target` is the host that was wanted; nothing ran there. `detail` holds more for machines.
    """

    def __init__(
        self,
        target: str,
        hop: str,
        stage: Stage,
        message: str,
        *,
        remedy: str = "",
        detail: dict[str, Any] | None = None,
    ) -> None:
        said = bound(strip_control(message), Limits(bytes=MESSAGE_BYTES)).text
        super().__init__(" ".join(said.split()), where=f"host {hop}", remedy=remedy)
        self.target = target
        self.hop = hop
        self.hop_stage = stage
        self.detail = detail or {}

    @property
    def stage(self) -> Stage:
        """The stage, seen from the target."""
        return self.hop_stage if self.hop == self.target else Stage.JUMP_HOP

    def result(
        self, source: dict[str, str], *, command: str = "", notes: tuple[str, ...] = ()
    ) -> Result:
        """Return it as the result of a call: nothing ran. `detail` gets `stage`, `hop` and
        `hop_stage`, and for a changed key `known` and `offered`."""
        detail = {"stage": self.stage, "hop": self.hop, "hop_stage": self.hop_stage, **self.detail}
        on_way = "" if self.hop == self.target else f" (on the way to {self.target})"
        facts = Facts(
            completeness=NEVER_RAN,
            leg=Leg.TRANSPORT,
            reason=str(self.stage),
            hint=self.remedy,
            command=command,
            source=source,
            notes=notes,
            detail=detail,
        )
        text = f"{self.where}{on_way}: {self.message}"
        return Result(Outcome.CHANNEL_FAILED, (Text(text),), facts)
