"""The model itself: reads the history, decides, and streams either calls or an answer."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import anyio.lowlevel

from truepenny.diagnose.triage.query import Query
from truepenny.diagnose.triage.subject import KIND_WORDS, Subject, find_subject
from truepenny.model.event import (
    MessageEnd,
    ModelEvent,
    TextDelta,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
)
from truepenny.model.message import AssistantMessage, StopReason, Text, ToolCall
from truepenny.model.request import ModelRequest
from truepenny.system.clock import Clock, SystemClock

from . import answer
from .assumption import hypotheses
from .history import Answered, Conversation, read_history
from .intent import Intent, Question, understand
from .plan import Look, Plan, look_at, plan
from .playbook import vocabulary

NAME = "builtin/analyst"
MAX_CALLS = 60
"""Calls of one turn; the longest shipped playbook with logs needs about 25."""
MAX_CLUSTERS = 4
"""Clusters looked at for one question; with more of them it asks which one is meant."""
READ_BYTES = 1024 * 1024
"""What the kubectl tool allows at most: a list has to be whole to count."""
CHUNK_CHARS = 48
"""Streamed pieces: small enough to be read as they come."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What to say and, if anything, what to call."""

    text: str
    calls: tuple[tuple[str, Mapping[str, Any]], ...] = ()


