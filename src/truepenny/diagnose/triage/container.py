"""A pod's containers with spec and status side by side, and when one counts as unhealthy now."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from .fields import Object, at, mapping, moment, number, objects, quantity, text

LOOPING_RESTARTS = 3
"""Fewer restarts are what a rolling start costs; a loop restarts more often than that."""
LOOPING_WITHIN = timedelta(minutes=15)
"""A container that stopped longer ago than this and runs now has come up again. The kubelet waits
at most 5 minutes between restarts, so one that loops stops at least every few minutes."""


@dataclass(frozen=True, slots=True)
class Container:
    """One container of one pod. `init` is true for init containers, sidecars included."""

    pod: Object
    spec: Object
    status: Object
    init: bool = False

    @property
    def name(self) -> str:
        """The container's name."""
        return text(self.spec, "name") or text(self.status, "name")

    @property
    def path(self) -> str:
        """The path of its status in the pod, for quoting."""
        group = "initContainerStatuses" if self.init else "containerStatuses"
        return f"status.{group}[{self.name}]"

    @property
    def image(self) -> str:
        """The image asked for."""
        return text(self.spec, "image")

    @property
    def waiting(self) -> str:
        """The reason it waits, or an empty string."""
        return text(self.status, "state", "waiting", "reason")

    @property
    def waiting_message(self) -> str:
        """What the kubelet says about the wait."""
        return text(self.status, "state", "waiting", "message")

    @property
    def restarts(self) -> int:
        """How often it was restarted."""
        return number(self.status, "restartCount")

    @property
    def ready(self) -> bool:
        """Whether it passes its readiness check."""
        return at(self.status, "ready") is True

    @property
    def termination(self) -> Object:
        """Its latest termination: the current state if it ended, else the last one."""
        return mapping(self.status, "state", "terminated") or mapping(
            self.status, "lastState", "terminated"
        )

    @property
    def termination_path(self) -> str:
        """Where `termination` was read."""
        current = mapping(self.status, "state", "terminated")
        return f"{self.path}.{'state' if current else 'lastState'}.terminated"

    @property
    def exit_code(self) -> int | None:
        """The exit code of its latest termination; None when it never ended."""
        code = at(self.termination, "exitCode")
        return code if isinstance(code, int) else None

    @property
    def memory_limit(self) -> str:
        """The memory limit as written, or an empty string."""
        return str(at(self.spec, "resources", "limits", "memory") or "")

    def crashing(self, now: datetime) -> bool:
        """Whether it stops again and again now; a restart that was got over is not."""
        if self.waiting == "CrashLoopBackOff":
            return True
        if mapping(self.status, "state", "terminated"):
            return self.exit_code != 0 and text(self.pod, "status", "phase") != "Succeeded"
        ended = moment(self.termination, "finishedAt")
        if ended is None or now - ended > LOOPING_WITHIN:
            return False
        return self.restarts >= LOOPING_RESTARTS or (self.restarts > 0 and not self.ready)

    def recovered(self, now: datetime) -> bool:
        """Whether it failed in the past, runs and is ready now."""
        return self.exit_code not in (None, 0) and self.ready and not self.crashing(now)


def containers(pod: Object) -> Iterator[Container]:
    """Yield the pod's init containers, then its containers."""
    for group, status_group, init in (
        ("initContainers", "initContainerStatuses", True),
        ("containers", "containerStatuses", False),
    ):
        by_name = {text(each, "name"): each for each in objects(pod, "status", status_group)}
        for spec in objects(pod, "spec", group):
            yield Container(pod, spec, by_name.get(text(spec, "name"), {}), init)


def running(pod: Object) -> bool:
    """Whether the pod should be doing something: not finished, not being deleted."""
    phase = text(pod, "status", "phase")
    return phase not in ("Succeeded", "Failed") and not text(pod, "metadata", "deletionTimestamp")


def is_ready(pod: Object) -> bool:
    """Whether the pod's Ready condition is True."""
    return any(
        each.get("type") == "Ready" and each.get("status") == "True"
        for each in objects(pod, "status", "conditions")
    )


def limit_of(workload: Object, container: str, resource: str) -> str:
    """Return a container's limit in a workload's pod template, as written."""
    for spec in objects(workload, "spec", "template", "spec", "containers"):
        if text(spec, "name") == container:
            return str(at(spec, "resources", "limits", resource) or "")
    return ""


def lower(first: str, second: str) -> bool:
    """Whether one quantity is provably lower than another."""
    left, right = quantity(first), quantity(second)
    return left is not None and right is not None and left < right
