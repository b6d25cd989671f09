"""The rules, one file per domain, and the one list of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from truepenny.diagnose.triage.case import Case
from truepenny.diagnose.triage.finding import Finding

from .autoscale import hpa_at_limit, hpa_metrics
from .certificate import certificate
from .configuration import container_config, container_start, sandbox, volume_mount
from .crash import crash_loop, out_of_memory, probe_kill
from .creation import creation_refused
from .deletion import terminating
from .dns import dns_down
from .history import past_restarts
from .image import image_pull
from .job import cron_missed, cron_suspended, job_failed
from .network import ingress_backend, service_port, service_selector, service_unready
from .node import cordoned, evicted, not_ready, pressure, recovered
from .probe import readiness
from .rollout import budget_blocks, paused, rollout_stuck, unavailable, update_waits
from .schedule import claim_pending, pending
from .speech import subject_log

Rule = Callable[[Case], Iterable[Finding]]
"""Looks at a case; yields findings, and asks the case for reads that it misses."""

RULES: tuple[Rule, ...] = (
    # Causes first, symptoms after them: where two conclude the same of an object, the first stands.
    out_of_memory,
    probe_kill,
    container_start,
    container_config,
    image_pull,
    crash_loop,
    volume_mount,
    sandbox,
    readiness,
    pending,
    claim_pending,
    creation_refused,
    job_failed,
    cron_missed,
    not_ready,
    pressure,
    evicted,
    dns_down,
    certificate,
    terminating,
    service_selector,
    service_port,
    ingress_backend,
    hpa_metrics,
    budget_blocks,
    update_waits,
    subject_log,
    service_unready,
    rollout_stuck,
    unavailable,
    hpa_at_limit,
    paused,
    cron_suspended,
    cordoned,
    recovered,
    past_restarts,
)
