"""Checks of the way to clusters: the program, the kubeconfig, and an answer from each server."""

from __future__ import annotations

import json
from typing import Any

from truepenny.diagnose.cluster import NO_CLUSTER_REMEDY, Clusters
from truepenny.diagnose.cluster_list import cluster_list_tool
from truepenny.diagnose.kubectl_program import REMEDY, Kubectl
from truepenny.errors import TruepennyError
from truepenny.execute.command import Command
from truepenny.execute.process import run
from truepenny.system.scratch import scratch_folder
from truepenny.text.redact import Redactor
from truepenny.tool.admission import Admission, Policy
from truepenny.tool.contract import CallContext
from truepenny.tool.invoke import invoke
from truepenny.tool.registry import Registry

from .check import Finding, Level, Surroundings, fail, ok, unknown, warn

PROGRAM_SECONDS = 10.0

RULES_SHOWN = 3
"""Enough to see what kind of credential it is; `cluster_list` has more."""

READ_ONLY_REMEDY = (
    "Bind a credential with get, list and watch alone, such as one of ClusterRole `view`; "
    "clusters.NAME.require_read_only = true refuses any other."
)


async def kubectl(around: Surroundings) -> list[Finding]:
    """The program is there, runs, and says its version."""
    loaded = around.loaded
    path = None if isinstance(loaded, TruepennyError) else loaded.settings.kubectl.path
    program = Kubectl(around.env, around.directories.cache / "kubectl", path)
    argv = (program.find(), "version", "--client", "-o", "json")
    done = await run(
        Command(argv, program.environment("/dev/null", plugin=False), timeout=PROGRAM_SECONDS)
    )
    if done.failure is not None:
        return fail(f"{argv[0]}: {done.failure.message}", REMEDY)
    try:
        version = json.loads(done.stdout.text)["clientVersion"]["gitVersion"]
    except (ValueError, KeyError, TypeError):
        return unknown(f"{argv[0]} did not say its version", REMEDY)
    return ok(f"{version} at {argv[0]}")


async def clusters(around: Surroundings) -> list[Finding]:
    """Each bound cluster answers the question for its version."""
    loaded = around.loaded
    if isinstance(loaded, TruepennyError):
        return unknown("the settings cannot be read", "Mend them first.")
    bound = Clusters.from_settings(loaded.settings, around.env, around.directories)
    if not bound.names and around.env.get("KUBECONFIG"):
        return fail(f"KUBECONFIG={around.env['KUBECONFIG']} binds none", NO_CLUSTER_REMEDY)
    if not bound.names:
        return warn("none is bound: the practice cluster is used", NO_CLUSTER_REMEDY)
    with scratch_folder("doctor") as scratch:
        context = CallContext("", "", "doctor", scratch, Redactor())
        tools = Registry([cluster_list_tool(bound)])
        done = await invoke("cluster_list", {"probe": True}, context, tools, Admission(Policy()))
    listed: list[dict[str, Any]] = json.loads(done.result.text)["clusters"]
    return [_answered(entry) for entry in listed]


def _writes(answered: str, entry: dict[str, Any]) -> Finding:
    can_write: dict[str, Any] = entry.get("can_write", {"answer": "unknown", "why": "not asked"})
    match can_write["answer"]:
        case "no":
            where = f"cannot write in namespace {can_write['namespace']}"
            return Finding(Level.OK, f"{answered}; the credential {where}")
        case "yes":
            rules: list[str] = can_write["rules"]
            more = len(rules) - RULES_SHOWN + can_write.get("more_rules", 0)
            which = "; ".join(rules[:RULES_SHOWN]) + (f"; and {more} more" if more > 0 else "")
            return Finding(
                Level.WARN, f"{answered}; the credential can write: {which}", READ_ONLY_REMEDY
            )
        case _:
            why = f"whether the credential can write is unknown: {can_write['why']}"
            return Finding(Level.WARN, f"{answered}; {why}", READ_ONLY_REMEDY)


def _answered(entry: dict[str, Any]) -> Finding:
    name, server = entry["name"], entry.get("api_server", "")
    if entry.get("problem"):
        return Finding(Level.FAIL, f"{name}: {entry['problem']}", "Mend its kubeconfig.")
    match entry.get("reachable"):
        case True:
            return _writes(f"{name}: {entry.get('server_version', '')} at {server}", entry)
        case False:
            why = entry.get("probe_error") or entry.get("probe_reason")
            return Finding(Level.FAIL, f"{name} at {server}: {why}", "Check address and network.")
        case _:
            why = entry.get("probe_error") or entry.get("probe_reason")
            return Finding(Level.UNKNOWN, f"{name} at {server}: {why}", "Ask it with kubectl.")
