"""What is said beside an answer: how complete it is, where it came from, what to do next.

Everything here is a pure function of the command and of what was observed.
"""

from __future__ import annotations

import shlex

from truepenny.command.kubectl import KubectlCommand
from truepenny.execute.capture import Captured
from truepenny.execute.ending import Cause, Outcome
from truepenny.execute.execution import Execution
from truepenny.execute.outcome import Classification
from truepenny.tool.result import Completeness

from .answer import NOTHING_FOUND
from .cluster import Cluster

_TABLES = ("api-resources", "events", "get", "top node", "top pod")
_NAMESPACED = ("describe", "events", "get", "logs", "rollout history", "rollout status", "top pod")
_CLUSTER_WIDE = frozenset(
    (
        *("clusterrole", "clusterroles", "clusterrolebinding", "clusterrolebindings"),
        *("crd", "crds", "customresourcedefinition", "customresourcedefinitions"),
        *("csinode", "csinodes", "ingressclass", "ingressclasses"),
        *("mutatingwebhookconfiguration", "mutatingwebhookconfigurations"),
        *("namespace", "namespaces", "node", "nodes", "no", "ns"),
        *("persistentvolume", "persistentvolumes", "priorityclass", "priorityclasses", "pv"),
        *("runtimeclass", "runtimeclasses", "sc", "storageclass", "storageclasses"),
        *("validatingwebhookconfiguration", "validatingwebhookconfigurations"),
    )
)
"""Types that no namespace holds: naming one beside them would say more than was asked."""

_HINTS = {
    "credential_plugin": "install the credential program that the kubeconfig names",
    "forbidden": "kubectl auth can-i --list",
    "kubeconfig": "repair the kubeconfig of this cluster",
    "metrics_unavailable": "kubectl describe node",
    "no_such_api": "kubectl api-resources",
    "output_format": "use -o json, -o yaml, -o wide or -o name",
    "unauthorized": "renew the credentials of this context",
    "unknown_resource": "kubectl api-resources",
}


def scope(command: KubectlCommand, cluster: Cluster) -> str:
    """Return the namespace an answer is about, in words; "" where there is none."""
    if command.verb not in _NAMESPACED:
        return command.namespace or ""
    if command.resources and all(kind.split(".")[0] in _CLUSTER_WIDE for kind in command.resources):
        return ""
    if command.all_namespaces:
        return "all"
    return command.namespace or cluster.context.namespace


def found_nothing(command: KubectlCommand, execution: Execution) -> bool:
    """Whether a successful read had nothing to show, which is an answer of its own."""
    if command.verb not in (*_TABLES, "describe") or execution.stdout.text.strip():
        return False
    return not execution.stderr.text.strip() or bool(NOTHING_FOUND.search(execution.stderr.text))


def nothing_found(command: KubectlCommand, cluster: Cluster) -> str:
    """Say what was looked for, and where; an empty answer is often one about the wrong place."""
    what = ",".join(command.resources) or {"events": "event"}.get(command.verb, "rows")
    if command.names:
        what += " " + " ".join(command.names)
    if command.selector:
        what += f" with selector {command.selector}"
    namespace = scope(command, cluster)
    where = {"": "", "all": " in all namespaces"}.get(namespace, f" in namespace {namespace}")
    verb = "were shown" if sort_may_hide(command) else "found"
    return f"No resources of type {what} {verb}{where} of cluster {cluster.name}."


def sort_may_hide(command: KubectlCommand) -> bool:
    """Whether an empty answer proves nothing: kubectl says "No resources found" as well when
    no object has the field it should sort by."""
    return any(argument.startswith("--sort-by") for argument in command.arguments)


def completeness(
    command: KubectlCommand, execution: Execution, meaning: Classification
) -> Completeness:
    """Return how much of what was asked for the plain output covers."""
    out = execution.stdout
    if meaning.outcome.failed:
        return _after_failure(command, execution)
    if not execution.drained:
        return Completeness("unknown", "another process kept the output open")
    if meaning.outcome is Outcome.NO_MATCH and sort_may_hide(command):
        return Completeness(
            "unknown",
            "an unknown --sort-by field hides every object",
            next=_without(command, "--sort-by="),
        )
    unit, shown, total = _count(command, out)
    if out.cut:
        return Completeness("partial", "cut in the middle", unit, shown, total, _narrower(command))
    if command.verb == "logs":
        return log_completeness(command, out)
    if unit == "lines":
        return Completeness()
    return Completeness(unit=unit, shown=shown, total=total)


