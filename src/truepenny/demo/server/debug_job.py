"""Debug Jobs: the one thing that somebody may make here, a pod that enters a node.

A Job named `node-debug-<8 hex>` with a pod bound to a node is taken from an identity that may
write. Its pod waits for one look, then runs; on a node that is not there it never appears, and an
image that names `missing` is never pulled. What is run in it behind nsenter is answered from the
commands recorded for the node.
"""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Sequence
from datetime import datetime, timedelta

from truepenny.demo.server.authorization import READ_ONLY
from truepenny.demo.server.exchange import Reply, Request, json_reply
from truepenny.demo.server.kind import Kind
from truepenny.demo.server.objects import Objects
from truepenny.demo.server.status import Refusal, not_found
from truepenny.demo.server.target import Target
from truepenny.demo.server.value import Object, dig, listing, mapping, text

NAME = re.compile(r"node-debug-[0-9a-f]{8}")

LABEL = "job-name"
"""The label by which a Job's pods are found."""


def create(request: Request, target: Target, objects: Objects, now: datetime) -> Reply:
    """Make the Job and its pod; raises Refusal 400, 403 for any other Job, 409 for a taken name."""
    try:
        job = mapping(json.loads(request.body))
    except ValueError:
        raise Refusal(400, "the Job is not JSON") from None
    if not NAME.fullmatch(text(job, "metadata", "name")):
        raise Refusal(403, f"jobs.batch is forbidden: {READ_ONLY}")
    name, node = text(job, "metadata", "name"), text(job, "spec", "template", "spec", "nodeName")
    if not node:
        raise Refusal(403, f"jobs.batch is forbidden: {READ_ONLY}")
    if objects.get(target.kind, target.namespace, name) is not None:
        raise Refusal(409, f'jobs.batch "{name}" already exists')
    stamp = now.strftime("%Y-%m-%dT%H:%M:%SZ")
    job["metadata"] |= {
        "namespace": target.namespace,
        "uid": str(uuid.uuid4()),
        "creationTimestamp": stamp,
    }
    job["status"] = {"active": 1, "startTime": stamp}
    objects.put(job)
    nodes = {text(one, "metadata", "name") for one in objects.list(_kind(objects, "v1", "Node"))}
    if node in nodes:
        objects.put(_pod(job, node, stamp))
    return json_reply(job, 201)


def delete(target: Target, objects: Objects) -> Reply:
    """Delete a debug Job and its pod; raises Refusal 403 for any other, 404 for none."""
    if not NAME.fullmatch(target.name):
        raise Refusal(403, f'jobs.batch "{target.name}" is forbidden: {READ_ONLY}')
    if not objects.remove(target.kind, target.namespace, target.name):
        raise not_found(target.kind.resource, target.name, target.kind.group, target.kind.plural)
    objects.remove(_kind(objects, "v1", "Pod"), target.namespace, f"{target.name}-debug")
    return json_reply({"kind": "Status", "apiVersion": "v1", "status": "Success"})


def settle(objects: Objects, now: datetime) -> None:
    """Do what a cluster does meanwhile: end Jobs over their deadline, start pods that waited."""
    kind = _kind(objects, "batch/v1", "Job")
    for job in objects.list(kind):
        name, namespace = text(job, "metadata", "name"), text(job, "metadata", "namespace")
        if not NAME.fullmatch(name):
            continue
        born = datetime.fromisoformat(text(job, "metadata", "creationTimestamp"))
        limit = (dig(job, "spec", "activeDeadlineSeconds") or 0) + (
            dig(job, "spec", "ttlSecondsAfterFinished") or 0
        )
        pods = _kind(objects, "v1", "Pod")
        pod = objects.get(pods, namespace, f"{name}-debug")
        if limit and now - born > timedelta(seconds=limit):
            objects.remove(kind, namespace, name)
            objects.remove(pods, namespace, f"{name}-debug")
        elif pod is not None and text(pod, "status", "phase") == "Pending":
            _advance(objects, pod)


def _advance(objects: Objects, pod: Object) -> None:
    container = listing(pod, "spec", "containers")[0]
    status = pod["status"]["containerStatuses"][0]
    reason = text(status, "state", "waiting", "reason")
    image = text(container, "image")
    if reason == "ImagePullBackOff":
        return
    missing = "missing" in image
    state: Object = (
        {"waiting": {"reason": "ImagePullBackOff", "message": f'Back-off pulling image "{image}"'}}
        if missing
        else {"running": {"startedAt": text(pod, "metadata", "creationTimestamp")}}
    )
    changed = {**status, "state": state, "ready": not missing, "started": not missing}
    phase = "Pending" if missing else "Running"
    told = {**pod["status"], "phase": phase, "containerStatuses": [changed]}
    objects.put({**pod, "status": told})


def _pod(job: Object, node: str, stamp: str) -> Object:
    spec = job["spec"]["template"]["spec"]
    container = listing(spec, "containers")[0]
    name = text(job, "metadata", "name")
    labels = {**mapping(job, "spec", "template", "metadata", "labels"), LABEL: name}
    status: Object = {
        "name": text(container, "name"),
        "image": text(container, "image"),
        "imageID": "",
        "ready": False,
        "started": False,
        "restartCount": 0,
        "state": {"waiting": {"reason": "ContainerCreating"}},
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": f"{name}-debug",
            "namespace": text(job, "metadata", "namespace"),
            "uid": str(uuid.uuid4()),
            "creationTimestamp": stamp,
            "labels": labels,
            "ownerReferences": [
                {
                    "apiVersion": "batch/v1",
                    "kind": "Job",
                    "name": name,
                    "uid": text(job, "metadata", "uid"),
                    "controller": True,
                }
            ],
        },
        "spec": {**spec, "nodeName": node},
        "status": {"phase": "Pending", "startTime": stamp, "containerStatuses": [status]},
    }


def node_of(pod: Object) -> str:
    """Return the node that a debug pod enters; empty for any other pod."""
    name = text(pod, "metadata", "labels", LABEL)
    return text(pod, "spec", "nodeName") if NAME.fullmatch(name) else ""


def node_line(argv: Sequence[str]) -> str | None:
    """Return the line that a node's shell is given behind `nsenter ... --`; None where there is
    none: `sh -c SCRIPT NAME LINE ...`."""
    words = list(argv)
    if "nsenter" not in words:
        return None
    behind = words[words.index("nsenter") :]
    behind = behind[behind.index("--") + 1 :] if "--" in behind else []
    return behind[4] if len(behind) > 4 and behind[1] == "-c" else None


def ended(argv: Sequence[str]) -> bytes | None:
    """Return what the search for a line's leftovers says; None for another command. Recorded
    commands end at once, so there is never anything left."""
    words = list(argv)
    token = words[-2] if len(words) > 2 else ""
    if re.fullmatch(r"[0-9a-f]{24}", token) and words[:2] == ["/bin/sh", "-c"]:
        return f"{token} gone 0\n".encode()
    return None


def _kind(objects: Objects, version: str, kind: str) -> Kind:
    found = objects.catalog.by_object({"apiVersion": version, "kind": kind})
    if found is None:
        raise Refusal(500, f"{kind} is not served")
    return found
