"""What is no secret stays: at most one value in two hundred is masked for nothing."""

from __future__ import annotations

import base64
import json
import uuid
from collections.abc import Callable, Iterator, Mapping
from random import Random
from typing import Any

import pytest
import yaml

from truepenny.demo.world import World
from truepenny.diagnose.sanitize.form import DESCRIBE, JSON, LOGS, YAML, Form
from truepenny.text.redact import Redactor

MOST = 0.005
"""The share of values that may be masked for nothing (issue 4)."""

EACH = 100
REDACTOR = Redactor()


def _hex(random: Random, length: int) -> str:
    return f"{random.getrandbits(4 * length):0{length}x}"


def _base32(random: Random, length: int) -> str:
    return "".join(random.choices("bcdfghjklmnpqrstvwxz2456789", k=length))


_SCHEMA = {
    "kind": "CustomResourceDefinition",
    "spec": {
        "properties": {
            "password": {"type": "string", "description": "The password of the user."},
            "tokenSecretRef": {"type": "object", "properties": {"name": {"type": "string"}}},
        }
    },
}

MADE: Mapping[str, Callable[[Random], tuple[str, str]]] = {
    "uuid": lambda r: ("uid", str(uuid.UUID(int=r.getrandbits(128), version=4))),
    "request id": lambda r: ("requestId", str(uuid.UUID(int=r.getrandbits(128)))),
    "trace": lambda r: ("traceID", _hex(r, 32)),
    "span": lambda r: ("spanId", _hex(r, 16)),
    "image": lambda r: ("image", f"r.example/team/app:v1.{r.randrange(99)}@sha256:{_hex(r, 64)}"),
    "image id": lambda r: ("imageID", f"docker-pullable://r.example/app@sha256:{_hex(r, 64)}"),
    "container": lambda r: ("containerID", f"containerd://{_hex(r, 64)}"),
    "digest": lambda r: ("checksum/config", _hex(r, 64)),
    "commit": lambda r: ("revision", _hex(r, 40)),
    "resource version": lambda r: ("resourceVersion", str(r.randrange(10**6, 10**12))),
    "generation": lambda r: ("observedGeneration", str(r.randrange(1, 99))),
    "pod": lambda r: ("name", f"checkout-{_hex(r, 9)}-{_base32(r, 5)}"),
    "template hash": lambda r: ("pod-template-hash", _base32(r, 10)),
    "projected volume": lambda r: ("volume", f"kube-api-access-{_base32(r, 5)}"),
    "secret name": lambda r: ("secretName", f"app-token-{_base32(r, 5)}"),
    "key reference": lambda r: ("secretKeyRef", f"db-{_base32(r, 4)}"),
    "tls secret": lambda r: ("tlsSecretName", f"web-tls-{r.randrange(99)}"),
    "lease": lambda r: (
        "holderIdentity",
        f"node-{r.randrange(99)}_{uuid.UUID(int=r.getrandbits(128))}",
    ),
    "time": lambda r: ("lastTransitionTime", f"2026-11-{r.randrange(10, 30)}T10:00:00Z"),
    "address": lambda r: ("podIP", f"10.{r.randrange(255)}.{r.randrange(255)}.7"),
    "url": lambda r: (
        "url",
        f"https://h{r.randrange(99)}.example:8443/api/v1?limit=5&x={_hex(r, 8)}",
    ),
    "tokens": lambda r: ("max_tokens", str(r.randrange(10**5))),
    "expiry": lambda r: ("tokenExpirationSeconds", str(r.randrange(10**5))),
    "key id": lambda r: ("keyID", _hex(r, 20)),
    "cache key": lambda r: ("cacheKey", f"user:{r.randrange(10**6)}"),
    "integrity": lambda r: ("integrity", "sha512-" + base64.b64encode(r.randbytes(64)).decode()),
    "ca bundle": lambda r: (
        "caBundle",
        base64.b64encode(
            b"-----BEGIN CERTIFICATE-----\n" + base64.b64encode(r.randbytes(90)) + b"\n"
        ).decode(),
    ),
    "encoded crd": lambda r: (
        "crd",
        base64.b64encode(json.dumps({**_SCHEMA, "n": r.random()}).encode()).decode(),
    ),
    "encoded text": lambda r: (
        "payload",
        base64.b64encode(f"color: blue\nsize: {r.randrange(99)}\nlevel: debug".encode()).decode(),
    ),
    "continue": lambda r: (
        "continue",
        base64.b64encode(json.dumps({"v": "meta.k8s.io/v1", "rv": r.randrange(9**9)}).encode())
        .decode()
        .rstrip("="),
    ),
    "message": lambda r: ("message", f'secret "db-{_base32(r, 4)}" not found'),
    "event": lambda r: ("reason", f"FailedMount token volume {_base32(r, 5)}"),
    "etag": lambda r: ("etag", f'W/"{_hex(r, 32)}"'),
    "ulid": lambda r: ("id", "01" + "".join(r.choices("0123456789ABCDEFGHJKMNPQRSTVWXYZ", k=24))),
}
"""Kind: a name with a value that only looks random."""


