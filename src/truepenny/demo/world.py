"""A practice world: the whole state of one small cluster at one moment, with an incident in it.

Worlds are data in `scenarios/`; the same name and the same `now` give the same world, uids and
all. What a container is said to have logged, who may read what, and what `exec` answers belong to
it. Nothing in it is a real system, key or person.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from truepenny.demo import layer
from truepenny.demo.canned import Answer, answer
from truepenny.demo.expand.batch import expand_cron_job, expand_job
from truepenny.demo.expand.build import Build, Object
from truepenny.demo.expand.crowd import expand_crowd
from truepenny.demo.expand.deployment import expand_deployment
from truepenny.demo.expand.derived import expand_derived
from truepenny.demo.expand.event import expand_event
from truepenny.demo.expand.gang import expand_gang
from truepenny.demo.expand.keys import check, check_permissions
from truepenny.demo.expand.node import expand_node
from truepenny.demo.expand.ordered import expand_ordered
from truepenny.demo.expand.plain import expand_namespace, expand_object, expand_static_pod
from truepenny.demo.expand.service import expand_endpoints, expand_service
from truepenny.demo.host.machine import Machine, read_machines
from truepenny.demo.journal import instance, read_log
from truepenny.demo.layer import Scenario, read_scenario, scenarios
from truepenny.demo.timeline import Timeline, walk
from truepenny.demo.usage import measure

__all__ = ["DEFAULT", "Scenario", "World", "scenarios"]

DEFAULT = "checkout-oom"
"""The incident that `truepenny demo` shows when none is named."""

_FIRST_VERSION = 184_211  # of the oldest object; a cluster of this age has written that often


class World:
    """One incident's cluster at `now`: objects, logs, usage, permissions, canned commands."""

    def __init__(self, scenario: Scenario, build: Build, tables: dict[str, dict[str, Any]]) -> None:
        self.scenario = scenario
        self.now = build.timeline.now
        self.objects: list[Object] = list(build.objects.values())
        """Full Kubernetes objects with apiVersion, kind, uid, times and resourceVersion."""
        self.metrics: dict[str, Any] = measure(build, tables["metrics"])
        """{available, pods: {(namespace, pod): {container: (cpu, memory)}}, nodes: {…}}."""
        self.permissions: dict[str, Any] = tables["permissions"]
        """The default identity, and the others under `identities`; see `server.authorization`."""
        self.hosts: tuple[Machine, ...] = read_machines(
            tables["hosts"], lambda text: build.names(build.timeline.resolve(text))
        )
        """The simulated machines; most incidents have none."""
        self._build = build
        self._canned = tables["exec"]
        self._owners = {
            (pod["metadata"]["namespace"], pod["metadata"]["name"]): (workload, index)
            for workload, pods in build.pods_of.items()
            for index, pod in enumerate(pods)
        }

    @classmethod
    def load(
        cls, scenario: str = DEFAULT, now: datetime | None = None, *, pods: int | None = None
    ) -> World:
        """Build the world of an incident; an unknown name raises ConfigurationError.

        `now` is the moment that every relative time counts from, aware; default is the clock's.
        `pods` is how many there are to be in all: see `expand_crowd` for its limits.
        """
        described = read_scenario(scenario)
        moment = (now or datetime.now(UTC)).astimezone(UTC).replace(microsecond=0)
        build = Build(Timeline(moment))
        _expand(build, layer.shorthand(scenario), pods)
        names = ("exec", "hosts", "metrics", "permissions")
        tables = {name: layer.table(scenario, f"{name}.toml") for name in names}
        check_permissions(tables["permissions"])
        return cls(described, build, tables)

    def find(self, reference: str) -> Object:
        """Return an object by `Kind/namespace/name`, `Kind/name` or `Pod/ns/workload[0]`."""
        return self._build.find(reference)

    def logs(self, namespace: str, pod: str, container: str, previous: bool) -> str | None:
        """Return the log as lines of `<RFC 3339> <text>`; None where a kubelet has none to show.

        Empty text is a container that ran and wrote nothing.
        """
        item = self._build.objects.get(f"Pod/{namespace}/{pod}")
        status = _status(item, container) if item else None
        if item is None or status is None:
            return None
        run = instance(status, self._build.timeline, previous=previous)
        if run is None:
            return None
        ended_run = previous or "waiting" in status["state"]
        suffix = ".previous.log" if ended_run else ".log"
        workload, index = self._owners[namespace, pod]
        name = workload.partition("/")[2]
        facts = {"{host}": pod, "{ip}": item["status"].get("podIP", "")}
        for root in (layer.folder_of(self.scenario.name), layer.ROOT / layer.BASE):
            for folder in (pod, f"{name}.{index}", name):
                path = root / "logs" / namespace / folder / f"{container}{suffix}"
                if path.is_file():
                    return read_log(path, run, self._build.timeline, self._build.names, facts)
        return ""

    def exec(self, namespace: str, pod: str, container: str, argv: Sequence[str]) -> Answer | None:
        """Return (stdout, stderr, code), None for a command that this world does not know.

        A container that does not run answers nothing, so None as well.
        """
        item = self._build.objects.get(f"Pod/{namespace}/{pod}")
        status = _status(item, container) if item else None
        if item is None or status is None or "running" not in status["state"]:
            return None
        spec = next(one for one in item["spec"]["containers"] if one["name"] == container)
        owner = self._owners[namespace, pod][0]
        return answer(self._build, self._canned, owner, item, spec, argv)


