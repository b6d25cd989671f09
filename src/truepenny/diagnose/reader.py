"""Reading one cluster with kubectl: one read, one account, nothing shown before it is redacted."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from truepenny.command.kubectl import KubectlCommand, Refusal
from truepenny.command.kubectl import read as read_command
from truepenny.execute.command import STOP_AFTER_BYTES, CaptureLimits, Command
from truepenny.execute.execution import Execution
from truepenny.execute.process import run
from truepenny.system.clock import Clock
from truepenny.text.bound import Limits
from truepenny.text.redact import Redactor
from truepenny.tool.result import Result, invalid, refused

from .cluster import Cluster
from .reader_account import Account
from .sanitize.describe import DescribeStream

MAX_DOCUMENT_BYTES = 16 * 1024 * 1024
"""A document must be whole to be redacted by structure; a larger one is not shown at all."""

DEFAULT_BYTES = 32 * 1024
"""What a read shows unless more is asked for."""

DIAGNOSTIC_BYTES = 4 * 1024
"""Kept of what kubectl says beside its answer, in addition to `max_bytes`."""

DEFAULT_SECONDS = 30.0

ATTEMPTS = 3
"""kubectl asks again when a server does not answer; each request gets this part of the time."""


MARGIN_SECONDS = 5
"""How far kubectl's limit lies behind ours where one request may take all the time: were they the
same, chance would decide whether our stop or kubectl's complaint is told."""


@dataclass(frozen=True, slots=True)
class Reading:
    """One read. `result` is what a tool returns: redacted, its content bounded.

    `command` is None when the arguments were refused. `value` is the whole redacted document of a
    `-o json` or `-o yaml` read that gave one, else None.
    """

    result: Result
    command: KubectlCommand | None = None
    value: Any = None


class Reader:
    """Reads one cluster. Any number of reads may run at once."""

    def __init__(
        self, cluster: Cluster, redactor: Redactor | None = None, clock: Clock | None = None
    ) -> None:
        self.cluster = cluster
        self._redactor = redactor or Redactor()
        self._clock = clock

    async def read(
        self,
        argv: Sequence[str],
        *,
        timeout: float = DEFAULT_SECONDS,
        max_bytes: int = DEFAULT_BYTES,
        written: bool = True,
    ) -> Reading:
        """Run the arguments that follow the word kubectl; never raises for what they come to.

        `timeout` in seconds covers everything; `max_bytes` bounds the answer in the result, its
        diagnostics come on top. Not `written`, a document that was read whole is only in `value`,
        and the result has no text of it: half the memory for whoever does not show it.
        """
        command = read_command(argv)
        if isinstance(command, Refusal):
            return Reading(refusal_result(command))
        # The account alone holds what was read, so that it can let go of it once it is parsed.
        account = Account(
            self.cluster, command, await self._run(command, timeout, max_bytes), self._redactor
        )
        if not account.started:
            return Reading(account.not_started(), command)
        if not _is_document(command):
            return Reading(account.plain(), command)
        result, value = await account.document(max_bytes, written=written)
        return Reading(result, command, value)

    async def _run(self, command: KubectlCommand, timeout: float, max_bytes: int) -> Execution:
        cluster, document = self.cluster, _is_document(command)
        described = command.verb == "describe"
        redactor = self._redactor.reading(DescribeStream) if described else self._redactor
        asked = any(argument.startswith("--request-timeout") for argument in command.arguments)
        patience = () if asked else (f"--request-timeout={_patience(command, timeout)}s",)
        return await run(
            Command(
                argv=(
                    cluster.kubectl.find(),
                    *cluster.kubectl.arguments(cluster.context.name),
                    *patience,
                    *_as_json(command),
                ),
                env=cluster.kubectl.environment(
                    cluster.kubeconfig, plugin=bool(cluster.context.plugin)
                ),
                timeout=timeout,
                limits=CaptureLimits(
                    stdout=Limits(bytes=MAX_DOCUMENT_BYTES if document else max_bytes),
                    stderr=Limits(bytes=DIAGNOSTIC_BYTES),
                    stop_after=MAX_DOCUMENT_BYTES if document else STOP_AFTER_BYTES,
                ),
                # A document is redacted by its structure, once it is there.
                redactor=None if document else redactor,
            ),
            clock=self._clock,
        )


def _is_document(command: KubectlCommand) -> bool:
    return command.output in ("json", "yaml")


def _as_json(command: KubectlCommand) -> tuple[str, ...]:
    """Return the arguments with JSON in the place of YAML, which `Account` writes from it."""
    if command.output != "yaml":
        return command.arguments
    at = command.arguments.index("-o")
    return (*command.arguments[:at], "-o", "json", *command.arguments[at + 2 :])


def refusal_result(refusal: Refusal) -> Result:
    """Return a refusal of the grammar as a result; the model can run the hint as it stands."""
    make = invalid if refusal.unusable else refused
    detail = {
        "rejected_by": refusal.rejected_by,
        "matched": refusal.matched,
        "alternative": list(refusal.alternative),
    }
    return make(refusal.rejected_by, refusal.message, refusal.hint, **detail)


def _patience(command: KubectlCommand, timeout: float) -> int:
    """Return kubectl's limit of one request, in whole seconds, which is all it is given.

    A log is one long request, and a time too short to be shared is left to one; anything else is
    several short ones.
    """
    if command.verb == "logs" or timeout < ATTEMPTS:
        return math.ceil(timeout) + MARGIN_SECONDS
    return round(timeout / ATTEMPTS)
