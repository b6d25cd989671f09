"""The STATUS word of a pod, case by case."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from tests.demo.practice import make
from truepenny.demo.server.columns.pod import summary

NOW = datetime(2026, 1, 1, 1, tzinfo=UTC)
RUN: Any = {"running": {"startedAt": "2026-01-01T00:00:00Z"}}


def wait(reason: str) -> Any:
    return {"waiting": {"reason": reason}}


def end(code: int, reason: str = "", signal: int = 0) -> Any:
    return {"terminated": {"exitCode": code, "reason": reason, "signal": signal}}


def status(state: Any, *, ready: bool = False, restarts: int = 0, last: Any = None) -> Any:
    return {
        "name": "c",
        "state": state,
        "ready": ready,
        "restartCount": restarts,
        "lastState": last or {},
    }


def pod(*statuses: Any, init: Any = (), phase: str = "Running", **parts: Any) -> Any:
    initial = [{**entry, "name": f"i{at}"} for at, entry in enumerate(init)]
    return make(
        "Pod",
        "p",
        metadata=parts.pop("metadata", {}),
        spec={
            "containers": [{"name": "c"} for _ in statuses] or [{"name": "c"}],
            "initContainers": [
                {"name": entry["name"], "restartPolicy": parts.get("init_policy", "")}
                for entry in initial
            ],
        },
        status={
            "phase": phase,
            "containerStatuses": list(statuses),
            "initContainerStatuses": initial,
            **parts.pop("status", {}),
        },
    )


READY = {"conditions": [{"type": "Ready", "status": "True"}]}
GATED = {"conditions": [{"type": "PodScheduled", "reason": "SchedulingGated"}]}
DELETED = {"deletionTimestamp": "2026-01-01T00:59:00Z"}


@pytest.mark.parametrize(
    ("value", "ready", "word"),
    [
        (pod(status(RUN, ready=True)), "1/1", "Running"),
        (pod(phase="Pending"), "0/1", "Pending"),
        (pod(phase="Pending", status=GATED), "0/1", "SchedulingGated"),
        (pod(status(wait("CrashLoopBackOff"))), "0/1", "CrashLoopBackOff"),
        (pod(status(wait("ImagePullBackOff")), phase="Pending"), "0/1", "ImagePullBackOff"),
        (pod(status(end(137, "OOMKilled"))), "0/1", "OOMKilled"),
        (pod(status(end(1))), "0/1", "ExitCode:1"),
        (pod(status(end(0, signal=9))), "0/1", "Signal:9"),
        (pod(status(end(0, "Completed")), phase="Succeeded"), "0/1", "Completed"),
        (
            pod(status(RUN, ready=True), status(end(0, "Completed")), status=READY),
            "1/2",
            "Running",
        ),
        (pod(status(RUN, ready=True), status(end(0, "Completed"))), "1/2", "NotReady"),
        (pod(phase="Failed", status={"reason": "Evicted"}), "0/1", "Evicted"),
        (pod(status(RUN, ready=True), metadata=DELETED), "1/1", "Terminating"),
        (
            pod(status(RUN), metadata=DELETED, status={"reason": "NodeLost"}),
            "0/1",
            "Unknown",
        ),
        (
            pod(init=[status(end(0)), status(RUN)], phase="Pending"),
            "0/1",
            "Init:1/2",
        ),
        (
            pod(init=[status(wait("CrashLoopBackOff"))], phase="Pending"),
            "0/1",
            "Init:CrashLoopBackOff",
        ),
        (pod(init=[status(end(1, "Error"))], phase="Pending"), "0/1", "Init:Error"),
        (pod(init=[status(end(3))], phase="Pending"), "0/1", "Init:ExitCode:3"),
        (pod(init=[status(wait("PodInitializing"))], phase="Pending"), "0/1", "Init:0/1"),
        (
            pod(
                status(RUN, ready=True),
                init=[{**status(RUN, ready=True), "started": True}],
                init_policy="Always",
            ),
            "2/2",
            "Running",
        ),
    ],
)
def test_status_words(value: Any, ready: str, word: str) -> None:
    assert summary(value, NOW)[:2] == (ready, word)


def test_restarts_name_the_latest_one() -> None:
    ended = {"terminated": {"exitCode": 1, "finishedAt": "2026-01-01T00:59:00Z"}}
    earlier = {"terminated": {"exitCode": 1, "finishedAt": "2026-01-01T00:10:00Z"}}
    value = pod(status(RUN, restarts=2, last=earlier), status(RUN, restarts=3, last=ended))
    assert summary(value, NOW)[2] == "5 (60s ago)"
    assert summary(pod(status(RUN)), NOW)[2] == "0"
