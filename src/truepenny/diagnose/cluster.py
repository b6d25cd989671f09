"""The clusters that tools may reach, by name. Fixed when a session starts."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from truepenny.errors import ConfigurationError
from truepenny.execute.ending import Outcome
from truepenny.model.message import Text
from truepenny.tool.result import NEVER_RAN, Facts, Result

from .cluster_kubeconfig import Context, Kubeconfig, default_files, read_kubeconfig
from .kubectl_program import Kubectl

if TYPE_CHECKING:
    from truepenny.config.settings import ClusterSettings, Settings
    from truepenny.system.directories import Directories

NO_CLUSTER_REMEDY = "Set KUBECONFIG or clusters.NAME in the settings, or try `--demo checkout-oom`."


@dataclass(frozen=True, slots=True)
class Cluster:
    """One cluster. `kubeconfig` is a KUBECONFIG value, `context` the one context used in it.

    `problem` says why it cannot be used; such a cluster is listed and never asked.
    """

    name: str
    kubeconfig: str
    context: Context
    kubectl: Kubectl
    description: str = ""
    production: bool = False
    current: bool = False
    problem: str = ""
    require_read_only: bool = False
    debug_jobs: bool = False
    debug_image: str = ""
    debug_namespace: str = "default"

    def environment(self) -> dict[str, str]:
        """Return the whole environment of a kubectl for it."""
        return self.kubectl.environment(self.kubeconfig, plugin=bool(self.context.plugin))

    @property
    def source(self) -> dict[str, str]:
        """Where an answer of it comes from, for `Facts.source`."""
        pairs = {
            "cluster": self.name,
            "context": self.context.name,
            "server": self.context.server,
            "user": self.context.user,
        }
        return {key: value for key, value in pairs.items() if value}


@dataclass(frozen=True, slots=True)
class Unbound:
    """No cluster for a request. `reason` is `cluster_not_bound`, `cluster_ambiguous`,
    `no_cluster` or `cluster_unavailable` (it is bound, and its kubeconfig is of no use)."""

    reason: str
    message: str
    known: tuple[str, ...] = ()
    hint: str = ""

    def result(self) -> Result:
        """Return it as the result of a tool call: nothing ran."""
        missing = self.reason in ("no_cluster", "cluster_unavailable")
        outcome = Outcome.MISSING_DEPENDENCY if missing else Outcome.INVALID_ARGUMENTS
        detail = {"available_clusters": list(self.known)}
        facts = Facts(completeness=NEVER_RAN, reason=self.reason, hint=self.hint, detail=detail)
        return Result(outcome, (Text(self.message),), facts)


class Clusters:
    """The bound clusters in the order they were configured; iterable."""

    def __init__(self, bound: Iterable[Cluster] = (), *, problem: str = "") -> None:
        self._bound = {cluster.name: cluster for cluster in bound}
        self._problem = problem

    def __iter__(self) -> Iterator[Cluster]:
        return iter(self._bound.values())

    @classmethod
    def from_settings(
        cls, settings: Settings, env: Mapping[str, str], directories: Directories
    ) -> Clusters:
        """Bind the clusters of the settings, else each context of the kubeconfig.

        What is wrong with one cluster stays with that cluster (`Cluster.problem`). Raises
        ConfigurationError only when no cluster is configured and the kubeconfig is unreadable.
        """
        kubectl = Kubectl(env, directories.cache / "kubectl", settings.kubectl.path)
        if settings.clusters:
            return cls(
                _configured(name, entry, env, kubectl) for name, entry in settings.clusters.items()
            )
        value = default_files(env)
        config = read_kubeconfig(value)
        there = any(file.exists() for file in config.files)
        problem = f"no cluster is bound: {value} {'has no context' if there else 'is not there'}"
        return cls(_contexts(value, config, kubectl), problem=problem)

    @classmethod
    def from_kubeconfig(
        cls,
        kubeconfig: Path,
        *,
        env: Mapping[str, str],
        name: str | None = None,
        description: str = "",
        path: str | None = None,
        cache: Path | None = None,
    ) -> Clusters:
        """Bind the current context of one file, under `name` or the context's own name.

        `path` is the kubectl to use. `cache` defaults to a folder beside the kubeconfig, which
        suits a cluster that lives as long as its file. Raises ConfigurationError when the file
        names no current context.
        """
        config = read_kubeconfig(str(kubeconfig))
        context = config.context(None)
        if context is None:
            raise ConfigurationError(
                "the kubeconfig names no usable current context", where=str(kubeconfig)
            )
        kubectl = Kubectl(env, cache or kubeconfig.parent / "kubectl-cache", path)
        bound = Cluster(
            name or context.name, str(kubeconfig), context, kubectl, description, current=True
        )
        return cls((bound,))

    @property
    def names(self) -> tuple[str, ...]:
        """The names, in order."""
        return tuple(self._bound)

    def get(self, name: str | None) -> Cluster | Unbound:
        """Return the named cluster; None is allowed when exactly one is bound."""
        known = self.names
        if not known:
            message = self._problem or "no cluster is bound"
            return Unbound("no_cluster", message, (), NO_CLUSTER_REMEDY)
        if name is None and len(known) > 1:
            return Unbound(
                "cluster_ambiguous", f"name the cluster, one of: {', '.join(known)}", known
            )
        wanted = next(iter(self._bound)) if name is None else name
        cluster = self._bound.get(wanted)
        if cluster is None:
            near = difflib.get_close_matches(wanted, known, n=1)
            return Unbound(
                "cluster_not_bound",
                f"no cluster {wanted!r} is bound; bound are: {', '.join(known)}",
                known,
                f"cluster: {near[0]}" if near else "",
            )
        if cluster.problem:
            return Unbound("cluster_unavailable", f"{cluster.name}: {cluster.problem}", known)
        return cluster

    def only(self, name: str) -> Clusters:
        """Return this one cluster alone, for a run that a person bound to it.

        Raises ConfigurationError when it is not bound or cannot be used.
        """
        cluster = self.get(name)
        if isinstance(cluster, Unbound):
            raise ConfigurationError(cluster.message, where="cluster", remedy=cluster.hint)
        return Clusters((cluster,))


def _configured(
    name: str, entry: ClusterSettings, env: Mapping[str, str], kubectl: Kubectl
) -> Cluster:
    value = str(Path(entry.kubeconfig).expanduser()) if entry.kubeconfig else default_files(env)
    context, problem = Context(entry.context or ""), ""
    try:
        config = read_kubeconfig(value)
    except ConfigurationError as error:
        problem = f"{error.where}: {error.message}"
    else:
        found = config.context(entry.context)
        if found is not None:
            context = found
        elif not any(file.exists() for file in config.files):
            problem = f"there is no kubeconfig {value}"
        elif entry.context is None and not config.current:
            problem = f"{value} sets no current context; set clusters.{name}.context"
        else:
            problem = f"{value} has no context {entry.context or config.current!r}"
    return Cluster(
        name,
        value,
        context,
        kubectl,
        entry.description,
        entry.production,
        current=False,
        problem=problem,
        require_read_only=entry.require_read_only,
        debug_jobs=entry.debug_jobs,
        debug_image=entry.debug_image,
        debug_namespace=entry.debug_namespace,
    )


def _contexts(value: str, config: Kubeconfig, kubectl: Kubectl) -> Iterable[Cluster]:
    for context in config.contexts:
        problem = "" if context.server else f"context {context.name!r} names no server"
        yield Cluster(
            context.name,
            value,
            context,
            kubectl,
            current=context.name == config.current,
            problem=problem,
        )
