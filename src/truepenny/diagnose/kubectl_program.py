"""The kubectl program: which one, in what surroundings.

It gets the kubeconfig of one cluster and little else: no file of the user's home steers it (its
preference file is switched off) and its cache is ours. A context whose credentials come from a
program (a cloud's login helper) is the exception: that program needs the user's home, and the
variables of `PLUGIN_PREFIXES`.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

REMEDY = "Install kubectl, or `pip install 'truepenny[kubectl]'`, or set kubectl.path."

PASSED_ON = (
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "NO_PROXY",
    "https_proxy",
    "http_proxy",
    "no_proxy",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "TMPDIR",
)
"""Without these a server behind a proxy or a private authority is not reachable."""

PLUGIN_PREFIXES = (
    "AAD_",
    "AWS_",
    "AZURE_",
    "CLOUDSDK_",
    "DIGITALOCEAN_",
    "GOOGLE_",
    "OCI_",
    "TELEPORT_",
    "USE_GKE_",
    "XDG_",
)
"""Variables that the usual credential programs read."""

_NO_HOME = "/nonexistent"


@dataclass(frozen=True, slots=True)
class Kubectl:
    """Where kubectl is and what it may see. `path` None looks it up; `cache` is a folder of ours.

    A `cache` that cannot be made or written costs speed alone.
    """

    env: Mapping[str, str]
    cache: Path
    path: str | None = None

    def find(self) -> str:
        """Return the program: the setting, else PATH, else the one installed beside Python.

        The result may not exist; starting it says so.
        """
        if self.path is not None:
            return os.path.expanduser(self.path)
        found = shutil.which("kubectl", path=self.env.get("PATH", os.defpath))
        if found is not None:
            return found
        beside = Path(sys.executable).with_name("kubectl")
        return str(beside) if beside.is_file() else "kubectl"

    def arguments(self, context: str) -> tuple[str, ...]:
        """Return the arguments that fix the context and keep the cache out of the user's home."""
        return ("--context", context, f"--cache-dir={self.cache}")

    def environment(self, kubeconfig: str, *, plugin: bool) -> dict[str, str]:
        """Return the whole environment of a kubectl for one cluster."""
        env = {
            "PATH": self.env.get("PATH", os.defpath),
            "HOME": _NO_HOME,
            "LANG": "C.UTF-8",
            "KUBECONFIG": kubeconfig,
            "KUBECTL_KUBERC": "false",
        }
        names = set(PASSED_ON)
        if plugin:
            names |= {"HOME", "USER", "LOGNAME"}
            names |= {name for name in self.env if name.startswith(PLUGIN_PREFIXES)}
        return env | {name: self.env[name] for name in names if name in self.env}
