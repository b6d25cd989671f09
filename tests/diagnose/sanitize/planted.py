"""Planted secrets: forty kinds, the places where they stand, and the forms in which they are shown.

`SHAPED` are known by their own shape wherever they stand. `NAMED` look like words, so that only
what stands beside them can give them away. All are made up and none stands in the source whole.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import yaml

from truepenny.text.rules.example import digest, letters, upper, word


def _b64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


_PEM = f"-----BEGIN RSA PRIVATE KEY-----\n{word(64)}\n{word(40)}\n-----END RSA PRIVATE KEY-----"
_JWT = f"{_b64(json.dumps({'alg': 'RS256', 'kid': 'a'}))}.{_b64(json.dumps({'sub': 'x'}))}".replace(
    "=", ""
)
_PASSWORD = "Quartz-Otter"

SHAPED: Mapping[str, str] = {
    "aws-id": "AKIA" + upper(16),
    "gcp-key": "AIza" + word(35),
    "gcp-token": "ya29." + word(60),
    "azure-secret": "abc8Q~" + word(34),
    "azure-sas": "https://a.blob.example/c?sv=2024&sig=" + word(43) + "%3D",
    "digitalocean": "dop_v1_" + digest(64),
    "vault": "hvs." + word(90),
    "github": "ghp_" + word(36),
    "github-fine": "github_pat_" + word(82),
    "gitlab": "glpat-" + word(20),
    "npm": "npm_" + word(36),
    "pypi": "pypi-AgEIcHlwaS5vcmc" + word(80),
    "docker-hub": "dckr_pat_" + word(27),
    "anthropic": "sk-ant-api03-" + word(95),
    "openai": "sk-proj-" + word(48),
    "huggingface": "hf_" + letters(34),
    "jwt": f"{_JWT}.{word(86)}",
    "private-key-base64": _b64(_PEM),
    "docker-config": _b64('{"auths":{"r.example":{"auth":"YTpi"}}}'),
    "age": "AGE-SECRET-KEY-1" + upper(58),
    "bcrypt": "$2b$12$" + word(53),
    "postgres-url": f"postgres://app:{_PASSWORD}-1@db:5432/shop",
    "redis-url": f"redis://:{_PASSWORD}-2@cache:6379/0",
    "amqp-url": f"amqp://sync:{_PASSWORD}-3@queue/x",
    "bearer": "Authorization: Bearer " + word(40),
    "basic": "Authorization: Basic " + _b64(f"bob:{_PASSWORD}-4"),
    "curl": f"curl -u admin:{_PASSWORD}-5 https://x.example",
    "assignment": f"PGPASSWORD={_PASSWORD}-6",
    "dsn": f"Server=db;User=sa;Password={_PASSWORD}-7;Database=x",
    "helm-release": _b64(base64.b64encode(gzip.compress(word(300).encode(), mtime=0)).decode()),
}
"""Kind: a text that holds the secret."""

CORE: Mapping[str, str] = {
    "azure-sas": word(43),
    "postgres-url": f"{_PASSWORD}-1",
    "redis-url": f"{_PASSWORD}-2",
    "amqp-url": f"{_PASSWORD}-3",
    "bearer": word(40),
    "basic": _b64(f"bob:{_PASSWORD}-4"),
    "curl": f"{_PASSWORD}-5",
    "assignment": f"{_PASSWORD}-6",
    "dsn": f"{_PASSWORD}-7",
}
"""What must not be seen of a kind whose text holds more than the secret."""

NAMED: Mapping[str, str] = {
    "DB_PASSWORD": "Harbor-Violet-1",
    "apiKey": "Copper-Falcon-2",
    "client_secret": "Amber-Willow-3",
    "accessToken": "Indigo-Thistle-4",
    "SMTP_PASS_2": "Cedar-Lantern-5",
    "encryption-key": "Maple-Harbor-6",
    "passphrase": "Silver Meadow 7",
    "webhookUrl": "https://hooks.example/T0/B0/Umber-Finch-8",
    "aws_secret_access_key": word(38) + "/+",
    "connectionString": "Sable-Heron-9",
}
"""Name: a value that looks like any other."""

KINDS = [*SHAPED, *NAMED]

Entry = tuple[str, str, str]
"""The name beside the value, the value, and what must not be seen of it."""


def entries() -> Iterator[Entry]:
    """Yield each planted secret once; the shaped ones under a name that says nothing."""
    for number, (kind, text) in enumerate(SHAPED.items()):
        yield f"setting{number}", text, CORE.get(kind, text)
    for name, value in NAMED.items():
        yield name, value, value


def _container(name: str, value: str) -> dict[str, Any]:
    flag = f"--{name}"
    return {
        "name": "app",
        "image": "r.example/app@sha256:" + digest(64),
        "env": [{"name": name, "value": value}],
        "args": [flag, value, f"{flag}={value}"],
        "readinessProbe": {"exec": {"command": ["probe", f"{flag}={value}"]}},
    }


def _pod(name: str, value: str) -> dict[str, Any]:
    spec = {"containers": [_container(name, value)], "initContainers": [_container(name, value)]}
    applied = {"kind": "Pod", "spec": spec}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": "p",
            "annotations": {
                "kubectl.kubernetes.io/last-applied-configuration": json.dumps(applied),
                f"example.com/{name}": value,
            },
        },
        "spec": spec,
    }


def _secret(name: str, value: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "data": {"innocent": _b64(value)},
        "kind": "Secret",
        "metadata": {"name": "s"},
        "stringData": {"plain": value},
    }


def _config_map(name: str, value: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "data": {
            name: value,
            "app.ini": f"[main]\nlevel = info\n{name} = {value}\n",
            "app.properties": f"level=info\n{name}={value}\n",
            "app.yaml": yaml.safe_dump({"a": {name: value}}, width=10_000),
            "app.json": json.dumps({"a": {name: value}}),
            "pretty.json": json.dumps({"a": {name: [value]}}, indent=2),
        },
        "binaryData": {"blob": _b64(json.dumps({name: value, "other": "x" * 20}))},
        "kind": "ConfigMap",
        "metadata": {"name": "c"},
    }


def _custom(name: str, value: str) -> dict[str, Any]:
    packed = gzip.compress(json.dumps({name: value}).encode(), mtime=0)
    return {
        "apiVersion": "example.com/v1",
        "kind": "Gadget",
        "metadata": {"name": "g"},
        "spec": {
            name: value,
            "list": [{"name": name, "value": value}, {"key": name, "value": value}],
            "many": {name: [value, value]},
            "credentials": {"first": value},
            "userData": _b64(f"#cloud-config\n{name}: {value}\n"),
            "packed": base64.b64encode(packed).decode(),
        },
    }


def _kubeconfig(name: str, value: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "users": [{"name": "u", "user": {"token": value, "password": value}}],
        "auth": {"config": {name: value}},
    }


def _inspected(name: str, value: str) -> dict[str, Any]:
    return {
        "info": {
            "config": {"envs": [{"key": name, "value": value}]},
            "runtimeSpec": {"process": {"env": [f"{name}={value}"], "args": [f"--{name}={value}"]}},
        }
    }


OBJECTS: Mapping[str, Callable[[str, str], dict[str, Any]]] = {
    "pod": _pod,
    "secret": _secret,
    "config map": _config_map,
    "custom resource": _custom,
    "kubeconfig": _kubeconfig,
    "crictl": _inspected,
}
"""Kind of object: one with the secret in every place that it has."""


def mixed(name: str, value: str) -> dict[str, Any]:
    """Return a list of all of them, as `kubectl get -o json` writes one."""
    return {
        "apiVersion": "v1",
        "items": [make(name, value) for make in OBJECTS.values()],
        "kind": "List",
        "metadata": {"resourceVersion": ""},
    }


def described(name: str, value: str) -> str:
    """Return what `kubectl describe pod` prints."""
    return (
        f"Name:         p\nAnnotations:  example.com/{name}: {value}\nContainers:\n  app:\n"
        f"    Args:\n      --{name}\n      {value}\n      --{name}={value}\n"
        f"    Environment:\n      {name}:  {value}\n      LEVEL:  debug\n"
        f"Events:\n  Warning  Failed  5m  kubelet  Error: {name}={value}\n"
    )


def go_map(value: Any) -> str:
    """Write a value as a Go template prints it."""
    if isinstance(value, dict):
        return "map[" + " ".join(f"{key}:{go_map(one)}" for key, one in value.items()) + "]"
    if isinstance(value, list):
        return "[" + " ".join(map(go_map, value)) + "]"
    return str(value)


def logged(name: str, value: str) -> str:
    """Return log lines of several fashions."""
    return (
        f"2026-11-30T10:00:00Z INFO start {name}={value}\n"
        f'{{"level":"info","{name}":"{value}"}}\n'
        f"level=error msg=failed {name}={value}\n"
        f"export {name}='{value}'\n"
        f'"{name}": "{value}",\n'
        f"{json.dumps(json.dumps({name: value}))}\n"
    )


def environment(name: str, value: str, end: str = "\n") -> str:
    """Return what `env` prints."""
    return end.join(("HOME=/root", f"{name}={value}", "LEVEL=debug", ""))
