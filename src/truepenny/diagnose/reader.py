"""Reading one cluster with kubectl: one read, one account, nothing shown before it is redacted."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import anyio

from truepenny.command.kubectl import KubectlCommand, Refusal
from truepenny.command.kubectl import read as read_command
from truepenny.execute.command import STOP_AFTER_BYTES, CaptureLimits, Command
from truepenny.execute.ending import Outcome
from truepenny.execute.execution import Execution
from truepenny.execute.process import run
from truepenny.system.clock import Clock
from truepenny.text.bound import Limits
from truepenny.text.redact import Redactor
from truepenny.tool.result import Result, invalid, refused

from .cluster import Cluster
from .cluster_write import QUESTION, QUESTION_BYTES, CanWrite, read_rules
from .reader_account import Account
from .reader_projection import Projection
from .sanitize.describe import DescribeStream
from .sanitize.json_path import BadPath

MAX_DOCUMENT_BYTES = 16 * 1024 * 1024
"""A document must be whole to be redacted by structure; a larger one is not shown at all."""

RAW_BYTES = 1024
"""Held of a document that a path is taken through: nobody reads it, only whether something came."""

DEFAULT_BYTES = 32 * 1024
"""What a read shows unless more is asked for."""

DIAGNOSTIC_BYTES = 4 * 1024
"""Kept of what kubectl says beside its answer, in addition to `max_bytes`."""

DEFAULT_SECONDS = 30.0

WRITE_SECONDS = 7.0
"""The question what a credential can write, from start to end (spec/diagnostics.md 2)."""

UNGUARDED = ("auth can-i", "auth whoami", "version")
"""What is answered also where a cluster must be read-only: without it nobody could see why."""

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
        self._asking = anyio.Lock()
        self._can_write: CanWrite | None = None

    async def can_write(self, timeout: float = WRITE_SECONDS) -> CanWrite:
        """Ask the server once whether this credential can write; `timeout` in seconds."""
        async with self._asking:
            if self._can_write is None:
                self._can_write = await self._ask(timeout)
            return self._can_write

    async def _ask(self, timeout: float) -> CanWrite:
        reading = await self.read(QUESTION, timeout=timeout, max_bytes=QUESTION_BYTES)
        result, namespace = reading.result, self.cluster.context.namespace
        if result.outcome is not Outcome.SUCCESS:
            reason = result.facts.reason or str(result.facts.cause or result.outcome)
            return CanWrite("unknown", namespace, why=reason)
        found = read_rules(result.text, namespace)
        if found.answer == "no" and result.facts.completeness.state != "complete":
            return CanWrite("unknown", namespace, why="the list of rules was cut")
        return found

    async def unguarded(self, verb: str) -> Result | None:
        """Return the refusal of a cluster that must be read-only and is not known to be."""
        if not self.cluster.require_read_only or verb in UNGUARDED:
            return None
        found = await self.can_write()
        if found.answer == "no":
            return None
        name, place = self.cluster.name, f" -n {found.namespace}"
        if found.answer == "yes":
            reason, why = "credential_can_write", f"can write: {'; '.join(found.rules[:3])}"
        else:
            reason, why = "credential_unknown", f"may be able to write: {found.why}"
        message = f"clusters.{name}.require_read_only is set, and its credential {why}"
        return refused(
            reason,
            message,
            f"kubectl {' '.join(QUESTION[:3])}{place}",
            rejected_by=reason,
            matched=f"clusters.{name}.require_read_only",
            can_write=found.detail,
        )

    async def read(
        self,
        argv: Sequence[str],
        *,
        timeout: float = DEFAULT_SECONDS,
        max_bytes: int = DEFAULT_BYTES,
        written: bool = True,
        json_path: str = "",
    ) -> Reading:
        """Run the arguments that follow the word kubectl; never raises for what they come to.

        `timeout` in seconds covers everything; `max_bytes` bounds the answer in the result, its
        diagnostics come on top. Not `written`, a document that was read whole is only in `value`,
        and the result has no text of it: half the memory for whoever does not show it. With
        `json_path` the result holds what it leads to in a document of any size, and `value` is
        None.
        """
        command = read_command(argv)
        if isinstance(command, Refusal):
            return Reading(refusal_result(command))
        projection: Projection | None = None
        if json_path:
            made = _projection(command, json_path, self._redactor, max_bytes)
            if isinstance(made, Result):
                return Reading(made, command)
            projection = made
        if (stopped := await self.unguarded(command.verb)) is not None:
            return Reading(stopped, command)
        # The account alone holds what was read, so that it can let go of it once it is parsed.
        execution = await self._run(command, timeout, max_bytes, projection)
        account = Account(self.cluster, command, execution, self._redactor)
        del execution
        if not account.started:
            return Reading(account.not_started(), command)
        if projection is not None:
            return Reading(account.projected(projection), command)
        if not _is_document(command):
            return Reading(account.plain(), command)
        result, value = await account.document(max_bytes, written=written)
        return Reading(result, command, value)

    async def _run(
        self,
        command: KubectlCommand,
        timeout: float,
        max_bytes: int,
        projection: Projection | None,
    ) -> Execution:
        cluster, document = self.cluster, _is_document(command)
        kept, stop = MAX_DOCUMENT_BYTES if document else max_bytes, STOP_AFTER_BYTES
        if projection is not None:
            kept = RAW_BYTES
        elif document:
            stop = MAX_DOCUMENT_BYTES
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
                    stdout=Limits(bytes=kept),
                    stderr=Limits(bytes=DIAGNOSTIC_BYTES),
                    stop_after=stop,
                ),
                # A document is redacted by its structure, once it is there.
                redactor=None if document else redactor,
            ),
            on_output=None if projection is None else projection.feed,
            clock=self._clock,
        )


def _projection(
    command: KubectlCommand, path: str, redactor: Redactor, max_bytes: int
) -> Projection | Result:
    if not _is_document(command):
        return invalid("json_path", "json_path takes parts out of -o json", _with_json(command))
    try:
        return Projection(path, redactor, max_bytes)
    except BadPath as error:
        return invalid("json_path", f"json_path: {error.message}", error.remedy)


def _with_json(command: KubectlCommand) -> str:
    asked = read_command((*command.arguments, "-o", "json"))
    return "" if isinstance(asked, Refusal) else asked.line


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
