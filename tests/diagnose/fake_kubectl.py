"""A stand-in for kubectl: a real program that does what a test tells it, and notes how it ran."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from truepenny.diagnose.cluster import Cluster
from truepenny.diagnose.cluster_kubeconfig import Context
from truepenny.diagnose.kubectl_program import Kubectl

_PROGRAM = """#!{python} -IS
import json, os, sys
with open({seen!r}, "a", encoding="utf-8") as file:
    file.write(json.dumps({{"argv": sys.argv[1:], "env": dict(os.environ)}}) + "\\n")
{body}
"""


@dataclass(frozen=True)
class FakeKubectl:
    """One such program in a folder of the test."""

    folder: Path

    @property
    def path(self) -> Path:
        return self.folder / "kubectl"

    def does(self, body: str) -> FakeKubectl:
        """Set what it does: Python statements."""
        seen = str(self.folder / "seen.jsonl")
        text = _PROGRAM.format(python=sys.executable, seen=seen, body=body)
        # A new file each time: one that is being executed cannot be written.
        fresh = self.folder / "kubectl.new"
        fresh.write_text(text, encoding="utf-8")
        fresh.chmod(0o755)
        fresh.rename(self.path)
        return self

    def says(self, out: str = "", err: str = "", code: int = 0) -> FakeKubectl:
        """Make it print and end."""
        return self.does(
            f"sys.stdout.write({out!r}); sys.stderr.write({err!r}); sys.stdout.flush(); "
            f"sys.stderr.flush(); sys.exit({code})"
        )

    @property
    def calls(self) -> list[dict[str, Any]]:
        """How it was called, oldest first: `argv` and `env`."""
        try:
            lines = (self.folder / "seen.jsonl").read_text(encoding="utf-8").splitlines()
        except FileNotFoundError:
            return []
        return [json.loads(line) for line in lines]

    def cluster(self, name: str = "one", **changes: Any) -> Cluster:
        """Return a cluster that is read with it."""
        env = changes.pop("env", {"PATH": os.defpath, "HOME": str(self.folder), "SECRET": "x"})
        kubectl = Kubectl(env, self.folder / "cache", str(self.path))
        context = changes.pop("context", Context(f"{name}-context", server="api.example:6443"))
        return Cluster(name, str(self.folder / "kubeconfig"), context, kubectl, **changes)