def _after_failure(command: KubectlCommand, execution: Execution) -> Completeness:
    if execution.cause is Cause.TIMEOUT:
        return Completeness("partial", "stopped at the time limit")
    if execution.cause is Cause.OUTPUT_CAP:
        # No limit that a call may ask for is larger.
        next_step = _narrower(command).removesuffix(", or raise max_bytes")
        if command.output in ("json", "yaml"):
            next_step += ", or take a part of it with json_path"
        return Completeness("partial", "it grew larger than is ever read", next=next_step)
    if execution.cause is not None:
        return Completeness("partial", f"stopped by {execution.cause}")
    if execution.stdout.bytes.observed:
        return Completeness("partial", "it failed after some output")
    return Completeness("unknown", "nothing was read")


def _count(command: KubectlCommand, out: Captured) -> tuple[str, int, int]:
    """Return (unit, shown, total): rows of one table or names, else lines."""
    if command.verb not in _TABLES or command.output not in (None, "wide", "name"):
        return "lines", out.kept_lines, out.lines
    if len(command.resources) > 1 or (command.names and not command.resources):
        return "lines", out.kept_lines, out.lines
    headers = 0 if command.output == "name" or "--no-headers" in command.arguments else 1
    unit = command.resources[0] if command.resources else "rows"
    return unit, max(out.kept_lines - headers, 0), max(out.lines - headers, 0)


def log_completeness(command: KubectlCommand, out: Captured) -> Completeness:
    """Doubt a log of exactly as many lines as were asked for: whole and cut look alike."""
    limit = _flag(command, "--limit-bytes")
    if limit.isdecimal() and out.bytes.observed >= int(limit) > 0:
        return Completeness("unknown", "the byte limit was reached", "bytes", out.bytes.observed)
    tail = command.tail
    many = command.selector is not None or any("all-" in flag for flag in command.arguments)
    if tail and (out.lines == tail or (many and out.lines > tail)):
        each = " of a container" if many else ""
        return Completeness(
            "unknown",
            f"{out.lines} lines came back for the last {tail}{each}; older ones may exist",
            "lines",
            out.lines,
            next=_with_tail(command, tail * 5),
        )
    return Completeness(unit="lines", shown=out.lines, total=out.lines)


def _flag(command: KubectlCommand, name: str) -> str:
    prefix = f"{name}="
    return next((a[len(prefix) :] for a in command.arguments if a.startswith(prefix)), "")


def _without(command: KubectlCommand, *prefixes: str) -> str:
    return shlex.join(("kubectl", *(a for a in command.arguments if not a.startswith(prefixes))))


def _with_tail(command: KubectlCommand, tail: int) -> str:
    return f"{_without(command, '--tail=')} --tail={tail}"


def _narrower(command: KubectlCommand) -> str:
    if command.verb == "logs":
        return _with_tail(command, max((command.tail or 200) // 4, 10))
    if command.verb in ("get", "events", "describe") and command.all_namespaces:
        return "ask for one namespace with -n, or raise max_bytes"
    return "narrow it with -n, -l or a name, or raise max_bytes"


def hint(
    command: KubectlCommand, meaning: Classification, cluster: Cluster, *, hidden_events: bool
) -> str:
    """Return what to do next, a command that may run wherever there is one.

    `hidden_events` says that `describe` showed no events, which it also does when it could not
    read them.
    """
    namespace = scope(command, cluster)
    place = f" -n {namespace}" if namespace not in ("", "all") else ""
    if meaning.reason == "forbidden":
        return _HINTS["forbidden"] + place
    if meaning.reason == "no_previous":
        return _without(command, "-p", "--previous")
    if meaning.reason in ("container", "container_waiting") and command.names:
        return f"kubectl describe {command.resources[0]} {command.names[0]}{place}"
    if meaning.reason == "not_found" and command.resources:
        kinds = ",".join(command.resources)
        return f"kubectl get {kinds} -A" if place else f"kubectl get {kinds}"
    if meaning.outcome is Outcome.NO_MATCH and place:
        return f"kubectl get namespace {namespace}"
    if hidden_events and command.names:
        return f"kubectl events --for {command.resources[0]}/{command.names[0]}{place}"
    return _HINTS.get(meaning.reason, "")
