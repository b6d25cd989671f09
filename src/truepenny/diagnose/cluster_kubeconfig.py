"""What a kubeconfig says about its contexts. Credentials are looked past, never kept.

Several files are one kubeconfig, as for kubectl: the first file that names a thing defines it, and
files that are not there are passed over.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

from truepenny.errors import ConfigurationError

MAX_BYTES = 4 * 1024 * 1024
"""A kubeconfig is kilobytes, with embedded certificates tens of them; this is another file."""


@dataclass(frozen=True, slots=True)
class Context:
    """One context, resolved. `server` is host and port; `plugin` a credential program it runs."""

    name: str
    cluster: str = ""
    user: str = ""
    namespace: str = "default"
    server: str = ""
    plugin: str = ""


@dataclass(frozen=True, slots=True)
class Kubeconfig:
    """All contexts of one KUBECONFIG value, and the current one ("" if none is set)."""

    files: tuple[Path, ...]
    contexts: tuple[Context, ...] = ()
    current: str = ""

    def context(self, name: str | None) -> Context | None:
        """Return a context by name; None means the current one."""
        wanted = self.current if name is None else name
        return next((context for context in self.contexts if context.name == wanted), None)


def default_files(env: Mapping[str, str]) -> str:
    """Return the KUBECONFIG value that kubectl would use."""
    return env.get("KUBECONFIG") or str(Path(env.get("HOME", "/nonexistent"), ".kube", "config"))


def read_kubeconfig(value: str) -> Kubeconfig:
    """Read a KUBECONFIG value (files joined by `:`).

    No file there at all gives no contexts. Raises ConfigurationError for a file that is there and
    cannot be read: unreadable is not absent.
    """
    files = tuple(Path(part) for part in value.split(os.pathsep) if part)
    contexts: dict[str, dict[str, Any]] = {}
    clusters: dict[str, dict[str, Any]] = {}
    users: dict[str, dict[str, Any]] = {}
    current = ""
    for file in files:
        document = _document(file)
        _collect(contexts, document, "contexts", "context", file)
        _collect(clusters, document, "clusters", "cluster", file)
        _collect(users, document, "users", "user", file)
        current = current or _text(document, "current-context")
    resolved = tuple(
        _resolve(name, context, clusters, users) for name, context in sorted(contexts.items())
    )
    return Kubeconfig(files, resolved, current)


def _document(file: Path) -> dict[str, Any]:
    import yaml

    try:
        if stat.S_ISFIFO(file.stat().st_mode):
            # It would be waited for, and what is read here kubectl would miss.
            raise _unreadable(file, "it is a pipe")
        with file.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        raise _unreadable(file, error.strerror or str(error)) from error
    if len(data) > MAX_BYTES:
        raise _unreadable(file, f"it has more than {MAX_BYTES} bytes")
    try:
        document = yaml.safe_load(data)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        # The error's own text can quote the file, credentials included: only the place is told.
        mark = getattr(error, "problem_mark", None)
        place = f" at line {mark.line + 1}, column {mark.column + 1}" if mark is not None else ""
        raise _unreadable(file, f"it is not YAML{place}") from None
    if document is None:
        return {}
    if not isinstance(document, dict):
        raise _unreadable(file, "it is not a mapping")
    return cast("dict[str, Any]", document)


def _collect(
    into: dict[str, dict[str, Any]], document: dict[str, Any], key: str, inner: str, file: Path
) -> None:
    entries: Any = document.get(key) or []
    if not isinstance(entries, list):
        raise _unreadable(file, f"`{key}` is not a list")
    for entry in cast("list[Any]", entries):
        if isinstance(entry, dict):
            named = cast("dict[str, Any]", entry)
            body = named.get(inner)
            name = _text(named, "name")
            if name:
                usable = cast("dict[str, Any]", body) if isinstance(body, dict) else {}
                into.setdefault(name, usable)


def _resolve(
    name: str,
    context: dict[str, Any],
    clusters: dict[str, dict[str, Any]],
    users: dict[str, dict[str, Any]],
) -> Context:
    cluster, user = _text(context, "cluster"), _text(context, "user")
    credentials = users.get(user, {})
    plugin = credentials.get("exec")
    program = _text(cast("dict[str, Any]", plugin), "command") if isinstance(plugin, dict) else ""
    if not program and "auth-provider" in credentials:
        program = "auth-provider"
    return Context(
        name,
        cluster,
        user,
        _text(context, "namespace") or "default",
        _host(_text(clusters.get(cluster, {}), "server")),
        program,
    )


def _host(server: str) -> str:
    """Return host and port alone: a path or user information can hold a secret.

    An address that is none gives an empty string, as one that is missing.
    """
    try:
        return urlsplit(server).netloc.rpartition("@")[2]
    except ValueError:
        return ""


def _text(mapping: dict[str, Any], key: str) -> str:
    value = mapping.get(key)
    return value if isinstance(value, str) else ""


def _unreadable(file: Path, why: str) -> ConfigurationError:
    return ConfigurationError(
        f"the kubeconfig cannot be read: {why}",
        where=str(file),
        remedy="Repair the file, or name another one with KUBECONFIG or clusters.NAME.kubeconfig.",
    )
