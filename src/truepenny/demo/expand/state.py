"""The status of one container, from shorthand, with the events that a kubelet writes for it.

    {running: AGE, ready: true, restarts: 0, last: ENDED, failing: {readiness: [MESSAGE, COUNT]}}
    {backoff: ENDED, restarts: N}                     waits in CrashLoopBackOff after ENDED
    {pull: ERROR, tries: N, last_try: SECONDS}      waits in ImagePullBackOff
    {config: ERROR, tries: N}                         waits in CreateContainerConfigError
    {waiting: REASON, message: TEXT}                  waits for another reason
    {terminated: ENDED}                               has ended for good

ENDED is {exit, reason, started, finished, message}; started and finished are ages.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from truepenny.demo import identity

from .build import Build, Object, age
from .event import record
from .keys import check

BACKOFF_SECONDS = (10, 20, 40, 80, 160, 300)
"""The kubelet's restart delays: doubling, capped at five minutes."""

_SYNC_SECONDS = 12
"""About how often a kubelet repeats a back-off event for the same container."""


def container_status(
    build: Build,
    pod: Object,
    spec: Object,
    short: dict[str, Any],
    created: timedelta,
    list_name: str,
) -> Object:
    """Return the status of `spec`'s container in `pod` and record its events.

    `list_name` is `containers` or `initContainers`; `created` is the pod's age.
    """
    name: str = spec["name"]
    check("state", short, f"container {name}")
    path = f"{list_name}{{{name}}}"
    restarts: int = short.get("restarts", 0)
    started_once = not {"pull", "config", "waiting"} & short.keys()
    status: Object = {
        "name": name,
        "state": {},
        "lastState": {},
        "ready": False,
        "restartCount": restarts,
        "image": spec["image"],
        "imageID": _image_id(spec["image"]) if started_once else "",
    }
    if started_once:
        status["containerID"] = _container_id(pod, name, restarts)
    if "last" in short:
        status["lastState"] = {"terminated": _ended(build, pod, name, short["last"], restarts - 1)}
    if "running" in short:
        _running(build, pod, spec, short, status, path, created)
    elif "backoff" in short:
        _backoff(build, pod, spec, short, status, path, created)
    elif "terminated" in short:
        ended = short["terminated"]
        status["state"] = {"terminated": _ended(build, pod, name, ended, restarts)}
        status["ready"] = ended["exit"] == 0 and list_name == "initContainers"
        status["started"] = False
        _starts(build, pod, spec, path, created, age(ended["started"], "0s"), 1)
    elif "pull" in short:
        _pull(build, pod, spec, short, status, path, created)
    elif "config" in short:
        _config(build, pod, spec, short, status, path, created)
    else:
        waiting = {"reason": short["waiting"]}
        if "message" in short:
            waiting["message"] = short["message"]
        status["state"] = {"waiting": waiting}
        status["started"] = False
    for kind, (message, count) in short.get("failing", {}).items():
        text = f"{kind.capitalize()} probe failed: {message}"
        since = age(short.get("failing_since"), created - timedelta(seconds=15))
        record(
            build, pod, "Unhealthy", text, warning=True, container=path,
            first=since, last=age(short.get("failing_last"), "6s"), count=count,
        )  # fmt: skip
    return status


def _running(
    build: Build, pod: Object, spec: Object, short: dict[str, Any], status: Object, path: str,
    created: timedelta,
) -> None:  # fmt: skip
    since = age(short["running"], created)
    status["state"] = {"running": {"startedAt": build.timeline.stamp(since)}}
    status["ready"] = short.get("ready", True)
    status["started"] = short.get("started", True)
    _starts(build, pod, spec, path, created, since, status["restartCount"] + 1)


