"""The pod row: STATUS, READY and RESTARTS are computed as the API server computes them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from truepenny.demo.server.age import span
from truepenny.demo.server.columns.common import NONE, age
from truepenny.demo.server.table import Printer, columns
from truepenny.demo.server.value import Object, condition, dig, listing, moment, number, text


class _Tally:
    """Restarts and the moment of the latest one."""

    def __init__(self) -> None:
        self.restarts = 0
        self.latest: datetime | None = None

    def add(self, status: Object) -> None:
        self.restarts += number(status, "restartCount")
        finished = moment(dig(status, "lastState", "terminated", "finishedAt"))
        if finished and (self.latest is None or finished > self.latest):
            self.latest = finished

    def cell(self, now: datetime) -> str:
        if not self.restarts or self.latest is None:
            return str(self.restarts)
        return f"{self.restarts} ({span((now - self.latest).total_seconds())} ago)"


def _ended(terminated: Object) -> str:
    if reason := text(terminated, "reason"):
        return reason
    if signal := number(terminated, "signal"):
        return f"Signal:{signal}"
    return f"ExitCode:{number(terminated, 'exitCode')}"


def _is_sidecar(pod: Object, name: str) -> bool:
    for container in listing(pod, "spec", "initContainers"):
        if dig(container, "name") == name:
            return dig(container, "restartPolicy") == "Always"
    return False


def _initializing(pod: Object, tally: _Tally, sidecars: _Tally) -> tuple[str, int]:
    """Return the `Init:…` word (empty when initialization is over) and the ready sidecars."""
    total = len(listing(pod, "spec", "initContainers"))
    ready = 0
    for position, status in enumerate(listing(pod, "status", "initContainerStatuses")):
        tally.add(status)
        sidecar = _is_sidecar(pod, text(status, "name"))
        if sidecar:
            sidecars.add(status)
        terminated = dig(status, "state", "terminated")
        if terminated is not None and number(terminated, "exitCode") == 0:
            continue
        if sidecar and dig(status, "started"):
            ready += bool(dig(status, "ready"))
            continue
        if terminated is not None:
            return f"Init:{_ended(terminated)}", ready
        waiting = text(status, "state", "waiting", "reason")
        if waiting and waiting != "PodInitializing":
            return f"Init:{waiting}", ready
        return f"Init:{position}/{total}", ready
    return "", ready


def summary(pod: Object, now: datetime) -> tuple[str, str, str]:
    """Return the READY, STATUS and RESTARTS cells of a pod."""
    status = text(pod, "status", "reason") or text(pod, "status", "phase")
    if dig(condition(pod, "PodScheduled"), "reason") == "SchedulingGated":
        status = "SchedulingGated"
    total = len(listing(pod, "spec", "containers")) + sum(
        dig(container, "restartPolicy") == "Always"
        for container in listing(pod, "spec", "initContainers")
    )
    tally, sidecars = _Tally(), _Tally()
    init, ready = _initializing(pod, tally, sidecars)
    status = init or status
    if not init or dig(condition(pod, "Initialized"), "status") == "True":
        tally, running = sidecars, False
        # The first container's word wins, so they are read from the last to the first.
        for container in reversed(listing(pod, "status", "containerStatuses")):
            tally.add(container)
            waiting = text(container, "state", "waiting", "reason")
            terminated = dig(container, "state", "terminated")
            if waiting:
                status = waiting
            elif terminated is not None:
                status = _ended(terminated)
            elif dig(container, "ready") and dig(container, "state", "running") is not None:
                running = True
                ready += 1
        if status == "Completed" and running:
            is_ready = dig(condition(pod, "Ready"), "status") == "True"
            status = "Running" if is_ready else "NotReady"
    if dig(pod, "metadata", "deletionTimestamp"):
        if text(pod, "status", "reason") == "NodeLost":
            status = "Unknown"
        elif text(pod, "status", "phase") not in ("Succeeded", "Failed"):
            status = "Terminating"
    return f"{ready}/{total}", status, tally.cell(now)


def _row(pod: Object, now: datetime) -> Sequence[Any]:
    ready, status, restarts = summary(pod, now)
    gates = listing(pod, "spec", "readinessGates")
    passed = sum(
        dig(condition(pod, text(gate, "conditionType")), "status") == "True" for gate in gates
    )
    return (
        text(pod, "metadata", "name"),
        ready,
        status,
        restarts,
        age(pod, now),
        text(pod, "status", "podIP") or NONE,
        text(pod, "spec", "nodeName") or NONE,
        text(pod, "status", "nominatedNodeName") or NONE,
        f"{passed}/{len(gates)}" if gates else NONE,
    )


PRINTERS = {
    ("", "Pod"): Printer(
        columns("Name,Ready,Status,Restarts,Age", "IP,Node,Nominated Node,Readiness Gates"),
        _row,
    )
}
