"""Who the caller is and what they may do: everybody reads, some worlds deny a few things.

A world's `permissions` is `{user, groups, deny}`; each denial is `{resources, verbs?, namespaces?,
groups?, message?}` where an absent list means all. Nobody may write.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from truepenny.demo.server.kind import REVIEW_KINDS, Catalog, Kind
from truepenny.demo.server.status import Refusal
from truepenny.demo.server.target import Target
from truepenny.demo.server.value import Object, listing, text

USER = "practice-viewer"
GROUPS = ("practice:viewers", "system:authenticated")
"""The caller where the world names nobody."""

READ_ONLY = "the practice cluster is read-only"

READING = ("get", "list", "watch")
_EXEC_VERBS = ("get", "create")
"""A WebSocket exec is a GET, the older form a POST."""


@dataclass(frozen=True, slots=True)
class Attributes:
    """One thing somebody wants to do. `resource` is `plural` or `plural/subresource`.

    `path` stands instead of a resource for plain URLs.
    """

    verb: str
    group: str = ""
    resource: str = ""
    namespace: str = ""
    path: str = ""


def _covers(rule: Object, field: str, wanted: str) -> bool:
    listed = listing(rule, field)
    return not listed or "*" in listed or wanted in listed


class Authorizer:
    """Answers from a fixed list of denials."""

    def __init__(self, permissions: Mapping[str, Any] | None = None) -> None:
        told = permissions or {}
        self.user: str = told.get("user") or USER
        self.groups: tuple[str, ...] = tuple(told.get("groups") or GROUPS)
        self._denials: list[Object] = list(told.get("deny") or ())

    @property
    def denies_something(self) -> bool:
        """Say whether the world takes anything away."""
        return bool(self._denials)

    def _denial(self, wanted: Attributes) -> Object | None:
        for rule in self._denials:
            # A denial in one namespace also denies reading across all of them.
            in_place = not wanted.namespace or _covers(rule, "namespaces", wanted.namespace)
            if (
                in_place
                and _covers(rule, "resources", wanted.resource)
                and _covers(rule, "verbs", wanted.verb)
                and _covers(rule, "groups", wanted.group)
            ):
                return rule
        return None

    def allows(self, wanted: Attributes) -> bool:
        """Say whether the caller may do this."""
        if wanted.path:
            return wanted.verb == "get"
        if (wanted.group, wanted.resource) in _REVIEWS and wanted.verb == "create":
            return True
        verbs = _EXEC_VERBS if wanted.resource == "pods/exec" else READING
        return wanted.verb in verbs and self._denial(wanted) is None

    def why_not(self, wanted: Attributes) -> str:
        """Explain a denial in the API server's words."""
        if is_write(wanted):
            return READ_ONLY
        place = f'in the namespace "{wanted.namespace}"' if wanted.namespace else _EVERYWHERE
        said = (
            f'User "{self.user}" cannot {wanted.verb} resource "{wanted.resource}" '
            f'in API group "{wanted.group}" {place}'
        )
        extra = text(self._denial(wanted), "message")
        return f"{said}: {extra}" if extra else said

    def check(self, target: Target) -> None:
        """Raise Refusal 403 unless the caller may do this."""
        kind = target.kind
        # A namespace object counts as lying in itself, so a namespace's reader may get it.
        place = target.name if kind.kind == "Namespace" else target.namespace
        wanted = Attributes(target.verb, kind.group, target.resource, place)
        if self.allows(wanted):
            return
        details: Object = {"kind": kind.plural}
        if target.name:
            details["name"] = target.name
        if kind.group:
            details["group"] = kind.group
        named = f'{kind.resource} "{target.name}"' if target.name else kind.resource
        raise Refusal(403, f"{named} is forbidden: {self.why_not(wanted)}", details=details)

    def rules_in(self, namespace: str, catalog: Catalog) -> tuple[list[Object], list[Object]]:
        """Return the resource and the URL rules that hold in a namespace, as RBAC writes them."""
        rules: list[Object] = [
            {"verbs": ["create"], "apiGroups": [kind.group], "resources": [kind.plural]}
            for kind in REVIEW_KINDS
        ]
        if not self.denies_something:
            exec_rule = {
                "verbs": list(_EXEC_VERBS),
                "apiGroups": [""],
                "resources": ["pods/exec"],
            }
            rules += [{"verbs": list(READING), "apiGroups": ["*"], "resources": ["*"]}, exec_rule]
        else:
            # Rules can only grant, so what is left is listed resource by resource.
            rules += self._remaining(namespace, catalog)
        return rules, [{"verbs": ["get"], "nonResourceURLs": ["*"]}]

    def _remaining(self, namespace: str, catalog: Catalog) -> Iterator[Object]:
        for kind in catalog.kinds:
            for resource, verbs in _resources(kind):
                allowed = [
                    verb
                    for verb in verbs
                    if self.allows(Attributes(verb, kind.group, resource, namespace))
                ]
                if allowed and kind not in REVIEW_KINDS:
                    yield {"verbs": allowed, "apiGroups": [kind.group], "resources": [resource]}


_EVERYWHERE = "at the cluster scope"
_REVIEWS = frozenset((kind.group, kind.plural) for kind in REVIEW_KINDS)


def _resources(kind: Kind) -> Iterator[tuple[str, tuple[str, ...]]]:
    yield kind.plural, kind.verbs
    for name, _, verbs in kind.subresources:
        yield f"{kind.plural}/{name}", verbs


def is_write(wanted: Attributes) -> bool:
    """Say whether this would change something."""
    return wanted.verb not in READING and wanted.resource != "pods/exec"
