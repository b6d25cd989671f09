"""What `kubectl exec` answers: a few commands every container knows, and those of an incident.

exec.toml holds `[[command]]` tables with `pod` (namespace/workload or namespace/pod), `argv`,
and optionally `container`, `stdout`, `stderr`, `code`.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

from truepenny.demo.expand.build import Build, Object

Answer = tuple[bytes, bytes, int]
"""Standard output, standard error and exit code."""

_RESOLVER = (
    "search {namespace}.svc.cluster.local svc.cluster.local cluster.local\n"
    "nameserver 10.96.0.10\noptions ndots:5\n"
)


def answer(
    build: Build, table: dict[str, Any], owner: str, pod: Object, container: Object,
    argv: Sequence[str],
) -> Answer | None:  # fmt: skip
    """Return what the command prints, None for a command that the practice world does not know."""
    name, namespace = pod["metadata"]["name"], pod["metadata"]["namespace"]
    for entry in table.get("command", []):
        if (
            entry["pod"] in (owner, f"{namespace}/{name}")
            and entry.get("container", container["name"]) == container["name"]
            and list(argv) == entry["argv"]
        ):
            out, err = (build.names(entry.get(key, "")) for key in ("stdout", "stderr"))
            return out.encode(), err.encode(), entry.get("code", 0)
    command = " ".join(argv)
    if command == "hostname":
        return f"{name}\n".encode(), b"", 0
    if command == "cat /etc/resolv.conf":
        return _RESOLVER.format(namespace=namespace).encode(), b"", 0
    if command in ("env", "printenv"):
        return _environment(build, pod, container).encode(), b"", 0
    return None


def _environment(build: Build, pod: Object, container: Object) -> str:
    namespace, name = pod["metadata"]["namespace"], pod["metadata"]["name"]
    values = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOSTNAME": name}
    for source in container.get("envFrom", []):
        kind = "ConfigMap" if "configMapRef" in source else "Secret"
        reference = source.get("configMapRef") or source["secretRef"]
        values |= _data(build, f"{kind}/{namespace}/{reference['name']}")
    for one in container.get("env", []):
        if "value" in one:
            values[one["name"]] = one["value"]
            continue
        origin = one["valueFrom"]
        for kind, field in (("ConfigMap", "configMapKeyRef"), ("Secret", "secretKeyRef")):
            if field in origin:
                data = _data(build, f"{kind}/{namespace}/{origin[field]['name']}")
                values[one["name"]] = data.get(origin[field]["key"], "")
    return "".join(f"{key}={value}\n" for key, value in values.items())


def _data(build: Build, reference: str) -> dict[str, str]:
    item = build.objects.get(reference, {})
    data: dict[str, str] = item.get("data", {})
    if item.get("kind") == "Secret":
        return {key: base64.b64decode(value).decode() for key, value in data.items()}
    return data
