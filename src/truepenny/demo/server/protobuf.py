"""Reading the little protobuf that kubectl sends: reviews about the caller.

The format is protobuf's wire format; the field numbers are those of the Kubernetes API types.
An envelope is the bytes `k8s\\0` and an `Unknown` message whose field 2 is the object.
"""

from __future__ import annotations

from truepenny.demo.server.status import Refusal
from truepenny.demo.server.value import Object

MAGIC = b"k8s\x00"

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5

_RESOURCE_FIELDS = {
    1: "namespace",
    2: "verb",
    3: "group",
    4: "version",
    5: "resource",
    6: "subresource",
    7: "name",
}
_PATH_FIELDS = {1: "path", 2: "verb"}


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        if at >= len(data) or shift > 63:
            raise Refusal(400, "the request body is not readable protobuf")
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if not byte & 0x80:
            return value, at
        shift += 7


def fields(data: bytes) -> dict[int, bytes]:
    """Return the length-delimited fields of a message by number; the last of a kind wins.

    Numbers and unknown fields are skipped. Raises Refusal 400 for broken bytes.
    """
    found: dict[int, bytes] = {}
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        number, wire = key >> 3, key & 7
        if wire == _VARINT:
            _, at = _varint(data, at)
            continue
        if wire == _BYTES:
            size, at = _varint(data, at)
        elif wire in (_FIXED64, _FIXED32):
            size = 8 if wire == _FIXED64 else 4
        else:
            raise Refusal(400, "the request body uses a protobuf type that is not read here")
        if at + size > len(data):
            raise Refusal(400, "the request body is cut short")
        if wire == _BYTES:
            found[number] = data[at : at + size]
        at += size
    return found


def _strings(data: bytes, names: dict[int, str]) -> Object:
    return {
        names[number]: content.decode("utf-8", "replace")
        for number, content in fields(data).items()
        if number in names
    }


def read_review(body: bytes) -> Object:
    """Return `{"kind", "spec"}` of a self review, in the JSON form of its API type."""
    envelope = fields(body.removeprefix(MAGIC))
    kind = fields(envelope.get(1, b"")).get(2, b"").decode("utf-8", "replace")
    spec = fields(fields(envelope.get(2, b"")).get(2, b""))
    if kind == "SelfSubjectRulesReview":
        return {"kind": kind, "spec": {"namespace": spec.get(1, b"").decode("utf-8", "replace")}}
    read: Object = {}
    if 1 in spec:
        read["resourceAttributes"] = _strings(spec[1], _RESOURCE_FIELDS)
    if 2 in spec:
        read["nonResourceAttributes"] = _strings(spec[2], _PATH_FIELDS)
    return {"kind": kind, "spec": read}