class Analyst:
    """Implements `truepenny.model.request.Model` with rules; keeps no state between requests."""

    name = NAME

    def __init__(self, clock: Clock | None = None) -> None:
        self._clock = clock or SystemClock()

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Answer one request; never fails, and asks nothing of any network."""
        conversation = read_history(request.messages)
        offered = frozenset(tool.name for tool in request.tools)
        # Without a choice of tools, what was read so far has to be enough.
        reply = self.reply(conversation, offered, last=request.tool_choice == "none")
        for piece in _pieces(reply.text):
            await anyio.lowlevel.checkpoint()
            yield TextDelta(piece)
        calls = list(_calls(reply, conversation))
        for call in calls:
            yield ToolCallStart(call.id, call.name)
            yield ToolCallDelta(call.id, call.raw)
            yield ToolCallEnd(call)
        parts = (*((Text(reply.text),) if reply.text else ()), *calls)
        stop = StopReason.TOOL_USE if calls else StopReason.END_TURN
        yield MessageEnd(AssistantMessage(parts, stop, model=NAME))

    async def close(self) -> None:
        """Nothing is held open."""

    def reply(
        self, conversation: Conversation, offered: frozenset[str], *, last: bool = False
    ) -> Reply:
        """Decide what to say and call; with `last` only say. Pure but for the clock."""
        follows = bool(conversation.past)
        question = understand(conversation.question, follows=follows)
        if question.intent is Intent.INTRODUCE:
            return Reply(answer.short(f"{answer.INTRODUCTION} {answer.EXAMPLE}"))
        if question.intent is Intent.FOREIGN:
            return Reply(answer.short(f"{answer.FOREIGN} {answer.EXAMPLE}"))
        if question.intent is Intent.CHANGE:
            return Reply(answer.short(answer.CHANGE))
        if "kubectl" not in offered and not last:
            return Reply(
                answer.short(
                    "**I cannot look: the `kubectl` tool is not offered in this session,** so I "
                    "know nothing about the cluster."
                )
            )
        calls = conversation.calls
        # What was read for an earlier question may be old: it serves to explain that answer, never
        # to make a new one. Where the session was resumed it may be cut, and explains nothing.
        if question.intent in (Intent.STEPS, Intent.PROOF) and not _cut(conversation.past):
            calls = (*conversation.past, *calls)
        listed = next((call for call in reversed(calls) if call.tool == "cluster_list"), None)
        if listed is None and "cluster_list" in offered and not last:
            return Reply("First, which clusters there are.", (("cluster_list", {}),))
        clusters = _clusters(listed, question)
        if isinstance(clusters, str):
            return Reply(answer.short(clusters))
        if question.intent is Intent.LIST and not last:
            return _list(question, clusters, calls)
        earlier = tuple(conversation.earlier)
        plans = [
            _plan(look_at(name, _of(calls, name), self._clock.now()), question, earlier)
            for name in clusters
        ]
        if len(plans) > 1:
            plans = _relevant(plans)
        spent = len(conversation.calls)
        wanted = [(each, query) for each in plans for query in each.reads]
        if wanted and spent < MAX_CALLS and not last:
            return _read(wanted[: MAX_CALLS - spent])
        if "hypothesis" in offered and not last:
            asked = [call.arguments for call in conversation.calls if call.tool == "hypothesis"]
            if not asked and (found := tuple(hypotheses(plans, {call.id for call in calls}))):
                return Reply("What the rules found, as hypotheses.", found)
        return Reply(answer.write(plans, question, fresh=bool(conversation.calls)))


def _plan(look: Look, question: Question, earlier: Sequence[str]) -> Plan:
    subject: Subject | None = None
    for text in reversed(earlier):
        found = find_subject(text, look.candidates, vocabulary().ignored)
        if not found.empty:
            subject = found
            break
    return plan(look, question, subject)


def _relevant(plans: list[Plan]) -> list[Plan]:
    """Of several clusters keep those that have what is asked about, once all were surveyed."""
    if any(each.reads and each.playbook is None for each in plans):
        return [each for each in plans if each.reads and each.playbook is None]
    having = [each for each in plans if not each.absent and not each.unreachable]
    named = [each for each in having if not each.subject.empty]
    return named or having or plans


def _read(wanted: Sequence[tuple[Plan, Query]]) -> Reply:
    calls: list[tuple[str, Mapping[str, Any]]] = []
    for each, query in wanted:
        arguments: dict[str, Any] = {"args": list(query.argv)}
        if each.look.name:
            arguments["cluster"] = each.look.name
        if "get" in query.argv:
            arguments["max_bytes"] = READ_BYTES
        calls.append(("kubectl", arguments))
    return Reply(_narration(wanted), tuple(calls))


def _narration(wanted: Sequence[tuple[Plan, Query]]) -> str:
    """One short line on what comes next and why."""
    first = wanted[0][0]
    if first.playbook is None:
        return "Now what runs in the cluster."
    reasons = list(dict.fromkeys(q.why for _, q in wanted if q.why))
    if reasons:
        return f"Next: {'; '.join(reasons[:2])}."
    kinds = list(dict.fromkeys(q.argv[1].replace(",", ", ") for _, q in wanted if len(q.argv) > 1))
    if first.stage:
        return f"That does not settle it; next: {'; '.join(kinds)}."
    about = ", ".join(dict.fromkeys(ref.name for ref in first.subject.objects))
    about = about or ", ".join(first.subject.namespaces)
    what = f"{first.playbook.title}, for {about}" if about else first.playbook.title
    return f"I look at {what}."


def _clusters(listed: Answered | None, question: Question) -> list[str] | str:
    """Return the clusters to look at, or a sentence that ends the turn."""
    if listed is None:
        return [""]
    if listed.outcome == "no_match" or listed.reason == "no_cluster":
        hint = f" {listed.hint}" if listed.hint else ""
        return f"**No cluster is bound, so there is nothing to look at.** [{listed.id}]{hint}"
    known = _cluster_names(listed.body)
    if len(known) <= 1:
        return known or [""]
    named = [name for name in known if name.lower() in question.words]
    if named:
        return named
    if len(known) > MAX_CLUSTERS:
        return (
            f"**Which cluster do you mean?** {len(known)} are bound [{listed.id}]: "
            f"{', '.join(known)}. Name one in your question."
        )
    return known


def _cluster_names(body: str) -> list[str]:
    try:
        entries = json.loads(body)["clusters"]
        return [str(entry["name"]) for entry in entries]
    except (ValueError, KeyError, TypeError):
        return []


def _cut(calls: Sequence[Answered]) -> bool:
    """Whether a document among the answers is not whole: transcripts keep less than was read."""
    for call in calls:
        if call.outcome == "success" and "json" in call.argv:
            try:
                json.loads(call.body)
            except ValueError:
                return True
    return False


def _of(calls: Sequence[Answered], cluster: str) -> list[Answered]:
    return [call for call in calls if call.tool == "kubectl" and call.cluster in ("", cluster)]


def _list(question: Question, clusters: Sequence[str], calls: Sequence[Answered]) -> Reply:
    """Answer a question for a list with kubectl's own table."""
    kind = KIND_WORDS[question.kind.removesuffix("s")].lower()
    spaces = [name for name in question.names if re.fullmatch(r"[a-z0-9-]+", name)]
    clusterwide = kind in ("node", "namespace")
    where = [] if clusterwide else ["-n", spaces[0]] if spaces else ["-A"]
    argv = ("get", kind, *where)
    answered = {
        name: next((call for call in _of(calls, name) if call.argv == argv), None)
        for name in clusters
    }
    missing = [name for name, call in answered.items() if call is None]
    if missing:
        wanted = [
            ("kubectl", {"args": list(argv)} | ({"cluster": name} if name else {}))
            for name in missing
        ]
        return Reply("I list them.", tuple(wanted))
    parts: list[str] = []
    for name, call in answered.items():
        if call is None:
            continue
        title = f"Cluster {name}" if name else "The cluster"
        if call.outcome != "success":
            why = call.reason or call.outcome
            said = answer.code(call.body.strip()[:300])
            parts.append(f"**{title} gave no list ({why}).** [{call.id}] {said}")
            continue
        rows = [line for line in call.body.splitlines()[1:] if line.strip()]
        table = call.body.replace("```", "'''")
        space = f" in namespace {spaces[0]}" if spaces and not clusterwide else ""
        plural = "" if len(rows) == 1 else "s"
        parts.append(
            f"**{title} has {len(rows)} {kind}{plural}{space}.** [{call.id}]\n\n"
            f"```\n{table.rstrip()}\n```"
        )
    return Reply(answer.short("\n\n".join(parts)))


def _calls(reply: Reply, conversation: Conversation) -> Iterator[ToolCall]:
    number = conversation.count
    for name, arguments in reply.calls:
        number += 1
        while f"call_{number}" in conversation.ids:
            number += 1
        raw = json.dumps(arguments, ensure_ascii=False)
        yield ToolCall(f"call_{number}", name, arguments, raw)


def _pieces(text: str) -> Iterator[str]:
    """Cut text into pieces that end between words."""
    start = 0
    while start < len(text):
        end = min(start + CHUNK_CHARS, len(text))
        while end < len(text) and not text[end - 1].isspace():
            end += 1
        yield text[start:end]
        start = end