def values() -> Iterator[tuple[str, str]]:
    """Yield the corpus, the same in each run."""
    random = Random(4)
    for make in MADE.values():
        for _ in range(EACH):
            yield make(random)


def masked(form: Form, text: str) -> int:
    sanitizer = form.open(REDACTOR)
    sanitizer.feed(text)
    sanitizer.finish()
    return sum(sanitizer.counts.values())


def _dumped(value: Any) -> str:
    """Write YAML, by the quick writer where this machine has it."""
    return yaml.dump(value, Dumper=getattr(yaml, "CSafeDumper", yaml.SafeDumper), width=10_000)


def _as_json(pairs: list[tuple[str, str]]) -> str:
    return json.dumps([{"kind": "Gadget", "spec": {name: value}} for name, value in pairs])


def _as_yaml(pairs: list[tuple[str, str]]) -> str:
    return _dumped([{"kind": "Gadget", "spec": {name: value}} for name, value in pairs])


WRITTEN: Mapping[str, tuple[Form, Callable[[list[tuple[str, str]]], str]]] = {
    "json": (JSON, _as_json),
    "yaml": (YAML, _as_yaml),
    "json as text": (LOGS, _as_json),
    "yaml as text": (LOGS, _as_yaml),
    "logs": (LOGS, lambda pairs: "".join(f'level=info {k}="{v}" x=1\n' for k, v in pairs)),
    "bare": (LOGS, lambda pairs: "".join(f"saw {v} of {k}\n" for k, v in pairs)),
    "describe": (DESCRIBE, lambda pairs: "".join(f"    {k}:  {v}\n" for k, v in pairs)),
}


@pytest.mark.parametrize("written", WRITTEN)
def test_what_only_looks_random_stays(written: str) -> None:
    pairs = list(values())
    form, write = WRITTEN[written]
    assert masked(form, write(pairs)) <= MOST * len(pairs)


def _leaves(value: Any) -> int:
    if isinstance(value, dict):
        return sum(map(_leaves, value.values()))
    return sum(map(_leaves, value)) if isinstance(value, list) else 1


@pytest.mark.parametrize("name", ["healthy", "checkout-oom"])
def test_a_cluster_without_planted_secrets_is_shown_whole(name: str) -> None:
    objects = [each for each in World.load(name).objects if each["kind"] != "Secret"]
    total = _leaves(objects)
    assert total > 1000
    listed = {"kind": "List", "items": objects}
    for form, text in (
        (JSON, json.dumps(listed, indent=4)),
        (YAML, _dumped(listed)),
        (LOGS, _dumped(listed)),
        (LOGS, json.dumps(listed, indent=4)),
    ):
        assert masked(form, text) <= MOST * total


CUSTOM = """\
apiVersion: monitoring.example/v1
kind: Watcher
spec:
  basicAuth:
    password:
      name: watcher-login
      key: password
    username:
      name: watcher-login
      key: username
  bearerTokenSecret:
    key: ""
  passwordSecret:
    name: db
    key: DB_PASSWORD
  adminPasswordSecretRef:
    name: admin
  authorization:
    type: Bearer
    credentials:
      name: remote
      key: token
  auth:
    enabled: true
    secretName: web-login
  tokens:
    enabled: true
  imagePullSecrets:
  - name: regcred
  tls:
    secretName: web-tls
    certificate:
      secret:
        name: ca
        key: tls.crt
"""


@pytest.mark.parametrize("form", [LOGS, YAML])
def test_references_to_secrets_are_none(form: Form) -> None:
    assert masked(form, CUSTOM) == 0
    assert masked(JSON, json.dumps(yaml.safe_load(CUSTOM))) == 0
    assert masked(LOGS, json.dumps(yaml.safe_load(CUSTOM), indent=2)) == 0
