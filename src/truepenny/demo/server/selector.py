"""Label and field selectors: which objects a request is about.

A selector that cannot be read or is not supported is a 400, never "matches nothing".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from truepenny.demo.server.kind import Kind
from truepenny.demo.server.status import Refusal
from truepenny.demo.server.value import Object, mapping, text

Test = Callable[[Object], bool]

_SET = re.compile(r"^\s*(?P<key>[^\s!=,()]+)\s+(?P<op>in|notin)\s*\((?P<values>[^()]*)\)\s*$")
_COMPARE = re.compile(
    r"^\s*(?P<key>[^\s!=,()<>]+)\s*(?P<op>==|=|!=|<|>)\s*(?P<value>[^\s,()]*)\s*$"
)
_EXISTS = re.compile(r"^\s*(?P<not>!)?\s*(?P<key>[^\s!=,()]+)\s*$")
_COMMA = re.compile(r",(?![^(]*\))")
_TERM = re.compile(r"^(?P<key>[^=!]+)(?P<op>==|=|!=)(?P<value>.*)$")

COMMON_FIELDS = ("metadata.name", "metadata.namespace")
FIELDS: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("", "Pod"): (
        "spec.nodeName",
        "spec.restartPolicy",
        "spec.schedulerName",
        "spec.serviceAccountName",
        "spec.hostNetwork",
        "status.phase",
        "status.podIP",
        "status.nominatedNodeName",
    ),
    ("", "Event"): (
        "involvedObject.kind",
        "involvedObject.namespace",
        "involvedObject.name",
        "involvedObject.uid",
        "involvedObject.apiVersion",
        "involvedObject.resourceVersion",
        "involvedObject.fieldPath",
        "reason",
        "reportingComponent",
        "source",
        "type",
    ),
    ("events.k8s.io", "Event"): (
        "regarding.kind",
        "regarding.namespace",
        "regarding.name",
        "regarding.uid",
        "reason",
        "reportingController",
        "type",
    ),
    ("", "Secret"): ("type",),
    ("", "Namespace"): ("status.phase",),
    ("", "Node"): ("spec.unschedulable",),
    ("", "ReplicationController"): ("status.replicas",),
    ("apps", "ReplicaSet"): ("status.replicas",),
    ("batch", "Job"): ("status.successful",),
    ("certificates.k8s.io", "CertificateSigningRequest"): ("spec.signerName",),
    ("resource.k8s.io", "ResourceSlice"): ("spec.nodeName", "spec.driver"),
}
"""The fields that each kind can be selected by, beside its name and namespace."""


@dataclass(frozen=True, slots=True)
class Selector:
    """A conjunction of tests; an empty one matches everything."""

    tests: tuple[Test, ...] = ()

    def matches(self, value: Object) -> bool:
        """Say whether every test holds."""
        return all(test(value) for test in self.tests)


def _label_test(part: str) -> Test:
    if found := _SET.match(part):
        key = found["key"]
        values = {v.strip() for v in found["values"].split(",")}
        wanted = found["op"] == "in"

        def member(labels: Object) -> bool:
            # A missing label satisfies `notin` and fails `in`, as the API documents.
            return (key in labels and str(labels[key]) in values) is wanted

        return member
    if found := _COMPARE.match(part):
        key, op, value = found["key"], found["op"], found["value"]
        if op in ("<", ">"):
            return lambda labels: _compare(labels.get(key), op, value)
        if op == "!=":
            return lambda labels: labels.get(key) != value
        return lambda labels: labels.get(key) == value
    if found := _EXISTS.match(part):
        key, absent = found["key"], bool(found["not"])
        return lambda labels: (key in labels) is not absent
    raise Refusal(400, f"unable to parse requirement: found '{part.strip()}'")


def _compare(have: object, op: str, limit: str) -> bool:
    try:
        left, right = int(str(have)), int(limit)
    except ValueError:
        return False
    return left > right if op == ">" else left < right


def label_selector(written: str) -> Selector:
    """Read `a=b,c!=d,e in (f,g),!h,i`; raises Refusal 400."""
    if not written.strip():
        return Selector()
    tests = [_label_test(part) for part in _COMMA.split(written)]

    def over_labels(test: Test) -> Test:
        return lambda value: test(mapping(value, "metadata", "labels"))

    return Selector(tuple(over_labels(test) for test in tests))


def field_selector(written: str, kind: Kind) -> Selector:
    """Read `a=b,c!=d` over the fields this kind supports; raises Refusal 400."""
    if not written.strip():
        return Selector()
    supported = (*COMMON_FIELDS, *FIELDS.get((kind.group, kind.kind), ()))
    tests: list[Test] = []
    for part in re.split(r"(?<!\\),", written):
        found = _TERM.match(part.strip())
        if not found:
            raise Refusal(400, f"invalid selector: '{written}'; can't understand '{part}'")
        key = found["key"].strip()
        if key not in supported:
            raise Refusal(400, f"field label not supported: {key}")
        value = re.sub(r"\\(.)", r"\1", found["value"])
        tests.append(_field_test(key, value, found["op"] != "!="))
    return Selector(tuple(tests))


def _field_test(key: str, value: str, wanted: bool) -> Test:
    path = key.split(".")
    if key == "source":
        path = ["source", "component"]

    def test(candidate: Object) -> bool:
        have = text(candidate, *path)
        # Booleans are written as words in selectors and may be absent when false.
        if have in ("True", "False") or (have == "" and value in ("true", "false")):
            have = have.lower() or "false"
        return (have == value) is wanted

    return test
