"""From one execution of kubectl to one result: its meaning, its text, its facts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeVar, TypeVarTuple, Unpack

import anyio.to_thread

from truepenny.command.kubectl import KubectlCommand
from truepenny.execute.ending import ByteCounts, ExitFact, Outcome
from truepenny.execute.execution import Execution
from truepenny.execute.outcome import Classification, classify
from truepenny.model.message import Text
from truepenny.text.control import strip_control
from truepenny.text.redact import Redacted, Redactor
from truepenny.tool.result import NEVER_RAN, Completeness, Facts, Result

from .answer import MARKERS, NO_EVENTS, refusal_facts
from .cluster import Cluster
from .kubectl_program import REMEDY
from .reader_document import Document, Shown, clean_document, load_document, show
from .reader_note import completeness, found_nothing, hint, nothing_found, scope
from .reader_projection import Projection

Given = TypeVarTuple("Given")
Made = TypeVar("Made")

PLAIN_CHARS = 4096
"""What comes in the place of a document and is longer than a message is not shown."""

THREAD_BYTES = 128 * 1024
"""From here on parsing and redacting is worth a thread, or it holds up every other task."""


class Account:
    """Turns one execution into a result."""

    def __init__(
        self, cluster: Cluster, command: KubectlCommand, execution: Execution, redactor: Redactor
    ) -> None:
        self._cluster = cluster
        self._command = command
        self._execution = execution
        self._redactor = redactor
        self._meaning = classify(execution, MARKERS)
        self._exit = execution.exit
        self._detail: dict[str, Any] = {}
        if command.defaults:
            self._detail["defaults"] = list(command.defaults)
        self._read_can_i()
        if self._meaning.outcome is Outcome.SUCCESS and found_nothing(command, execution):
            self._meaning = Classification(Outcome.NO_MATCH, "nothing_found")

    def _read_can_i(self) -> None:
        """`auth can-i` says no with exit code 1, which is an answer and not a failure."""
        if self._command.verb != "auth can-i" or "--list" in self._command.arguments:
            return
        execution = self._execution
        word = execution.stdout.text.strip().partition(" ")[0]
        if execution.exit.observed == 0 and word in ("yes", ""):
            self._detail["allowed"] = True
        elif execution.exit.observed == 1 and (
            word == "no" or not (word or execution.stderr.text.strip())
        ):
            self._detail["allowed"] = False
            self._exit = ExitFact(observed=1, effective=0)
            self._meaning = Classification(Outcome.SUCCESS)

    @property
    def started(self) -> bool:
        """Whether kubectl ran at all."""
        return self._execution.failure is None

    def not_started(self) -> Result:
        """kubectl itself could not be run."""
        failure = self._execution.failure
        message = failure.message if failure is not None else ""
        facts = replace(self._facts({}, ByteCounts()), hint=REMEDY, completeness=NEVER_RAN)
        return Result(self._meaning.outcome, (Text(message),), facts)

    def plain(self) -> Result:
        """Any output but a document: captured, redacted and bounded while it ran."""
        out, err = self._execution.stdout, self._execution.stderr
        text = out.text
        if self._meaning.reason == "nothing_found":
            text = nothing_found(self._command, self._cluster)
        elif err.text.strip():
            text = _with_diagnostics(text, err.text)
        if out.bad_count:
            first = out.bad_bytes[0].offset
            text += (
                f"\n[{out.bad_count} bytes are not UTF-8, the first at {first}: shown as \\xNN]\n"
            )
            self._detail["bad_bytes"] = [
                {"offset": bad.offset, "hex": bad.data.hex()} for bad in out.bad_bytes
            ]
        if controls := out.controls + err.controls:
            text += f"\n[{controls} control characters were dropped or are shown as \\uXXXX]\n"
            self._detail["controls"] = controls
        facts = self._facts(_sum(out.redactions, err.redactions), _add(out.bytes, err.bytes))
        facts = replace(
            facts, completeness=completeness(self._command, self._execution, self._meaning)
        )
        return Result(self._meaning.outcome, (Text(text),), facts)

    def projected(self, projection: Projection) -> Result:
        """What a path led to in a document that streamed by."""
        shown = projection.finish()
        self._detail["json_path"] = projection.path
        out, raw_err = self._execution.stdout, self._execution.stderr
        err = self._redactor.text(strip_control(raw_err.text))
        text = shown.text
        if self._meaning.outcome.failed:
            whole = completeness(self._command, self._execution, self._meaning)
        elif projection.problem:
            self._meaning = Classification(Outcome.INVALID_ARGUMENTS, "json_path")
            text = f"json_path: {projection.problem}\n"
            whole = Completeness("partial", "the path led nowhere from here on")
        elif projection.unread:
            whole = Completeness("unknown", "no document came, so no path was taken through it")
        elif projection.lost:
            whole = Completeness("partial", projection.lost, "lines", shown.kept_lines)
        elif shown.cut:
            whole = Completeness(
                "partial",
                "larger than max_bytes",
                "lines",
                shown.kept_lines,
                shown.total_lines,
                "take less by json_path, narrow it with -n or -l, or raise max_bytes",
            )
        else:
            whole = Completeness(unit="lines", shown=shown.kept_lines, total=shown.total_lines)
            if not text and self._meaning.outcome is Outcome.SUCCESS:
                self._meaning = Classification(Outcome.NO_MATCH, "nothing_found")
                text = f"{projection.path} leads to nothing: the list is empty\n"
        if err.text.strip():
            text = _with_diagnostics(text, err.text)
        kept = min(shown.kept_bytes, out.bytes.observed)
        sizes = ByteCounts(out.bytes.observed, kept, out.bytes.observed - kept)
        facts = self._facts(_sum(projection.counts, err.counts), _add(sizes, raw_err.bytes))
        return Result(self._meaning.outcome, (Text(text),), replace(facts, completeness=whole))

    async def document(self, max_bytes: int, *, written: bool = True) -> tuple[Result, Any]:
        """A JSON document, or what came in its place; see `Reader.read` for `written`."""
        document = await self._document()
        out, raw_err = self._execution.stdout, self._execution.stderr
        err = self._redactor.text(strip_control(raw_err.text))
        failed = self._meaning.outcome.failed
        if document is None or (failed and document.items == 0):
            return self._no_document(max_bytes, err, hollow=document is not None), None
        if written or failed:
            shown = show(document, max_bytes, as_yaml=self._command.output == "yaml")
        else:
            shown = Shown("", True, document.items or 0)
        if document.controls:
            self._detail["controls"] = document.controls
        if document.items == 0:
            self._meaning = Classification(Outcome.NO_MATCH, "nothing_found")
        text = shown.text
        if failed:
            text = _with_diagnostics(text, err.text)
        elif err.text.strip():
            self._detail["diagnostics"] = err.text
        kept = out.bytes.observed if shown.whole else len(shown.text.encode())
        kept = min(kept, out.bytes.observed)
        sizes = ByteCounts(out.bytes.observed, kept, out.bytes.observed - kept)
        facts = replace(
            self._facts(_sum(document.redactions, err.counts), _add(sizes, raw_err.bytes)),
            completeness=_document_completeness(self._command, document, shown.items, shown.whole),
        )
        if failed:
            whole = Completeness("partial", "it failed after some output")
            facts = replace(facts, completeness=whole)
        value = None if failed else document.value
        return Result(self._meaning.outcome, (Text(text),), facts), value

    async def _document(self) -> Document | None:
        """Parse and redact what came whole. Its text is dropped as soon as it is parsed: of a
        large list neither text, value and redacted value nor two of the texts fit well at once."""
        out = self._execution.stdout
        if not out.text or out.cut or self._execution.cause is not None:
            return None
        large = len(out.text) >= THREAD_BYTES
        try:
            loaded = await _worked(large, load_document, out.text)
            out = replace(out, text="")
            self._execution = replace(self._execution, stdout=out)
            return await _worked(large, clean_document, loaded, self._redactor)
        except (ValueError, RecursionError):
            self._detail["document"] = "not_json"
            return None

    def _no_document(self, max_bytes: int, err: Redacted, *, hollow: bool) -> Result:
        """What cannot be redacted by structure is shown only while it is short and plain.

        A `hollow` document holds no object because none could be read: showing it would read as
        "there are none".
        """
        out, raw_err = self._execution.stdout, self._execution.stderr
        observed = out.bytes.observed
        withheld = (
            hollow
            or (observed and not out.text)
            or out.cut
            or self._execution.cause is not None
            or len(out.text) > min(max_bytes, PLAIN_CHARS)
            or out.text.lstrip().startswith(("{", "["))
        )
        if withheld:
            body, found = "", dict[str, int]()
            sizes = ByteCounts(observed, 0, observed)
            if observed and not hollow:
                body = f"{observed} bytes of an unfinished or unreadable document are not shown\n"
        else:
            redacted = self._redactor.text(strip_control(out.text))
            body, found, sizes = redacted.text, redacted.counts, out.bytes
        text = _with_diagnostics(body, err.text) if err.text.strip() else body
        if not text and self._meaning.reason == "nothing_found":
            text = nothing_found(self._command, self._cluster)
        facts = replace(
            self._facts(_sum(found, err.counts), _add(sizes, raw_err.bytes)),
            completeness=Completeness("unknown", "nothing was read")
            if hollow or (withheld and observed and not self._meaning.outcome.failed)
            else completeness(self._command, self._execution, self._meaning),
        )
        return Result(self._meaning.outcome, (Text(text),), facts)

    def _facts(self, redactions: Mapping[str, int], sizes: ByteCounts) -> Facts:
        execution, meaning = self._execution, self._meaning
        namespace = scope(self._command, self._cluster)
        source = self._cluster.source
        if namespace:
            source["namespace"] = namespace
        if execution.leftovers:
            self._detail["leftovers"] = execution.leftovers
        notes, refusal = refusal_facts(meaning.reason, meaning.leg)
        return Facts(
            duration=execution.duration,
            redactions=redactions,
            bytes=sizes,
            exit=None if execution.failure is not None else self._exit,
            cause=execution.cause,
            leg=meaning.leg,
            reason=meaning.reason,
            hint=hint(
                self._command,
                meaning,
                self._cluster,
                hidden_events=self._command.verb == "describe"
                and bool(NO_EVENTS.search(execution.stdout.text)),
            ),
            command=self._command.line,
            source=source,
            notes=notes,
            detail={**self._detail, **refusal},
        )


async def _worked(large: bool, make: Callable[[Unpack[Given]], Made], *given: *Given) -> Made:
    """Call it, in a thread where that is worth it."""
    return await anyio.to_thread.run_sync(make, *given) if large else make(*given)


def _document_completeness(
    command: KubectlCommand, document: Document, shown: int, whole: bool
) -> Completeness:
    unit = ",".join(command.resources) or "items"
    if document.items is None:
        if whole:
            return Completeness()
        return Completeness("partial", "larger than max_bytes", next="raise max_bytes")
    if whole:
        return Completeness(unit=unit, shown=shown, total=document.items)
    return Completeness(
        "partial",
        "larger than max_bytes",
        unit,
        shown,
        document.items,
        "narrow it with -n, -l or a name, or raise max_bytes",
    )


def _with_diagnostics(text: str, diagnostics: str) -> str:
    head = f"{text.rstrip()}\n" if text.strip() else ""
    return f"{head}STDERR:\n{diagnostics}"


def _sum(left: Mapping[str, int], right: Mapping[str, int]) -> dict[str, int]:
    return {rule: left.get(rule, 0) + right.get(rule, 0) for rule in {*left, *right}}


def _add(left: ByteCounts, right: ByteCounts) -> ByteCounts:
    return ByteCounts(
        left.observed + right.observed, left.kept + right.kept, left.discarded + right.discarded
    )
