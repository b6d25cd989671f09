"""Whether the credential of a cluster can change it, read from `kubectl auth can-i --list`.

The server's answer covers the rules of the whole cluster and of one namespace. Bindings in other
namespaces are not in it, so a "no" always goes with its namespace.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal

QUESTION = ("auth", "can-i", "--list", "--no-headers")

QUESTION_BYTES = 256 * 1024
"""A credential with more rules than fit is one whose answer stays unknown."""

MAX_SHOWN = 20
"""Rules that are named; an administrator of many APIs has hundreds, and few make the point."""

_READ_VERBS = frozenset(("get", "head", "list", "watch"))

_REVIEWS = frozenset(
    (
        "selfsubjectaccessreviews.authorization.k8s.io",
        "selfsubjectrulesreviews.authorization.k8s.io",
        "selfsubjectreviews.authentication.k8s.io",
    )
)
"""Created to ask who one is and what one may do; nothing of them is kept."""

_REACHING = frozenset(
    (
        *("pods/attach", "pods/exec", "pods/portforward", "pods/proxy"),
        *("nodes/proxy", "services/proxy"),
        *("*", "*.*"),
    )
)
"""`get` on these opens a channel into something that runs: reading by its verb alone.
A star covers subresources too."""

_RULE = re.compile(
    r"(?P<resource>\S*)\s+\[(?P<urls>[^\]]*)\]\s+\[(?P<names>[^\]]*)\]\s+\[(?P<verbs>[^\]]*)\]\s*"
)


@dataclass(frozen=True, slots=True)
class CanWrite:
    """The answer. `rules` are `VERBS RESOURCE` lines that make it `yes`; `why` goes with
    `unknown`; `namespace` is the one whose bindings were looked at."""

    answer: Literal["yes", "no", "unknown"]
    namespace: str
    rules: tuple[str, ...] = ()
    why: str = ""

    @property
    def detail(self) -> dict[str, Any]:
        """The answer as facts; a cut of the rules is told by `more_rules`."""
        made: dict[str, Any] = {"answer": self.answer, "namespace": self.namespace}
        if self.rules:
            made["rules"] = list(self.rules[:MAX_SHOWN])
        if len(self.rules) > MAX_SHOWN:
            made["more_rules"] = len(self.rules) - MAX_SHOWN
        if self.why:
            made["why"] = self.why
        return made


def read_rules(text: str, namespace: str) -> CanWrite:
    """Read the rules, one a line. One that writes settles it; a line that is no rule, a warning
    that the list is incomplete for one, leaves a list without such a rule unknown."""
    writing: list[str] = []
    strange = ""
    seen = False
    for line in text.splitlines():
        if not line.strip():
            continue
        found = _RULE.fullmatch(line)
        if found is None:
            strange = strange or line.strip()[:200]
            continue
        seen = True
        resource, verbs = found["resource"], found["verbs"].split()
        changing = [verb for verb in verbs if _changes(verb, resource)]
        if changing:
            target = resource or found["urls"]
            names = f" named {found['names']}" if found["names"] else ""
            writing.append(f"{','.join(changing)} {target}{names}")
    if writing:
        return CanWrite("yes", namespace, tuple(writing))
    if strange:
        return CanWrite("unknown", namespace, why=f"not a list of rules alone: {strange}")
    if not seen:
        return CanWrite("unknown", namespace, why="the list of rules is empty")
    return CanWrite("no", namespace)


def _changes(verb: str, resource: str) -> bool:
    if verb in _READ_VERBS:
        return resource in _REACHING or resource.endswith("/*") or resource.startswith("*/")
    return not (verb == "create" and resource in _REVIEWS)
