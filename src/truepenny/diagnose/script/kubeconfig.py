"""A kubeconfig of one cluster alone, for a script or a line that runs kubectl itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

from truepenny.diagnose.cluster import Cluster
from truepenny.errors import CouldNotRun
from truepenny.execute.command import CaptureLimits, Command
from truepenny.execute.outcome import classify
from truepenny.execute.process import run as run_process
from truepenny.text.bound import Limits

CONFIG_BYTES = 1024 * 1024
"""One context with its certificates has some 10 KiB."""

CONFIG_SECONDS = 10.0
"""For reading a file and writing another: no server is asked."""

TOKEN_BYTES = 64 * 1024
"""A token is a few kilobytes."""


async def kubeconfig_of(cluster: Cluster) -> str:
    """Return the one context of the cluster, with all it refers to, as the text of a kubeconfig.

    Raises CouldNotRun: kubectl cannot make it, or its credentials come from a program, which is
    not there where the script runs.
    """
    where = f"cluster {cluster.name}"
    if cluster.context.plugin:
        message = f"its credentials come from {cluster.context.plugin}, which a sandbox has not"
        raise CouldNotRun(message, where=where, remedy="Use the kubectl tool instead.")
    execution = await run_process(
        Command(
            argv=(
                cluster.kubectl.find(),
                *cluster.kubectl.arguments(cluster.context.name),
                *("config", "view", "--raw", "--minify", "--flatten", "-o", "json"),
            ),
            env=cluster.environment(),
            timeout=CONFIG_SECONDS,
            limits=CaptureLimits(stdout=Limits(bytes=CONFIG_BYTES)),
        )
    )
    text = execution.stdout.text
    if classify(execution).outcome.failed or execution.stdout.cut or not text.strip():
        failure = execution.failure
        why = failure.message if failure else execution.stderr.text.strip()[:300]
        raise CouldNotRun(
            f"its kubeconfig could not be made: {why or 'kubectl said nothing of use'}", where=where
        )
    try:
        return _with_tokens(text)
    except (ValueError, TypeError, KeyError, OSError) as error:
        # Never the error's own text: it can quote the document.
        kind = type(error).__name__
        raise CouldNotRun(f"its kubeconfig could not be made: {kind}", where=where) from None


def _with_tokens(text: str) -> str:
    """Put the token of a file into the place of its path, which is not there inside."""
    document = json.loads(text)
    for entry in document.get("users") or ():
        user = cast("dict[str, Any]", entry["user"])
        if file := user.pop("tokenFile", ""):
            with Path(file).open("rb") as stream:
                user["token"] = stream.read(TOKEN_BYTES).decode("ascii").strip()
    return json.dumps(document)
