"""The flags of kubectl's read verbs, as data: what takes a value, and what is refused and why.

A flag that is not in this table is refused, so a new kubectl can only make the grammar stricter.
A test derives the same table from the installed kubectl's own help; a missing entry, a wrong short
form or a switch taken for a value fails there.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class FlagRefusal(StrEnum):
    """Why a flag is refused whatever its value (machine words, in `Refusal.rejected_by`)."""

    CONNECTION = "connection_flag"
    """It chooses the server, its trust or the route; the bound cluster alone does."""
    IDENTITY = "identity_flag"
    """It acts as somebody else; identity comes from the binding."""
    LOCAL_FILE = "local_file_flag"
    """It reads or writes files of this machine."""
    RAW = "raw_path"
    """It asks an API path that no rule here can judge."""
    TEMPLATE = "output_template"
    """It prints chosen values, which cannot be redacted by structure."""
    WIRE_LOG = "wire_log_flag"
    """It logs requests and responses, credentials and Secrets among them."""
    UNNEEDED = "flag_not_allowed"
    """Nothing that reading needs."""


WHY: dict[FlagRefusal, str] = {
    FlagRefusal.CONNECTION: "the server is that of the bound cluster; name the cluster instead",
    FlagRefusal.IDENTITY: "the identity is that of the bound cluster",
    FlagRefusal.LOCAL_FILE: "files of this machine are not read or written; name the object",
    FlagRefusal.RAW: "API paths are not asked; name the type of the object",
    FlagRefusal.TEMPLATE: "templates are not used; -o json shows every field",
    FlagRefusal.WIRE_LOG: "requests and responses are not logged",
    FlagRefusal.UNNEEDED: "reading does not need it",
}
"""What a person or a model is told, each with the way that works."""


@dataclass(frozen=True, slots=True)
class Flag:
    """One flag by its long name without dashes. A switch takes no separate value."""

    name: str
    short: str = ""
    switch: bool = False
    refusal: FlagRefusal | None = None


def _values(*names: str, refusal: FlagRefusal | None = None) -> tuple[Flag, ...]:
    return tuple(_flag(name, switch=False, refusal=refusal) for name in names)


def _switches(*names: str, refusal: FlagRefusal | None = None) -> tuple[Flag, ...]:
    return tuple(_flag(name, switch=True, refusal=refusal) for name in names)


def _flag(spelling: str, *, switch: bool, refusal: FlagRefusal | None) -> Flag:
    """Read `name` or `name:s`, where s is the short form."""
    name, _, short = spelling.partition(":")
    return Flag(name, short, switch, refusal)


GLOBAL = (
    *_values("namespace:n", "request-timeout"),
    *_values("as", "as-group", "as-uid", "as-user-extra", refusal=FlagRefusal.IDENTITY),
    *_values("user", "username", "password", "token", refusal=FlagRefusal.IDENTITY),
    *_values("client-certificate", "client-key", refusal=FlagRefusal.IDENTITY),
    *_values("kubeconfig", "context", "cluster", "server:s", refusal=FlagRefusal.CONNECTION),
    *_values("certificate-authority", "tls-server-name", refusal=FlagRefusal.CONNECTION),
    *_values("proxy-url", refusal=FlagRefusal.CONNECTION),
    *_switches("insecure-skip-tls-verify", refusal=FlagRefusal.CONNECTION),
    *_values("cache-dir", "kuberc", "profile-output", refusal=FlagRefusal.LOCAL_FILE),
    *_values("v:v", "vmodule", refusal=FlagRefusal.WIRE_LOG),
    *_values("profile", "log-flush-frequency", refusal=FlagRefusal.UNNEEDED),
    *_switches(
        "disable-compression",
        "match-server-version",
        "warnings-as-errors",
        refusal=FlagRefusal.UNNEEDED,
    ),
)
"""What every verb takes (`kubectl options`)."""

_FILES = (
    *_values("filename:f", "kustomize:k", refusal=FlagRefusal.LOCAL_FILE),
    *_switches("recursive:R", refusal=FlagRefusal.LOCAL_FILE),
)
_PRINTER = (
    *_values("output:o"),
    *_values("template", refusal=FlagRefusal.TEMPLATE),
    *_switches("allow-missing-template-keys", refusal=FlagRefusal.TEMPLATE),
    *_switches("show-managed-fields"),
)


def _verb(*groups: Iterable[Flag]) -> tuple[Flag, ...]:
    return tuple(flag for group in groups for flag in group)


VERBS: dict[str, tuple[Flag, ...]] = {
    "get": _verb(
        _PRINTER,
        _FILES,
        _values("chunk-size", "field-selector", "label-columns:L", "selector:l"),
        _values("sort-by", "subresource"),
        _values("raw", refusal=FlagRefusal.RAW),
        _switches("all-namespaces:A", "ignore-not-found", "no-headers", "server-print"),
        _switches("show-kind", "show-labels", "watch:w", "watch-only"),
        _switches("output-watch-events", refusal=FlagRefusal.UNNEEDED),
    ),
    "describe": _verb(
        _FILES,
        _values("chunk-size", "selector:l"),
        _switches("all-namespaces:A", "show-events"),
    ),
    "logs": _verb(
        _values("container:c", "limit-bytes", "max-log-requests", "pod-running-timeout"),
        _values("selector:l", "since", "since-time", "tail"),
        _switches("all-containers", "all-pods", "follow:f", "ignore-errors", "prefix"),
        _switches("previous:p", "timestamps"),
        _switches("insecure-skip-tls-verify-backend", refusal=FlagRefusal.CONNECTION),
    ),
    "top pod": _verb(
        _values("field-selector", "selector:l", "sort-by"),
        _switches("all-namespaces:A", "containers", "no-headers", "show-swap", "sum"),
        _switches("use-protocol-buffers", refusal=FlagRefusal.UNNEEDED),
    ),
    "top node": _verb(
        _values("selector:l", "sort-by"),
        _switches("no-headers", "show-capacity", "show-swap"),
        _switches("use-protocol-buffers", refusal=FlagRefusal.UNNEEDED),
    ),
    "events": _verb(
        _PRINTER,
        _values("chunk-size", "for", "types"),
        _switches("all-namespaces:A", "no-headers", "watch:w"),
    ),
    "explain": _verb(
        _values("api-version", "max-depth", "output:o"),
        _switches("recursive:R"),
    ),
    "api-resources": _verb(
        _values("api-group", "categories", "output:o", "sort-by", "verbs"),
        _switches("cached", "namespaced", "no-headers", "show-managed-fields"),
    ),
    "api-versions": (),
    "version": _verb(_values("output:o"), _switches("client")),
    "cluster-info": (),
    "auth can-i": _verb(
        _values("subresource"),
        _switches("all-namespaces:A", "list", "no-headers", "quiet:q"),
    ),
    "auth whoami": _PRINTER,
    "rollout history": _verb(_PRINTER, _FILES, _values("revision", "selector:l")),
    "rollout status": _verb(
        _FILES,
        _values("revision", "selector:l", "timeout"),
        _switches("watch:w"),
    ),
}
"""The read verbs, each with its own flags. A verb of two words has a family in front."""

FAMILIES: dict[str, dict[str, str]] = {
    "top": {
        "pod": "pod",
        "pods": "pod",
        "po": "pod",
        "node": "node",
        "nodes": "node",
        "no": "node",
    },
    "auth": {"can-i": "can-i", "whoami": "whoami"},
    "rollout": {"history": "history", "status": "status"},
}
"""Families, with the spellings kubectl takes for each of their read verbs."""

LIVE_FLAGS = ("watch", "watch-only", "follow")
"""Switches that keep a command running until somebody stops it."""

OUTPUTS = ("json", "yaml", "wide", "name")
"""Output formats whose content can be judged and redacted (spec/field.md B3)."""

EXPLAIN_OUTPUTS = ("plaintext", "plaintext-openapiv2")

SECRET_OUTPUTS = (None, "wide", "name")
"""Output formats that show no value of a Secret."""
