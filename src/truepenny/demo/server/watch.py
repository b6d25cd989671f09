"""Watch: the initial objects where asked for, then each change, as JSON lines."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from datetime import datetime

import anyio

from truepenny.demo.server.exchange import Reply, Request
from truepenny.demo.server.objects import Objects
from truepenny.demo.server.resources import select, selectors
from truepenny.demo.server.status import Refusal
from truepenny.demo.server.table import partial, table, wants_table
from truepenny.demo.server.target import Target
from truepenny.demo.server.value import Object, namespace_of

LONGEST = 1800.0
"""Seconds a watch lives without a timeoutSeconds, about what an API server chooses."""


def watch(request: Request, target: Target, objects: Objects, now: Callable[[], datetime]) -> Reply:
    """Answer a stream that ends at the request's timeout or when the server closes."""
    render = _renderer(request, target, objects, now)
    start = request.query.get("resourceVersion", "")
    if start and not start.isdigit():
        raise Refusal(400, f'invalid resource version "{start}"')
    initial = request.flag("sendInitialEvents") or start in ("", "0")
    values = select(request, target, objects) if initial else []
    version = objects.version if initial else int(start)
    bookmark = request.flag("sendInitialEvents") and request.flag("allowWatchBookmarks")
    timeout = request.number("timeoutSeconds")

    async def lines() -> AsyncIterator[bytes]:
        first = [_line("ADDED", render(value)) for value in values]
        if bookmark:
            first.append(_line("BOOKMARK", _bookmark(target, version)))
        # Sent even when empty: the headers tell a client that the watch stands.
        yield b"".join(first)
        async for line in _changes(request, target, objects, version, timeout, render):
            yield line

    return Reply(200, lines())


async def _changes(
    request: Request,
    target: Target,
    objects: Objects,
    version: int,
    timeout: int | None,
    render: Callable[[Object], Object],
) -> AsyncIterator[bytes]:
    by_label, by_field = selectors(request, target.kind)
    deadline = anyio.current_time() + (LONGEST if timeout is None else timeout)
    while True:
        changes = objects.since(version)
        if changes is None:
            gone = Refusal(410, f"too old resource version: {version}")
            yield _line("ERROR", gone.to_json())
            return
        for change in changes:
            version = change.version
            value = change.value
            if change.kind != target.kind:
                continue
            if target.namespace and namespace_of(value) != target.namespace:
                continue
            if by_label.matches(value) and by_field.matches(value):
                yield _line(change.type, render(value))
        if changes:
            # Sending gave others a turn: look again before waiting, or a change would be missed.
            continue
        with anyio.CancelScope(deadline=deadline) as scope:
            await objects.changed()
        if scope.cancelled_caught:
            return


def _renderer(
    request: Request, target: Target, objects: Objects, now: Callable[[], datetime]
) -> Callable[[Object], Object]:
    if wants_table(request.accept):
        from truepenny.demo.server.columns.registry import printer

        shown = printer(target.kind, objects.definitions)
        include = request.query.get("includeObject", "")
        return lambda value: table(shown, [value], now(), include=include)
    if "as=PartialObjectMetadata" in request.accept:
        return partial
    return lambda value: value


def _bookmark(target: Target, version: int) -> Object:
    return {
        "kind": target.kind.kind,
        "apiVersion": target.kind.api_version,
        "metadata": {
            "resourceVersion": str(version),
            "annotations": {"k8s.io/initial-events-end": "true"},
        },
    }


def _line(kind: str, value: Object) -> bytes:
    return json.dumps({"type": kind, "object": value}, ensure_ascii=False).encode() + b"\n"
