"""Where a command works: the clusters and hosts that are configured, or the practice cluster."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from truepenny.errors import ConfigurationError, UsageError

from . import complete
from .workbench import Workbench

if TYPE_CHECKING:
    from truepenny.diagnose.cluster import Clusters
    from truepenny.diagnose.host.host import Hosts

PRACTICE = "practice"


@dataclass(frozen=True, slots=True)
class Place:
    """What to work on. `scenario` is set for the practice cluster; `notice` says why.

    No real host is reached from practice.
    """

    clusters: Clusters
    hosts: Hosts
    scenario: str = ""
    notice: str = ""


@contextmanager
def place(
    bench: Workbench,
    cluster: str | None,
    demo: str | None,
    faults: Sequence[str] = (),
    *,
    elsewhere: bool = False,
) -> Generator[Place]:
    """Open the place that the options name.

    The practice cluster is served while the context is open: when `demo` names an incident, or
    when nothing at all is configured and the work is not `elsewhere`, in a folder or on a host. A
    kubeconfig that is named and broken is never replaced by practice. Raises ConfigurationError for
    a cluster that is not there.
    """
    if cluster and demo:
        raise UsageError("give either --cluster or --demo", where="--demo")
    if not demo:
        clusters, hosts = bench.clusters(), bench.hosts()
        if cluster:
            yield Place(clusters.only(cluster), hosts)
            return
        if clusters.names:
            if faults:
                raise UsageError("is for the practice cluster; add --demo", where="--fault")
            yield Place(clusters, hosts)
            return
        if named := bench.env.get("KUBECONFIG"):
            missing = not any(os.path.exists(part) for part in named.split(os.pathsep) if part)
            raise ConfigurationError(
                f"there is no file {named}" if missing else f"{named} binds no cluster",
                where="KUBECONFIG",
                remedy="Name a kubeconfig with a context, or unset it to use the practice cluster.",
            )
        if (elsewhere or hosts.names) and not faults:
            yield Place(clusters, hosts)
            return
    with practice(bench, demo, faults) as made:
        yield made


@contextmanager
def practice(bench: Workbench, demo: str | None, faults: Sequence[str] = ()) -> Generator[Place]:
    """Serve the practice cluster while the context is open; with no incident the default one."""
    from truepenny.config.settings import HostSettings
    from truepenny.demo.cluster import PracticeCluster
    from truepenny.demo.layer import split_identity
    from truepenny.demo.world import DEFAULT, World
    from truepenny.diagnose.cluster import Clusters
    from truepenny.diagnose.host.host import Host, Hosts
    from truepenny.diagnose.host.known_hosts import KnownHosts

    incident, identity = split_identity(demo or DEFAULT)
    world = World.load(incident)
    name = world.scenario.name
    why = "" if demo else "no cluster is configured: "
    notice = f"{why}using the practice cluster (a simulator) with the incident {name!r}"
    notice += f" as {identity!r}" if identity else ""
    with PracticeCluster(world, faults, identity=identity) as cluster:
        clusters = Clusters.from_kubeconfig(
            cluster.kubeconfig,
            env=bench.env,
            name=PRACTICE,
            description="a simulator for practice, not a real cluster",
            path=bench.settings.kubectl.path,
        )
        entries = {
            host: HostSettings.model_validate(entry) for host, entry in cluster.hosts.items()
        }
        machines = (Host(host, entry, bench.env) for host, entry in entries.items())
        yield Place(clusters, Hosts(machines, KnownHosts(cluster.state)), name, notice)


def place_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --cluster, --demo and --fault to a command."""
    for option in (
        click.option(
            "--fault",
            "faults",
            multiple=True,
            metavar="FAULT",
            help="With the practice cluster: make something fail, e.g. status:403:pods/log.",
        ),
        click.option(
            "--demo",
            metavar="INCIDENT",
            shell_complete=complete.incident,
            help="Use the practice cluster with this incident (`truepenny demo --list`); "
            "INCIDENT@IDENTITY reads it as somebody with other rights.",
        ),
        click.option(
            "--cluster",
            metavar="NAME",
            shell_complete=complete.cluster,
            help="Use only this cluster: a name from the settings, or a kubeconfig context.",
        ),
    ):
        command = option(command)
    return command
