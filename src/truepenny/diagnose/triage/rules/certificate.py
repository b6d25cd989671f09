"""Certificates of cert-manager that expired, or that are not issued."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from truepenny.diagnose.triage.case import Case, quote, quote_event
from truepenny.diagnose.triage.fields import condition, moment, text
from truepenny.diagnose.triage.finding import Confidence, Finding, ObjectRef

EXPIRES_SOON = timedelta(days=7)
"""cert-manager renews at a third of the lifetime left, 30 days for the usual 90; a week is late."""


def certificate(case: Case) -> Iterator[Finding]:
    """A Certificate that expired, expires within a week, or is not ready."""
    for item in case.all("certificates.cert-manager.io"):
        ends = moment(item.obj, "status", "notAfter")
        ready = condition(item.obj, "Ready")
        written = text(item.obj, "status", "notAfter")
        said = f"{text(ready, 'reason')}: {text(ready, 'message')}"
        state = f"Ready={ready.get('status', 'unknown')}: {said}"
        shown = f"Certificate {item.ref.name}: notAfter={written or 'none'}; {state}"
        evidence = [quote(item.source, shown)]
        evidence += [
            quote_event(event)
            for event in case.events(item.ref)[:1]
            if text(event.obj, "type") == "Warning"
        ]
        secret = text(item.obj, "spec", "secretName")
        if ends and ends <= case.now:
            cause = "certificate_expired"
        elif ready.get("status") == "False":
            cause = "certificate_not_issued"
        elif ends and ends - case.now < EXPIRES_SOON:
            cause = "certificate_expires_soon"
        else:
            continue
        yield case.finding(
            cause,
            item.ref,
            evidence,
            confidence=Confidence.HIGH,
            because="the Certificate's status states it",
            about=[ObjectRef("Secret", item.ref.namespace, secret)] if secret else [],
            ends=written or "unknown",
            secret=secret,
        )
