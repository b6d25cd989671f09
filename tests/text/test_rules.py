"""Each rule against its own examples, both ways, and what no rule may touch."""

from __future__ import annotations

import re

import pytest

from truepenny.text.redact import Redactor
from truepenny.text.rule import Rule
from truepenny.text.rules import RULES

REDACTOR = Redactor()

_POSITIVE = [(rule, text) for rule in RULES for text in rule.positive]
_NEGATIVE = [(rule.name, text) for rule in RULES for text in rule.negative]


def test_the_registry_is_sound() -> None:
    names = [rule.name for rule in RULES]
    assert len(set(names)) == len(names) >= 40
    for rule in RULES:
        assert re.fullmatch(r"[a-z0-9-]+", rule.name)
        assert rule.positive and rule.negative and rule.anchors
        if rule.folded:
            assert all(anchor == anchor.lower() for anchor in rule.anchors)


@pytest.mark.parametrize(("rule", "text"), _POSITIVE, ids=[rule.name for rule, _ in _POSITIVE])
def test_positive(rule: Rule, text: str) -> None:
    alone = Redactor(rules=[rule]).text(text)
    assert set(alone.counts) == {rule.name}
    together = REDACTOR.text(text)
    assert sum(together.counts.values()) >= 1
    assert together.text != text
    again = REDACTOR.text(together.text)
    assert (again.text, again.counts) == (together.text, {})


@pytest.mark.parametrize(("name", "text"), _NEGATIVE, ids=[name for name, _ in _NEGATIVE])
def test_negative(name: str, text: str) -> None:
    got = REDACTOR.text(text)
    assert (got.text, got.counts) == (text, {})


@pytest.mark.parametrize(
    "text",
    [
        "uid: 3fa85f64-5717-4562-b3fc-2c963f66afa6",
        "image: r.example/app@sha256:" + "0f3a9c7b" * 8,
        'resourceVersion: "184467440737095516"',
        "commit 4b825dc642cb6eb9a060e54bf8d69288fbee4904",
        "pod-template-hash: 7d9f8b6c5d",
        "data: aGVsbG8gd29ybGQsIHRoaXMgaXMgcGxhaW4gdGV4dA==",
        "Bearer authentication is required",
        "GET https://host:8443/api/v1/namespaces/shop/pods?limit=500&continue=abc HTTP/1.1",
        "git@github.com:owner/repo.git",
        "mailto:alice@example.com",
        "2026-11-30T10:00:00Z INFO order 42 accepted in 12 ms status=200",
        "Annotations:  kubernetes.io/config.seen: 2026-11-30T10:00:00Z",
        "    Mounts:\n      /var/run/secrets/kubernetes.io/serviceaccount from api-access (ro)",
        "    SecretName:  db-credentials\n    Optional:    false",
        "TokenExpirationSeconds:  3607",
        "for token in tokens:\n    yield token",
        "class Token(BaseModel):\n    kind: str\n    value: str",
        "export const apiKey = process.env.API_KEY;",
        "    if (user.password === null) return;",
        'Error: secret "db" not found',
        'pods is forbidden: User "system:serviceaccount:a:b" cannot list resource "secrets"',
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ3vK9 alice@host",
        "key: value\nkeys: 3\nmonkey: banana",
        "certificate-authority-data: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUM=",
        "metadata.continue: eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MTJ9",
        '::1 - - [30/Nov/2026:10:00:00 +0000] "GET /token HTTP/1.1" 200 12',
        "std::token::parse failed",
    ],
)
def test_ordinary_text_is_left_alone(text: str) -> None:
    got = REDACTOR.text(text)
    assert (got.text, got.counts) == (text, {})


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("password:hunter2", "hunter2"),
        ("DB_PASSWORD = 'hunter2'", "hunter2"),
        ('{"auth":{"client_secret" : "abc def"}}', "abc def"),
        ("mysql://root:hunter2@localhost", "hunter2"),
        ("requests.get(url, headers={'X-API-Key': 'abcd1234efgh'})", "abcd1234efgh"),
        ("level=error msg=x api_key=abcd1234efgh user=bob", "abcd1234efgh"),
        ("export TOKEN=abcdefgh", "abcdefgh"),
        ("    token: abcdefgh", "abcdefgh"),
        ("Set-Cookie: sid=abcdef; Path=/", "abcdef"),
        ("authorization: Basic Ym9iOmh1bnRlcjI=", "Ym9iOmh1bnRlcjI="),
        ('"annotation":"{\\"password\\":\\"hunter2\\"}"', "hunter2"),
        ('x: "{\\\\\\"password\\\\\\":\\\\\\"hunter2\\\\\\"}"', "hunter2"),
        ("secret:\n  value\n", "secret:\n  value\n"),
        ("ssl.key: abcdefgh1", "abcdefgh1"),
        ("jdbc:postgresql://h/db?user=u&password=hunter2&ssl=true", "hunter2"),
    ],
)
def test_how_secrets_are_written(text: str, secret: str) -> None:
    if secret == text:  # no secret by its shape: a plain word below a Kubernetes volume's key
        assert REDACTOR.text(text).text == text
    else:
        assert secret not in REDACTOR.text(text).text
