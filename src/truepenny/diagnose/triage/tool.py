"""The `triage` tool: one call reads what is needed, and answers with typed findings."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC
from typing import Any

from truepenny.diagnose.cluster import Clusters, Unbound
from truepenny.diagnose.reader import Reader
from truepenny.tool.contract import ActionClass, CallContext, Plane, Tool
from truepenny.tool.result import Result

from .engine import MAX_READS, investigate
from .evidence import Evidence
from .observation import Status
from .outcome import outcome_of
from .query import listing
from .reads import Reads
from .subject import candidates_of, find_subject
from .sweep import Sweep

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
    A namespace or object that is not there is `target_failed` with reason `not_found`, never a
    clean bill of health.
    """

    async def run(arguments: Mapping[str, Any], context: CallContext) -> Result:
        cluster = clusters.get(arguments.get("cluster"))
        if isinstance(cluster, Unbound):
            return cluster.result()
        reads = Reads(Reader(cluster, context.redactor, context.clock), context)
        evidence = Evidence(context.clock.now().astimezone(UTC))
        namespace = arguments.get("namespace")
        sweep = Sweep(namespace)
        examination = await investigate(evidence, sweep.first(), reads.fetch, follow=sweep.follow)
        missing, subject = _namespace(evidence, namespace, examination.gaps), None
        asked = f"{arguments.get('object', '')} {arguments.get('question', '')}".strip()
        if asked and not missing:
            subject = find_subject(asked, list(candidates_of(evidence)))
            sweep.focus(subject.objects, () if subject.objects else subject.namespaces)
            left = max(MAX_READS - len(evidence.reads), 0)
            examination = await investigate(
                evidence,
                (),
                reads.fetch,
                subjects=subject.objects,
                listen=True,
                max_reads=left,
                follow=sweep.follow,
            )
            if subject.empty and arguments.get("object"):
                missing = f"{asked!r} names nothing that was read"
                if namespace is not None:
                    missing += await _elsewhere(asked, namespace, evidence, reads)
        wrong = subject.misplaced(whole=not examination.gaps) if subject else ""
        return outcome_of(
            examination, evidence, reads, cluster.source, subject, missing, notice=wrong
        )

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


async def _elsewhere(asked: str, namespace: str, evidence: Evidence, reads: Reads) -> str:
    """Look for what is not in its namespace in all others, by one more read of names."""
    query = listing("workloads", None, "where it is instead")
    answer = await reads.fetch(query, f"read_{len(evidence.reads) + 1}")
    others = Evidence(evidence.now)
    others.add(answer)
    found = find_subject(asked, list(candidates_of(others))).objects
    if found:
        return f" in namespace {namespace}; there is {', '.join(str(ref) for ref in found[:3])}"
    if answer.status not in (Status.OK, Status.NO_MATCH) or answer.absent or answer.unsure:
        return f" in namespace {namespace}; the others could not be read in full"
    return f" in namespace {namespace}, and no workload of that name is in another"


def _namespace(evidence: Evidence, namespace: str | None, gaps: dict[str, str]) -> str:
    """Return what to say of a namespace that is not there; kubectl lists nothing in it, and says
    so with success. Where nobody knows, that is a gap."""
    if namespace is None:
        return ""
    known = evidence.status("namespaces", "")
    names = sorted(item.ref.name for item in evidence.items("namespaces"))
    if namespace in names:
        return ""
    if known is Status.OK:
        return f"there is no namespace {namespace!r}; there are: {', '.join(names)}"
    if not any(evidence.items(kind, namespace) for kind in ("pods", "services", "events")):
        gaps[f"whether namespace {namespace} exists"] = "the namespaces could not be read"
    return ""
