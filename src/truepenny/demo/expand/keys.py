"""Which keys each piece of shorthand knows. A misspelt key would silently tell another story."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import Any

from truepenny.errors import ConfigurationError


def _words(*lines: str) -> frozenset[str]:
    return frozenset(" ".join(lines).split())


TEMPLATE = _words(
    "labels template_annotations service_account node_selector containers init tolerations",
    "priority_class pull_secrets host_network",
)
KNOWN = {
    "world": _words(
        "nodes namespaces workloads jobs cronjobs gangs services objects static events"
    ),
    "node": _words(
        "role address cpu memory pods disk zone age labels taints cordoned conditions heard"
    ),
    "workload": TEMPLATE
    | _words(
        "kind replicas age annotations strategy revisions rollout down pod pods claims",
        "refused refused_since refusals",
    ),
    "job": TEMPLATE
    | _words(
        "age backoff_limit deadline app node pods state reason message ended took",
        "at schedule suspend",  # of the cron job whose run it is
    ),
    "gang": TEMPLATE | _words("queue min age phase message since replicas pods"),
    "helm": _words(
        "chart version app_version revision status description values templates updated"
    ),
    "cronjob": TEMPLATE | _words("age schedule suspend took runs"),
    "static pod": TEMPLATE | _words("node component"),
    "service": _words("selector ports type headless age labels address balancer"),
    "container": _words(
        "image command args port ports env env_from requests limits readiness liveness startup",
        "mounts pull security",
    ),
    "pod": _words(
        "age node states init revision unschedulable tries reason evicted message deleting",
        "unready_since lost claims",
    ),
    "state": _words(
        "running ready started restarts last failing failing_since failing_last backoff",
        "pull tries last_try config waiting message terminated",
    ),
    "permissions": _words("user groups namespaces write deny identities"),
    "identity": _words("user groups namespaces write deny"),
    "denial": _words("resources verbs namespaces groups message"),
    "hosts": _words("hosts"),
    "host": _words("name address jump user description command"),
    "host command": _words("line stdout stderr code stages"),
    "event": _words("about type reason from container count first last message"),
}


def check(piece: str, keys: Iterable[str], where: str) -> None:
    """Raise ConfigurationError for a key that this piece of shorthand does not know."""
    known = KNOWN[piece]
    for key in keys:
        if key not in known:
            near = difflib.get_close_matches(key, known, n=1)
            remedy = f"Did you mean {near[0]}?" if near else f"Known: {', '.join(sorted(known))}."
            raise ConfigurationError(f"unknown {piece} key {key!r}", where=where, remedy=remedy)


def check_permissions(table: Mapping[str, Any]) -> None:
    """Raise ConfigurationError for a key in permissions.toml that would silently mean nothing."""
    check("permissions", table, "permissions.toml")
    others: Mapping[str, Any] = table.get("identities", {})
    for name, identity in others.items():
        check("identity", identity, f"identities.{name}")
    for identity in (table, *others.values()):
        for denial in identity.get("deny", ()):
            check("denial", denial, "permissions.toml deny")
