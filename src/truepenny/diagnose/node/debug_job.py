"""The debug Job as data: what is created, and how its pod's beginnings are read (diagnostics 6)."""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from truepenny.diagnose.cluster import Cluster
from truepenny.system.lock_record import LockRecord, decode_record

DEADLINE_SECONDS = 600
"""The Job ends itself after this, whatever becomes of us; no call may need longer."""

KEPT_SECONDS = 60
"""The cluster removes a Job that ended this long ago."""

LABEL = "app.kubernetes.io/component"
MANAGED_BY = "app.kubernetes.io/managed-by"
LABELS = {LABEL: "debug-pod", MANAGED_BY: "truepenny"}
"""By these the Jobs of all our processes are found."""

SELECTOR = ",".join(f"{key}={value}" for key, value in LABELS.items())

NODE_LABEL, USER_LABEL = "truepenny.dev/target-node", "truepenny.dev/user"

OWNER = "truepenny.dev/owner"
"""Annotation: the record of the process that made it (`truepenny.system.lock_record`)."""

CONTAINER = "debug"

JOB_NAME = re.compile(r"node-debug-[0-9a-f]{8}")

_LABEL_VALUE = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?")

FATAL = {
    "ImagePullBackOff": "image_pull_failed",
    "ErrImagePull": "image_pull_failed",
    "ErrImageNeverPull": "image_pull_failed",
    "InvalidImageName": "image_pull_failed",
    "CreateContainerConfigError": "container_config_error",
    "CreateContainerError": "container_config_error",
    "RunContainerError": "container_config_error",
    "CrashLoopBackOff": "container_config_error",
}
"""Reasons to wait that do not pass within a startup, and what they are called here."""


def new_name() -> str:
    """Return a fresh name of a Job."""
    return f"node-debug-{secrets.token_hex(4)}"


def manifest(name: str, cluster: Cluster, node: str, user: str) -> dict[str, Any]:
    """Return the Job. It is bound to the node past the scheduler and tolerates every taint: also a
    node that evicts others can be looked at."""
    labels = dict(LABELS)
    for key, value in ((NODE_LABEL, node), (USER_LABEL, user)):
        if _LABEL_VALUE.fullmatch(value):
            labels[key] = value
    owner = LockRecord.mine("debug-job").encode().decode().strip()
    container = {
        "name": CONTAINER,
        "image": cluster.debug_image,
        "command": ["sleep", str(DEADLINE_SECONDS)],
        "securityContext": {"privileged": True},
        "resources": {"limits": {"cpu": "2", "memory": "4Gi"}},
    }
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": name,
            "namespace": cluster.debug_namespace,
            "labels": labels,
            "annotations": {OWNER: owner},
        },
        "spec": {
            "backoffLimit": 0,
            "activeDeadlineSeconds": DEADLINE_SECONDS,
            "ttlSecondsAfterFinished": KEPT_SECONDS,
            "template": {
                "metadata": {"labels": labels},
                "spec": {
                    "nodeName": node,
                    "hostPID": True,
                    "hostNetwork": True,
                    "restartPolicy": "Never",
                    "automountServiceAccountToken": False,
                    "tolerations": [{"operator": "Exists"}],
                    "containers": [container],
                },
            },
        },
    }


@dataclass(frozen=True, slots=True)
class Beginning:
    """How far a debug pod has come: `running`, `waiting` or `failed` (`reason` is ours, `why` the
    cluster's word)."""

    state: str
    pod: str = ""
    reason: str = ""
    why: str = ""


def read_beginning(pods: Any) -> Beginning:
    """Read the list of the Job's pods as `kubectl get pods -o json` writes it."""
    items = _list(_dict(pods).get("items"))
    if not items:
        return Beginning("waiting", reason="pod_never_appeared")
    pod = _dict(items[0])
    name, status = str(_dict(pod.get("metadata")).get("name", "")), _dict(pod.get("status"))
    if status.get("phase") in ("Failed", "Succeeded"):
        why = str(status.get("reason") or status.get("message") or status["phase"])
        return Beginning("failed", name, "pod_terminated_during_startup", why)
    for condition in map(_dict, _list(status.get("conditions"))):
        if condition.get("reason") == "Unschedulable":
            return Beginning("failed", name, "unschedulable", "Unschedulable")
    why = ""
    for one in map(_dict, _list(status.get("containerStatuses"))):
        state = _dict(one.get("state"))
        if "running" in state:
            return Beginning("running", name)
        why = str(_dict(state.get("waiting")).get("reason", ""))
        if why in FATAL:
            return Beginning("failed", name, FATAL[why], why)
    return Beginning("waiting", name, "startup_timeout", why)


def read_ready(node: Any) -> str:
    """Return the status of a node's condition Ready: `True`, `False`, `Unknown`; empty for none."""
    for condition in map(_dict, _list(_dict(_dict(node).get("status")).get("conditions"))):
        if condition.get("type") == "Ready":
            return str(condition.get("status", ""))
    return ""


def abandoned(jobs: Any) -> list[str]:
    """Return the names of the Jobs in a list whose process is proven dead."""
    found: list[str] = []
    for job in map(_dict, _list(_dict(jobs).get("items"))):
        metadata = _dict(job.get("metadata"))
        record = decode_record(str(_dict(metadata.get("annotations")).get(OWNER, "")).encode())
        name = str(metadata.get("name", ""))
        if record is not None and record.proven_dead and JOB_NAME.fullmatch(name):
            found.append(name)
    return found


def _dict(value: Any) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []
