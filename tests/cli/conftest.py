"""A person's account: a home of its own, in which the real program is run as a process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.peers.model_server import KEY, ModelServer

DEAD_KUBECONFIG = """\
apiVersion: v1
kind: Config
current-context: dead
clusters: [{name: dead, cluster: {server: "http://127.0.0.1:9"}}]
users: [{name: nobody, user: {}}]
contexts: [{name: dead, context: {cluster: dead, user: nobody}}]
"""


class Account:
    """Runs commands in a home; nothing of the surrounding environment leaks in but PATH."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.tree = home / "truepenny"
        self.env = {
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "HOME": str(home),
            "TRUEPENNY_HOME": str(self.tree),
            "LANG": "C.UTF-8",
            "PYTHONWARNINGS": "error",
        }
        self.toml = ""

    def configure(self, toml: str) -> None:
        """Add settings."""
        self.toml += toml
        folder = self.tree / "config"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "truepenny.toml").write_text(self.toml, encoding="utf-8")

    def use_server(self, server: ModelServer, name: str = "peer") -> None:
        """Make the peer's model the default, and bind a cluster that does not answer."""
        self.configure(
            f'[model]\ndefault = "{name}/m"\n[providers.{name}]\nwire = "openai_chat"\n'
            f'base_url = "{server.url}/v1"\napi_key = "{KEY}"\n[providers.{name}.models.m]\n'
        )
        self.use_dead_cluster()

    def use_dead_cluster(self) -> None:
        """Bind a cluster whose server refuses connections."""
        path = self.home / "dead-kubeconfig"
        path.write_text(DEAD_KUBECONFIG, encoding="utf-8")
        self.env["KUBECONFIG"] = str(path)

    def argv(self, arguments: Sequence[str]) -> list[str]:
        return [sys.executable, "-m", "truepenny", *arguments]

    def run(
        self,
        *arguments: str,
        stdin: bytes | int = subprocess.DEVNULL,
        env: Mapping[str, str] | None = None,
        wrap: Sequence[str] = (),
    ) -> subprocess.CompletedProcess[str]:
        """Run one command to its end."""
        given: dict[str, Any] = {"input": stdin} if isinstance(stdin, bytes) else {"stdin": stdin}
        done = subprocess.run(
            [*wrap, *self.argv(arguments)],
            cwd=self.home,
            env={**self.env, **(env or {})},
            capture_output=True,
            timeout=60,
            **given,
        )  # fmt: skip
        return subprocess.CompletedProcess(
            done.args, done.returncode, done.stdout.decode(), done.stderr.decode()
        )

    def start(self, *arguments: str, **options: Any) -> subprocess.Popen[bytes]:
        """Start one command."""
        return subprocess.Popen(
            self.argv(arguments), cwd=self.home, env=self.env, stdin=subprocess.DEVNULL, **options
        )

    def json(self, *arguments: str) -> Any:
        """Run a command that prints one JSON object."""
        return json.loads(self.run(*arguments).stdout)


@pytest.fixture
def account(tmp_path: Path) -> Account:
    return Account(tmp_path)