def _status(pod: Object, container: str) -> Object | None:
    status = pod["status"]
    every: list[Object] = [
        *status.get("initContainerStatuses", []),
        *status.get("containerStatuses", []),
    ]
    return next((one for one in every if one["name"] == container), None)


def _expand(build: Build, short: dict[str, Any], pods: int | None) -> None:
    """Add everything, owners before what they own, and what is computed from pods last."""
    check("world", short, "objects.yaml")
    nodes: dict[str, Any] = short["nodes"]
    build.node_addresses = {name: node["address"] for name, node in nodes.items()}
    for place, name in enumerate(sorted(nodes)):
        expand_node(build, name, nodes[name], place)
    for name, one in short["namespaces"].items():
        expand_namespace(build, name, one)
    for reference, one in short.get("objects", {}).items():
        expand_object(build, reference, one)
    for key, one in short.get("static", {}).items():
        expand_static_pod(build, key, one)
    for key, one in short.get("services", {}).items():
        expand_service(build, key, one)
    for key, one in short.get("workloads", {}).items():
        expand = expand_deployment if one["kind"] == "Deployment" else expand_ordered
        expand(build, key, one)
    for key, one in short.get("jobs", {}).items():
        expand_job(build, key, one)
    for key, one in short.get("gangs", {}).items():
        expand_gang(build, key, one)
    for key, one in short.get("cronjobs", {}).items():
        expand_cron_job(build, key, one)
    if pods is not None:
        expand_crowd(build, pods)
    expand_endpoints(build)
    expand_derived(build)
    for one in short["events"]:
        expand_event(build, one)
    _settle(build)


def _settle(build: Build) -> None:
    """Resolve the times and names left in texts, and give versions in the order of birth."""
    for key, item in build.objects.items():
        build.objects[key] = walk(item, lambda text: build.names(build.timeline.resolve(text)))
    build.pods_of = {
        workload: [
            build.find(f"Pod/{pod['metadata']['namespace']}/{pod['metadata']['name']}")
            for pod in pods
        ]
        for workload, pods in build.pods_of.items()
    }
    by_age = sorted(build.objects.values(), key=lambda item: item["metadata"]["creationTimestamp"])
    for nth, item in enumerate(by_age):
        item["metadata"]["resourceVersion"] = str(_FIRST_VERSION + nth * 7)
