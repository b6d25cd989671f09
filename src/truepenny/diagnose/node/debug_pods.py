"""The debug pods of this process: made when a node is asked, shared while asked, then deleted."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio

from truepenny.diagnose.answer import MARKERS
from truepenny.diagnose.cluster import Cluster
from truepenny.errors import CouldNotRun
from truepenny.execute.command import CaptureLimits, Command
from truepenny.execute.execution import Execution
from truepenny.execute.outcome import Classification, classify
from truepenny.execute.process import run as run_process
from truepenny.system.clock import Clock, SystemClock
from truepenny.text.bound import Limits

from .debug_job import SELECTOR, Beginning, abandoned, manifest, new_name, read_beginning

STARTUP_SECONDS, LOOK_SECONDS = 60.0, 0.5
"""For the pod to run, and between two looks at it (diagnostics spec 6)."""

IDLE_SECONDS = 60.0
"""How long a pod that nobody asks is kept for the next question."""

MEMO_SECONDS, MEMO_KEPT = 60.0, 256
"""How long a node that could not be entered is not tried again, and of how many that is known."""

REMEMBERED = frozenset(
    (
        "unschedulable",
        "image_pull_failed",
        "container_config_error",
        "startup_timeout",
        "pod_never_appeared",
        "pod_terminated_during_startup",
    )
)
"""Failures that trying again at once does not change. Not those of the way to the cluster."""

DELETE_TRIES, DELETE_PAUSE = 3, 2.0
ASK_SECONDS = 15.0
ANSWER_BYTES = 1024 * 1024
SAID_BYTES = 2000
"""Of what kubectl said about a failure."""

Key = tuple[str, str, str, str]
"""User, cluster, node, image."""


class DebugPodFailed(CouldNotRun):
    """No debug pod runs on the node: nothing was asked there. `stage` is `create`, `start` or
    `wait`; `cached` says that it failed a moment ago and was not tried again; `left` is a Job that
    could not be deleted."""

    def __init__(
        self, node: str, stage: str, reason: str, said: str, *, left: str = "", cached: bool = False
    ) -> None:
        super().__init__(said or reason.replace("_", " "), where=f"node {node}")
        self.stage, self.reason, self.said = stage, reason, said
        self.left, self.cached = left, cached


@dataclass(slots=True)
class DebugPod:
    """A running pod. `fate` is what became of its Job: `kept`, `deleted`, or `left` (it could not
    be deleted, and ends itself)."""

    job: str
    pod: str
    cluster: Cluster
    pins: int = 0
    idle_since: float = 0.0
    fate: str = "kept"


@dataclass(slots=True)
class _Place:
    lock: anyio.Lock = field(default_factory=anyio.Lock)
    pod: DebugPod | None = None


class DebugPods:
    """Every debug pod of a process. Without `open` a pod is deleted when nobody asks it any more:
    none is kept where nothing would remove it."""

    def __init__(self, clock: Clock | None = None) -> None:
        self._clock = clock or SystemClock()
        self._places: dict[Key, _Place] = {}
        self._memo: dict[Key, tuple[DebugPodFailed, float]] = {}
        self._swept: set[str] = set()
        self._keeping = False

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[DebugPods]:
        """Keep pods for `IDLE_SECONDS`; behind the context all of them are deleted."""
        async with anyio.create_task_group() as group:
            group.start_soon(self._evicting)
            self._keeping = True
            try:
                yield self
            finally:
                self._keeping = False
                group.cancel_scope.cancel()
                with anyio.CancelScope(shield=True):
                    await self.evict(None)

    async def _evicting(self) -> None:
        while True:
            await self._clock.sleep(IDLE_SECONDS / 4)
            await self.evict(IDLE_SECONDS)

    async def evict(self, idle: float | None) -> None:
        """Delete the pods that nobody has asked for so long (seconds; None: all of them)."""
        for place in list(self._places.values()):
            async with place.lock:
                pod = place.pod
                if pod is None or (idle is not None and pod.pins):
                    continue
                if idle is None or self._clock.monotonic() - pod.idle_since >= idle:
                    place.pod = None
                    await self._delete(pod)

    @asynccontextmanager
    async def pinned(self, cluster: Cluster, node: str, user: str) -> AsyncGenerator[DebugPod]:
        """Give a pod on the node for the time of the context: it is not deleted in it. Behind it
        `fate` is known. Raises DebugPodFailed."""
        key = (user, cluster.name, node, cluster.debug_image)
        place = self._places.setdefault(key, _Place())
        async with place.lock:
            pod = place.pod or await self._made(key, cluster, node, user)
            place.pod = pod
            pod.pins += 1
        try:
            yield pod
        finally:
            with anyio.CancelScope(shield=True):
                async with place.lock:
                    pod.pins -= 1
                    pod.idle_since = self._clock.monotonic()
                    if not pod.pins and not self._keeping and place.pod is pod:
                        place.pod = None
                        await self._delete(pod)

    async def drop(self, pod: DebugPod) -> None:
        """Use a pod no more, as one that does not answer; whoever still asks it keeps it."""
        for place in self._places.values():
            async with place.lock:
                if place.pod is pod and pod.pins <= 1:
                    place.pod = None
                    await self._delete(pod)

    async def _made(self, key: Key, cluster: Cluster, node: str, user: str) -> DebugPod:
        failed, when = self._memo.get(key, (None, 0.0))
        if failed is not None and self._clock.monotonic() - when < MEMO_SECONDS:
            raise DebugPodFailed(node, failed.stage, failed.reason, failed.said, cached=True)
        self._memo.pop(key, None)
        await self._sweep(cluster)
        try:
            return await self._make(cluster, node, user)
        except DebugPodFailed as error:
            if error.reason in REMEMBERED:
                self._memo[key] = (error, self._clock.monotonic())
                if len(self._memo) > MEMO_KEPT:
                    del self._memo[next(iter(self._memo))]
            raise

    async def _make(self, cluster: Cluster, node: str, user: str) -> DebugPod:
        pod, refused = DebugPod(new_name(), "", cluster), False
        body = json.dumps(manifest(pod.job, cluster, node, user)).encode()
        try:
            made = await ask(cluster, "create", "--validate=false", "-f", "-", stdin=body)
            meaning = meaning_of(made)
            if meaning.outcome.failed:
                # An answer of the server: then there is none. A lost way leaves that open.
                refused = meaning.reason == "forbidden"
                raise DebugPodFailed(node, "create", meaning.reason or "not_created", _said(made))
            pod.pod = await self._started(pod, node)
        except BaseException as error:
            # It may be there even where creating it seemed to fail.
            if not refused:
                with anyio.CancelScope(shield=True):
                    await self._delete(pod)
            if isinstance(error, DebugPodFailed) and pod.fate == "left":
                error.left = pod.job
            raise
        return pod

    async def _started(self, pod: DebugPod, node: str) -> str:
        began, seen = self._clock.monotonic(), Beginning("waiting", reason="pod_never_appeared")
        selector = f"job-name={pod.job}"
        while self._clock.monotonic() - began < STARTUP_SECONDS:
            asked = await ask(pod.cluster, "get", "pods", "-l", selector, "-o", "json")
            meaning = meaning_of(asked)
            if meaning.outcome.failed:
                raise DebugPodFailed(node, "wait", meaning.reason or "unknown", _said(asked))
            seen = read_beginning(_json(asked))
            if seen.state == "running":
                return seen.pod
            if seen.state == "failed":
                raise DebugPodFailed(node, "start", seen.reason, seen.why)
            await self._clock.sleep(LOOK_SECONDS)
        raise DebugPodFailed(node, "start", seen.reason, seen.why)

    async def _delete(self, pod: DebugPod) -> None:
        for attempt in range(DELETE_TRIES):
            done = await ask(
                pod.cluster, "delete", "job", pod.job, "--ignore-not-found", "--wait=false",
                "--cascade=background",
            )  # fmt: skip
            if not meaning_of(done).outcome.failed:
                pod.fate = "deleted"
                return
            if attempt + 1 < DELETE_TRIES:
                await self._clock.sleep(DELETE_PAUSE)
        pod.fate = "left"

    async def _sweep(self, cluster: Cluster) -> None:
        """Once for each cluster: delete the Jobs of ours whose process is proven dead."""
        if cluster.name in self._swept:
            return
        asked = await ask(cluster, "get", "jobs", "-l", SELECTOR, "-o", "json")
        if meaning_of(asked).outcome.failed:
            return  # They end themselves; creating ours will tell what is wrong.
        self._swept.add(cluster.name)
        for name in abandoned(_json(asked)):
            await self._delete(DebugPod(name, "", cluster))


async def ask(cluster: Cluster, *words: str, stdin: bytes | None = None) -> Execution:
    """Run kubectl in the namespace of debug Jobs, for an answer that nobody is shown as it is."""
    return await run_process(
        Command(
            argv=(
                cluster.kubectl.find(),
                *cluster.kubectl.arguments(cluster.context.name),
                "-n",
                cluster.debug_namespace,
                *words,
            ),
            env=cluster.environment(),
            stdin=stdin,
            timeout=ASK_SECONDS,
            limits=CaptureLimits(stdout=Limits(bytes=ANSWER_BYTES)),
        )
    )


def meaning_of(execution: Execution) -> Classification:
    """Return what a kubectl of ours came to."""
    return classify(execution, MARKERS)


def _said(execution: Execution) -> str:
    if execution.failure is not None:
        return execution.failure.message
    return execution.stderr.text.strip()[:SAID_BYTES]


def _json(execution: Execution) -> Any:
    try:
        return json.loads(execution.stdout.text)
    except ValueError:
        return None
