"""kubectl as one command of a line: the one grammar of `kubectl`, and what a line adds to it.

A line runs as it was written, so what the kubectl tool would add on its own (a bound for logs) is
asked of the line. Output that a pipe takes away is judged too (spec/diagnostics.md 3.7).
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence

from . import kubectl
from .refusal import Refusal

RAW_PATHS = ("/metrics", "/healthz", "/readyz", "/livez", "/version", "/api", "/apis")
"""What `get --raw` may ask, whole; a query may follow."""

_EXACT_FIELD = re.compile(
    r"(?:spec\.nodeName|metadata\.name)={1,2}[A-Za-z0-9][A-Za-z0-9.-]*", re.ASCII
)
_PLAIN_QUERY = re.compile(r"[A-Za-z0-9_=&.%-]*")


def judge(arguments: Sequence[str], *, piped: bool) -> Refusal | None:
    """Return why the command may not run, or None. `piped` says that another stage reads it."""
    if _raw(arguments):
        return None
    read = kubectl.read(arguments)
    if isinstance(read, kubectl.Refusal):
        return Refusal(read.rejected_by, read.matched, read.message, _usable(read.hint, piped))
    for rejected_by, matched, message, instead in _faults(read, piped):
        return Refusal(rejected_by, matched, message, _usable(instead, piped))
    return None


def _usable(line: str, piped: bool) -> str:
    """Return the line if it passes itself, with the bounds that it lacks."""
    if not line:
        return ""
    arguments = shlex.split(line)[1:]
    read = kubectl.read(arguments)
    if isinstance(read, kubectl.Refusal):
        return ""
    arguments = list(read.arguments)
    read = kubectl.read(arguments)
    if isinstance(read, kubectl.Refusal) or any(_faults(read, piped)):
        return ""
    return shlex.join(("kubectl", *arguments))


def _raw(arguments: Sequence[str]) -> bool:
    """Whether this is `get --raw PATH` with one of the paths, in any of its two spellings."""
    rest = list(arguments)
    if rest[:1] != ["get"] or len(rest) not in (2, 3):
        return False
    value = rest[2] if rest[1] == "--raw" and len(rest) == 3 else ""
    if len(rest) == 2 and rest[1].startswith("--raw="):
        value = rest[1][len("--raw=") :]
    path, _, query = value.partition("?")
    return path in RAW_PATHS and _PLAIN_QUERY.fullmatch(query) is not None


_Finding = tuple[str, str, str, str]


def _faults(read: kubectl.KubectlCommand, piped: bool) -> Iterator[_Finding]:
    if read.defaults:
        yield "unbounded", read.verb, f"kubectl {read.verb} needs a bound here", read.line
    whole = next((a for a in read.arguments if a.startswith("--tail=-")), None)
    if whole is not None:
        bounded = read.line.replace(whole, f"--tail={kubectl.DEFAULT_TAIL}")
        yield "unbounded", whole, "the logs would come whole", bounded
    secret = next((kind for kind in read.resources if _secret(kind)), None)
    if secret is not None and piped and read.verb in ("get", "describe"):
        yield "secret_values", secret, "a Secret is not handed to another command", ""
    if not read.all_namespaces:
        return
    fields = _field_selector(read)
    narrow = re.sub(r" (?:-A|--all-namespaces(?:=true)?)(?= |$)", " -n default", read.line)
    if read.verb in ("describe", "events", "top pod") and not (read.selector or fields):
        yield "unbounded", "-A", f"kubectl {read.verb} -A needs a selector", narrow
    exact = fields is not None and _EXACT_FIELD.fullmatch(fields) is not None
    if read.verb == "get" and read.output in ("json", "yaml") and not exact:
        yield (
            "unbounded",
            "-A",
            "whole objects of all namespaces; name one with -n, or a node with"
            " --field-selector spec.nodeName=…",
            re.sub(r" (?:-o (?:json|yaml)|--output=(?:json|yaml))(?= |$)", "", read.line),
        )


def _field_selector(read: kubectl.KubectlCommand) -> str | None:
    flag = "--field-selector="
    return next((a[len(flag) :] for a in reversed(read.arguments) if a.startswith(flag)), None)


def _secret(kind: str) -> bool:
    return kind.split(".")[0] in ("secret", "secrets")
