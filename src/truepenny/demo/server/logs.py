"""Container logs: since, tail, previous, timestamps, byte limit and follow."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from datetime import datetime, timedelta

import anyio

from truepenny.demo.server.exchange import TEXT, Reply, Request
from truepenny.demo.server.status import Refusal
from truepenny.demo.server.surroundings import World
from truepenny.demo.server.value import Object, dig, listing, mapping, moment, text

Line = tuple[datetime | None, str, str]
"""When it was written, that moment as written, and the text."""

_STATUSES = ("initContainerStatuses", "containerStatuses", "ephemeralContainerStatuses")
_CONTAINERS = ("initContainers", "containers", "ephemeralContainers")


def logs(request: Request, pod: Object, world: World, now: datetime) -> Reply:
    """Answer a log as text; raises Refusal 400 where the kubelet would have none.

    A followed log of a running container stays open until the client or the server goes.
    """
    container = _container(request.query.get("container", ""), pod)
    previous = request.flag("previous")
    namespace, name = text(pod, "metadata", "namespace"), text(pod, "metadata", "name")
    written = world.logs(namespace, name, container, previous)
    if written is None:
        raise Refusal(400, _missing(pod, container, previous))
    lines = list(_chosen(request, _lines(written), now))
    if (tail := request.number("tailLines")) is not None:
        lines = lines[-tail:] if tail else []
    stamped = request.flag("timestamps")
    body = "".join(f"{when} {said}\n" if stamped else f"{said}\n" for _, when, said in lines)
    data = body.encode()
    if (limit := request.number("limitBytes")) is not None:
        data = data[:limit]
    if not request.flag("follow"):
        return Reply(200, data, TEXT)
    running = not previous and mapping(_status(pod, container), "state", "running")
    return Reply(200, _followed(data, open_end=bool(running)), TEXT)


async def _followed(data: bytes, *, open_end: bool) -> AsyncIterator[bytes]:
    # One chunk: line by line, a client that left would be noticed too late.
    yield data
    if open_end:
        # Nothing more happens in a world that stands still; the writer cancels this wait.
        await anyio.sleep_forever()


def _lines(written: str) -> Iterator[Line]:
    # Only a newline ends a log line; other separators belong to the text.
    for line in written.split("\n"):
        if line:
            when, _, said = line.partition(" ")
            yield moment(_microseconds(when)), when, said


def _microseconds(written: str) -> str:
    """Cut nanoseconds to the six digits that a datetime holds."""
    head, dot, rest = written.partition(".")
    digits = rest.rstrip("Z")
    return f"{head}.{digits[:6]}Z" if dot and digits.isdigit() else written


def _chosen(request: Request, lines: Iterator[Line], now: datetime) -> Iterator[Line]:
    seconds = request.number("sinceSeconds")
    after = request.query.get("sinceTime", "")
    if seconds is not None and after:
        raise Refusal(400, "at most one of `sinceTime` or `sinceSeconds` may be specified")
    start = moment(after)
    if after and start is None:
        raise Refusal(400, f'sinceTime: "{after}" is not an RFC 3339 time')
    if seconds is not None:
        start = now - timedelta(seconds=seconds)
    for line in lines:
        if start is None or line[0] is None or line[0] >= start:
            yield line


def _names(pod: Object, group: str) -> list[str]:
    return [text(container, "name") for container in listing(pod, "spec", group)]


def _container(wanted: str, pod: Object) -> str:
    name = text(pod, "metadata", "name")
    regular = _names(pod, "containers")
    if wanted:
        if not any(wanted in _names(pod, group) for group in _CONTAINERS):
            raise Refusal(400, f"container {wanted} is not valid for pod {name}")
        return wanted
    if len(regular) == 1:
        return regular[0]
    message = f"a container name must be specified for pod {name}"
    message += f", choose one of: [{' '.join(regular)}]"
    if initial := _names(pod, "initContainers"):
        message += f" or one of the init containers: [{' '.join(initial)}]"
    raise Refusal(400, message)


def _status(pod: Object, container: str) -> Object:
    for group in _STATUSES:
        for status in listing(pod, "status", group):
            if dig(status, "name") == container:
                return status
    return {}


def _missing(pod: Object, container: str, previous: bool) -> str:
    name = text(pod, "metadata", "name")
    if previous:
        return f'previous terminated container "{container}" in pod "{name}" not found'
    waiting = mapping(_status(pod, container), "state", "waiting")
    reason = text(waiting, "reason") or "ContainerCreating"
    if reason in ("ErrImagePull", "ImagePullBackOff"):
        reason = "trying and failing to pull image"
    return f'container "{container}" in pod "{name}" is waiting to start: {reason}'