def _backoff(
    build: Build, pod: Object, spec: Object, short: dict[str, Any], status: Object, path: str,
    created: timedelta,
) -> None:  # fmt: skip
    name, meta = spec["name"], pod["metadata"]
    restarts: int = status["restartCount"]
    ended = short["backoff"]
    delay = BACKOFF_SECONDS[min(restarts, len(BACKOFF_SECONDS) - 1)]
    wait = f"{delay // 60}m{delay % 60}s" if delay >= 60 else f"{delay}s"
    where = f"{meta['name']}_{meta['namespace']}({meta['uid']})"
    status["state"] = {
        "waiting": {
            "reason": "CrashLoopBackOff",
            "message": f"back-off {wait} restarting failed container={name} pod={where}",
        }
    }
    status["lastState"] = {"terminated": _ended(build, pod, name, ended, restarts)}
    status["started"] = False
    _starts(build, pod, spec, path, created, age(ended["started"], "0s"), restarts + 1)
    first = age(ended["started"], "0s") if restarts == 0 else created - timedelta(seconds=20)
    record(
        build, pod, "BackOff", f"Back-off restarting failed container {name} in pod {where}",
        first=first, last=timedelta(seconds=9), warning=True, container=path,
        count=max(1, int(first.total_seconds() / _SYNC_SECONDS * 0.8)),
    )  # fmt: skip


def _pull(
    build: Build, pod: Object, spec: Object, short: dict[str, Any], status: Object, path: str,
    created: timedelta,
) -> None:  # fmt: skip
    image, error, tries = spec["image"], short["pull"], short.get("tries", 5)
    detail = f'Back-off pulling image "{image}": ErrImagePull: {error}'
    status["state"] = {"waiting": {"reason": "ImagePullBackOff", "message": detail}}
    status["started"] = False
    last_try = min(created, timedelta(seconds=short.get("last_try", 95)))
    recent = timedelta(seconds=7)
    rows = (
        ("Pulling", f'Pulling image "{image}"', tries, last_try, False),
        ("Failed", f'Failed to pull image "{image}": {error}', tries, last_try, True),
        ("Failed", "Error: ErrImagePull", tries, last_try, True),
        ("BackOff", f'Back-off pulling image "{image}"', tries * 5, recent, False),
        ("Failed", "Error: ImagePullBackOff", tries * 5, recent, True),
    )
    for reason, message, count, last, warning in rows:
        record(
            build, pod, reason, message, warning=warning, container=path, count=count,
            first=created - timedelta(seconds=2), last=last,
        )  # fmt: skip


def _config(
    build: Build, pod: Object, spec: Object, short: dict[str, Any], status: Object, path: str,
    created: timedelta,
) -> None:  # fmt: skip
    error, tries = short["config"], short.get("tries", 20)
    status["state"] = {"waiting": {"reason": "CreateContainerConfigError", "message": error}}
    status["started"] = False
    first, last = created - timedelta(seconds=2), timedelta(seconds=8)
    present = f'Container image "{spec["image"]}" already present on machine'
    record(build, pod, "Pulled", present, first=first, last=last, count=tries, container=path)
    record(
        build, pod, "Failed", f"Error: {error}", first=first, last=last, count=tries,
        warning=True, container=path,
    )  # fmt: skip


def _starts(
    build: Build, pod: Object, spec: Object, path: str, created: timedelta, last: timedelta,
    count: int,
) -> None:  # fmt: skip
    """Record Pulled, Created and Started: first just after the pod, last at the last start."""
    first = last if count == 1 else max(created - timedelta(seconds=2), last)
    present = f'Container image "{spec["image"]}" already present on machine'
    for reason, message in (
        ("Pulled", present),
        ("Created", f"Created container: {spec['name']}"),
        ("Started", f"Started container {spec['name']}"),
    ):
        record(build, pod, reason, message, first=first, last=last, count=count, container=path)


def _ended(build: Build, pod: Object, name: str, short: dict[str, Any], nth: int) -> Object:
    code: int = short["exit"]
    ended: Object = {
        "exitCode": code,
        "reason": short.get("reason", "Completed" if code == 0 else "Error"),
        "startedAt": build.timeline.stamp(short["started"]),
        "finishedAt": build.timeline.stamp(short["finished"]),
        "containerID": _container_id(pod, name, nth),
    }
    return ended | ({"message": short["message"]} if "message" in short else {})


def _image_id(image: str) -> str:
    return f"{image.rpartition(':')[0]}@sha256:{identity.hexadecimal(image)}"


def _container_id(pod: Object, name: str, nth: int) -> str:
    key = f"{pod['metadata']['uid']}/{name}/{nth}"
    return f"containerd://{identity.hexadecimal(key)}"
