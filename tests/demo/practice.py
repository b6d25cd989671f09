"""What the practice cluster's tests share: the real kubectl, raw HTTPS, and a small world."""

from __future__ import annotations

import http.client
import json
import os
import shutil
import ssl
import subprocess
import sys
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from truepenny.demo.cluster import PracticeCluster
from truepenny.demo.host.machine import Machine

CALL_LIMIT = 30.0


def binaries() -> list[str]:
    """Return the kubectl of the environment and the one on PATH, each once."""
    beside = Path(sys.executable).with_name("kubectl")
    found = [str(beside)] if beside.exists() else []
    elsewhere = shutil.which("kubectl", path=os.environ.get("PATH", ""))
    if elsewhere and Path(elsewhere).resolve() != beside.resolve():
        found.append(elsewhere)
    return found


@dataclass
class Kubectl:
    """Calls one kubectl against one cluster, with a private home and cache."""

    cluster: PracticeCluster
    home: Path
    binary: str

    def __call__(self, *args: str, limit: float = CALL_LIMIT) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self.binary, *args],
            env=self.env,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=limit,
            stdin=subprocess.DEVNULL,
            check=False,
        )

    @property
    def env(self) -> dict[str, str]:
        return {
            "HOME": str(self.home),
            "KUBECACHEDIR": str(self.home / "cache"),
            "KUBECONFIG": str(self.cluster.kubeconfig),
            "PATH": "/usr/bin:/bin",
        }

    def ok(self, *args: str) -> str:
        done = self(*args)
        assert done.returncode == 0, (args, done.stderr)
        return done.stdout

    def json(self, *args: str) -> Any:
        return json.loads(self.ok(*args, "-o", "json"))

    def all(self, calls: Iterable[Sequence[str]]) -> list[subprocess.CompletedProcess[str]]:
        """Run read calls side by side and return their results in order."""
        with ThreadPoolExecutor(4) as pool:
            return list(pool.map(lambda call: self(*call), calls))


def rows(table: str) -> list[list[str]]:
    """Split a printed table into cells (two or more blanks apart), without its header."""
    import re

    return [re.split(r" {2,}", line.strip()) for line in table.splitlines()[1:] if line.strip()]


@dataclass
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


def connect(cluster: PracticeCluster, timeout: float = 10) -> http.client.HTTPSConnection:
    address = urlsplit(cluster.url)
    trust = ssl.create_default_context(cadata=cluster.certificate.decode())
    host, port = address.hostname, address.port
    assert host
    return http.client.HTTPSConnection(host, port, timeout=timeout, context=trust)


def fetch(
    cluster: PracticeCluster,
    path: str,
    *,
    method: str = "GET",
    body: bytes | None = None,
    accept: str = "application/json",
    token: str | None = None,
    timeout: float = 10,
) -> Answer:
    connection = connect(cluster, timeout)
    given = cluster.token if token is None else token
    headers = {"Accept": accept, "Authorization": f"Bearer {given}"}
    try:
        connection.request(method, path, body=body, headers=headers)
        response = connection.getresponse()
        found = {name.lower(): value for name, value in response.getheaders()}
        return Answer(response.status, found, response.read())
    finally:
        connection.close()


def make(kind: str, name: str, api: str = "v1", namespace: str = "shop", **parts: Any) -> Any:
    """Build an object; `namespace=""` for a cluster-scoped one."""
    metadata: dict[str, Any] = {"name": name, "creationTimestamp": "2026-01-01T00:00:00Z"}
    if namespace:
        metadata["namespace"] = namespace
    metadata |= parts.pop("metadata", {})
    return {"apiVersion": api, "kind": kind, "metadata": metadata, **parts}


@dataclass
class SmallWorld:
    """A world made in a test."""

    objects: list[Any] = field(default_factory=list[Any])
    metrics: dict[str, Any] = field(default_factory=dict[str, Any])
    permissions: dict[str, Any] = field(default_factory=dict[str, Any])
    hosts: tuple[Machine, ...] = ()
    written: dict[tuple[str, bool], str] = field(default_factory=dict[tuple[str, bool], str])
    """(container, previous) -> log"""
    commands: dict[str, tuple[bytes, bytes, int]] = field(
        default_factory=dict[str, tuple[bytes, bytes, int]]
    )

    def logs(self, namespace: str, pod: str, container: str, previous: bool) -> str | None:
        return self.written.get((container, previous))

    def exec(
        self, namespace: str, pod: str, container: str, argv: Sequence[str]
    ) -> tuple[bytes, bytes, int] | None:
        return self.commands.get(" ".join(argv))
