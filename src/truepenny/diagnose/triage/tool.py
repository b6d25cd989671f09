"""The `triage` tool: one call reads what is needed, and answers with typed findings."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC
from typing import Any

from truepenny.diagnose.cluster import Clusters, Unbound
from truepenny.diagnose.reader import Reader
from truepenny.model.message import Text
from truepenny.tool.contract import ActionClass, CallContext, Plane, Tool
from truepenny.tool.outcome import Outcome
from truepenny.tool.result import Completeness, Facts, Result

from .coverage import coverage
from .engine import MAX_READS, Examination, Fetch, investigate
from .evidence import Evidence
from .observation import Observation, observe, status_of
from .query import CLUSTER_WIDE, NAMESPACED, Query, listing
from .report import report
from .subject import Subject, candidates_of, find_subject

READ_BYTES = 8 * 1024 * 1024
"""Kept of one list: about 1500 pods. What is beyond it is stated as cut."""
READ_SECONDS = 45.0
TIMEOUT = 180.0
"""Seconds for all reads together; each list of a large cluster takes a few."""

PARAMETERS: Mapping[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "cluster": {
            "type": "string",
            "description": "Name of a bound cluster; may be left out when exactly one is bound.",
        },
        "namespace": {
            "type": "string",
            "description": "Look at this namespace and the nodes only. Default: all namespaces.",
        },
        "object": {
            "type": "string",
            "description": "`kind/name` that matters most, for example `deployment/checkout`. "
            "Its problems come first, and the logs of its healthy pods are read too.",
        },
        "question": {
            "type": "string",
            "description": "The question in words; objects that it names come first.",
        },
    },
}

DESCRIPTION = (
    "Check a Kubernetes cluster for known faults with built-in rules (crash loops, memory kills, "
    "image pulls, missing configuration, probes, scheduling, quotas, services, ingresses, jobs, "
    "autoscalers, rollouts, nodes, DNS, storage, certificates, admission). Reads only. Each "
    "finding has the object, the cause, quoted evidence with its command, a confidence, what was "
    "not checked and a next step; symptoms are folded under their cause. Start here, then verify "
    "the evidence that matters with kubectl. What a failed read hides is listed as not checked."
)


def triage_tool(clusters: Clusters) -> Tool:
    """Return the tool over the bound clusters.

    `facts.detail`: `findings` (typed, see `Finding.to_json`), `incidents` (root and symptom
    objects), `notes`, `coverage` (counts, gaps), `reads` (each command and how it ended).
    """

    async def run(arguments: Mapping[str, Any], context: CallContext) -> Result:
        cluster = clusters.get(arguments.get("cluster"))
        if isinstance(cluster, Unbound):
            return cluster.result()
        reader = Reader(cluster, context.redactor, context.clock)
        evidence = Evidence(context.clock.now().astimezone(UTC))
        namespace = arguments.get("namespace")
        first = [listing(group, namespace) for group in NAMESPACED]
        first += [listing(group, None) for group in CLUSTER_WIDE]
        fetch = fetching(reader, context)
        examination = await investigate(evidence, first, fetch)
        asked = f"{arguments.get('object', '')} {arguments.get('question', '')}".strip()
        if asked:
            subject = find_subject(asked, list(candidates_of(evidence)))
            left = max(MAX_READS - len(evidence.reads), 0)
            examination = await investigate(
                evidence, (), fetch, subjects=subject.objects, listen=True, max_reads=left
            )
            if subject.empty and arguments.get("object"):
                return _result(examination, evidence, cluster.source, missing=asked)
            return _result(examination, evidence, cluster.source, subject=subject)
        return _result(examination, evidence, cluster.source)

    return Tool(
        name="triage",
        description=DESCRIPTION,
        parameters=PARAMETERS,
        run=run,
        action_class=ActionClass.READ,
        plane=Plane.OBSERVE,
        timeout=TIMEOUT,
        example={"namespace": "shop", "object": "deployment/checkout"},
    )


def fetching(reader: Reader, context: CallContext) -> Fetch:
    """Return a fetch that reads a cluster and reports each command as progress."""

    async def fetch(query: Query, id: str) -> Observation:
        context.progress(query.command)
        reading = await reader.read(query.argv, timeout=READ_SECONDS, max_bytes=READ_BYTES)
        result = reading.result
        status = status_of(str(result.outcome), result.facts.reason)
        return observe(id, query.argv, status, result.text, result.facts.reason, reading.value)

    return fetch


def _result(
    examination: Examination,
    evidence: Evidence,
    source: Mapping[str, str],
    *,
    subject: Subject | None = None,
    missing: str = "",
) -> Result:
    reach = coverage(evidence, examination.gaps)
    text = report(examination, reach)
    if missing:
        text = f"{missing!r} names nothing that was read.\n{text}"
    reads = evidence.reads
    answered = [read for read in reads if read.status.readable]
    state = "complete"
    reason = ""
    if reach.gaps or examination.needs:
        state = "partial"
        reason = "; ".join(reach.missing()) or "the budget of reads was spent"
    if not answered:
        state, reason = "unknown", "no read was answered"
    facts = Facts(
        completeness=Completeness(
            state=state,
            reason=reason[:500],
            unit="reads" if state != "complete" else "",
            shown=len(answered) if state != "complete" else None,
            total=len(reads) + len(examination.needs) if state != "complete" else None,
        ),
        reason="" if answered else "nothing_readable",
        source=dict(source),
        detail={
            "findings": [each.to_json() for each in examination.findings],
            "incidents": [
                {
                    "root": each.root.object._asdict(),
                    "cause": each.root.cause,
                    "symptoms": [s.object._asdict() | {"cause": s.cause} for s in each.symptoms],
                }
                for each in examination.incidents
            ],
            "notes": [each.to_json() for each in examination.notes],
            "subject": [ref._asdict() for ref in subject.objects] if subject else [],
            "coverage": reach.to_json(),
            "reads": [
                {"id": read.id, "command": Query(read.argv).command, "status": str(read.status)}
                for read in reads
            ],
        },
    )
    outcome = Outcome.SUCCESS if answered else Outcome.CHANNEL_FAILED
    return Result(outcome, (Text(text),), facts)
