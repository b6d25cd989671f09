"""Programs that run and say in their log what is wrong: asked only of what a person asked about."""

from __future__ import annotations

from collections.abc import Iterator

from truepenny.diagnose.triage.case import Case, quote
from truepenny.diagnose.triage.container import containers, is_ready, running
from truepenny.diagnose.triage.fields import name, namespace
from truepenny.diagnose.triage.finding import Confidence, Finding, Severity
from truepenny.diagnose.triage.query import logs
from truepenny.diagnose.triage.table import last_match

from . import dependency
from .crash import between_them, captured


def subject_log(case: Case) -> Iterator[Finding]:
    """An error in the log of a ready pod that was asked about; it may have passed: a low claim."""
    for ref in case.subjects:
        pods = [p for p in case.pods_of(ref) if running(p.obj) and is_ready(p.obj)]
        for item in pods[:1]:
            container = next((c for c in containers(item.obj) if not c.init), None)
            if container is None:
                continue
            answer = case.read(
                logs(
                    namespace(item.obj), name(item.obj), container.name,
                    why=f"whether {container.name} reports errors",
                )
            )  # fmt: skip
            lines = answer.text.splitlines() if answer and answer.status.readable else []
            told = last_match("log", [line for line in lines if line.strip()])
            if answer is None or told is None or told[0].generic:
                continue
            pattern, found, line = told
            words = captured(found.groupdict())
            evidence = [quote(answer, line.strip())]
            policies = between_them(case, item, pattern.cause, words, evidence)
            yield case.finding(
                pattern.cause,
                ref,
                evidence,
                about=policies,
                confidence=Confidence.LOW,
                because="the pod is ready; its log shows the error, which may have passed",
                explained_by=dependency.explanations(case, pattern.cause, ref.namespace, words),
                severity=Severity.WARNING,
                part=f"container {container.name}",
                note=dependency.missing_service(case, ref.namespace, words),
                container=container.name,
                pod=name(item.obj),
                flag="",
                restarts=container.restarts,
                code="none",
                **words,
            )
