"""Who the caller is and what they may do: everybody reads, some worlds deny a few things.

An identity is `{user, groups, namespaces?, write?, deny}`: `namespaces` are the only ones it has
any right in, and then it has none on what lies in no namespace; `write` lets it change things as
far as its rights go. Each denial is `{resources, verbs?, namespaces?, groups?, message?}` where an
absent list means all. A world's `permissions` is one identity, the default one, with more by name
under `identities`. Whatever the rights say, the practice cluster itself changes nothing.
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
WRITING = ("create", "delete", "deletecollection", "patch", "update")
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


def _denies(rule: Object, field: str, wanted: str) -> bool:
    # Whoever asks for everything at once has not got it when a part is denied.
    return wanted == "*" or _covers(rule, field, wanted)


class Authorizer:
    """Answers for one identity from its fixed rights."""

    def __init__(self, permissions: Mapping[str, Any] | None = None) -> None:
        told = permissions or {}
        self.user: str = told.get("user") or USER
        self.groups: tuple[str, ...] = tuple(told.get("groups") or GROUPS)
        self._denials: list[Object] = list(told.get("deny") or ())
        self._namespaces: tuple[str, ...] | None = (
            tuple(told["namespaces"]) if "namespaces" in told else None
        )
        self._verbs = (*READING, *WRITING) if told.get("write") else READING

    @property
    def home(self) -> str:
        """Return the namespace that a context of this identity names; empty for none."""
        return self._namespaces[0] if self._namespaces else ""

    def _denial(self, wanted: Attributes) -> Object | None:
        for rule in self._denials:
            # A denial in one namespace also denies reading across all of them.
            in_place = not wanted.namespace or _covers(rule, "namespaces", wanted.namespace)
            if (
                in_place
                and _denies(rule, "resources", wanted.resource)
                and _denies(rule, "verbs", wanted.verb)
                and _denies(rule, "groups", wanted.group)
            ):
                return rule
        return None

    def _reaches(self, namespace: str) -> bool:
        return self._namespaces is None or namespace in self._namespaces

    def allows(self, wanted: Attributes) -> bool:
        """Say whether the caller has the right to do this."""
        if wanted.path:
            return wanted.verb == "get"
        if (wanted.group, wanted.resource) in _REVIEWS and wanted.verb == "create":
            return True
        verbs = (*self._verbs, *_EXEC_VERBS) if wanted.resource == "pods/exec" else self._verbs
        # `*` asks for every verb, and a reader has not got them all.
        able = wanted.verb in verbs or (wanted.verb == "*" and WRITING[0] in self._verbs)
        return able and self._reaches(wanted.namespace) and self._denial(wanted) is None

    def why_not(self, wanted: Attributes) -> str:
        """Explain a denial in the API server's words."""
        if wanted.path:
            return f'User "{self.user}" cannot {wanted.verb} path "{wanted.path}"'
        place = f'in the namespace "{wanted.namespace}"' if wanted.namespace else _EVERYWHERE
        said = (
            f'User "{self.user}" cannot {wanted.verb} resource "{wanted.resource}" '
            f'in API group "{wanted.group}" {place}'
        )
        extra = READ_ONLY if is_write(wanted) else text(self._denial(wanted), "message")
        return f"{said}: {extra}" if extra else said

    def check(self, target: Target) -> None:
        """Raise Refusal 403 unless the caller may do this, and for every change."""
        kind = target.kind
        # A namespace object counts as lying in itself, so a namespace's reader may get it.
        place = target.name if kind.kind == "Namespace" else target.namespace
        wanted = Attributes(target.verb, kind.group, target.resource, place)
        allowed = self.allows(wanted)
        changes = is_write(wanted) and kind not in REVIEW_KINDS and not _is_job(target)
        if allowed and not changes:
            return
        details: Object = {"kind": kind.plural}
        if target.name:
            details["name"] = target.name
        if kind.group:
            details["group"] = kind.group
        named = f'{kind.resource} "{target.name}"' if target.name else kind.resource
        why = READ_ONLY if allowed else self.why_not(wanted)
        raise Refusal(403, f"{named} is forbidden: {why}", details=details)

    def rules_in(self, namespace: str, catalog: Catalog) -> tuple[list[Object], list[Object]]:
        """Return the resource and the URL rules that hold in a namespace, as RBAC writes them."""
        rules: list[Object] = [
            {"verbs": ["create"], "apiGroups": [kind.group], "resources": [kind.plural]}
            for kind in REVIEW_KINDS
        ]
        every = list(self._verbs)
        if self._reaches(namespace) and not self._denials:
            rules.append({"verbs": every, "apiGroups": ["*"], "resources": ["*"]})
            rules.append({"verbs": [*_EXEC_VERBS], "apiGroups": [""], "resources": ["pods/exec"]})
        else:
            # Rules can only grant, so what is left is listed resource by resource.
            rules += self._remaining(namespace, catalog)
        return rules, [{"verbs": ["get"], "nonResourceURLs": ["*"]}]

    def _remaining(self, namespace: str, catalog: Catalog) -> Iterator[Object]:
        writing = tuple(verb for verb in self._verbs if verb in WRITING)
        for kind in catalog.kinds:
            for resource, verbs in _resources(kind):
                allowed = [
                    verb
                    for verb in dict.fromkeys((*verbs, *writing))
                    if self.allows(Attributes(verb, kind.group, resource, namespace))
                ]
                if allowed and kind not in REVIEW_KINDS:
                    yield {"verbs": allowed, "apiGroups": [kind.group], "resources": [resource]}


def _is_job(target: Target) -> bool:
    """Jobs alone are made and deleted here; `debug_job` refuses all but those that enter a node."""
    return target.resource == "jobs" and target.verb in ("create", "delete")


_EVERYWHERE = "at the cluster scope"
_REVIEWS = frozenset((kind.group, kind.plural) for kind in REVIEW_KINDS)


def _resources(kind: Kind) -> Iterator[tuple[str, tuple[str, ...]]]:
    yield kind.plural, kind.verbs
    for name, _, verbs in kind.subresources:
        yield f"{kind.plural}/{name}", verbs


def is_write(wanted: Attributes) -> bool:
    """Say whether this would change something."""
    return wanted.verb not in READING and wanted.resource != "pods/exec"


def authorizers(permissions: Mapping[str, Any]) -> dict[str, Authorizer]:
    """Return the default identity under the empty name, and the others under theirs."""
    others: Mapping[str, Any] = permissions.get("identities") or {}
    return {"": Authorizer(permissions)} | {
        name: Authorizer({"user": name, **told}) for name, told in others.items()
    }
