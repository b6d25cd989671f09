"""Questions of the caller about themselves: `auth can-i`, `auth can-i --list`, `auth whoami`."""

from __future__ import annotations

import json

from truepenny.demo.server.authorization import Attributes, Authorizer
from truepenny.demo.server.exchange import Reply, Request, json_reply
from truepenny.demo.server.kind import Catalog, Kind
from truepenny.demo.server.protobuf import MAGIC, read_review
from truepenny.demo.server.status import Refusal
from truepenny.demo.server.value import Object, mapping, text


def review(request: Request, kind: Kind, authorizer: Authorizer, catalog: Catalog) -> Reply:
    """Answer a self review, asked in JSON or protobuf; raises Refusal 400 when unreadable."""
    spec = mapping(_read(request), "spec")
    status: Object
    if kind.kind == "SelfSubjectReview":
        status = {"userInfo": {"username": authorizer.user, "groups": list(authorizer.groups)}}
    elif kind.kind == "SelfSubjectRulesReview":
        resources, urls = authorizer.rules_in(text(spec, "namespace"), catalog)
        status = {"resourceRules": resources, "nonResourceRules": urls, "incomplete": False}
    else:
        wanted = _attributes(spec)
        allowed = authorizer.allows(wanted)
        status = {"allowed": allowed}
        if not allowed:
            status["reason"] = authorizer.why_not(wanted)
    answer: Object = {
        "kind": kind.kind,
        "apiVersion": kind.api_version,
        "metadata": {"creationTimestamp": None},
        "spec": spec,
        "status": status,
    }
    return json_reply(answer, 201)


def _read(request: Request) -> Object:
    # kubectl sends protobuf and does not fall back to JSON on a 415.
    if request.body.startswith(MAGIC):
        return read_review(request.body)
    try:
        return mapping(json.loads(request.body))
    except ValueError:
        raise Refusal(400, "the review is neither JSON nor Kubernetes protobuf") from None


def _attributes(spec: Object) -> Attributes:
    if paths := mapping(spec, "nonResourceAttributes"):
        return Attributes(text(paths, "verb"), path=text(paths, "path"))
    asked = mapping(spec, "resourceAttributes")
    resource, subresource = text(asked, "resource"), text(asked, "subresource")
    return Attributes(
        text(asked, "verb"),
        text(asked, "group"),
        f"{resource}/{subresource}" if subresource else resource,
        text(asked, "namespace"),
    )
