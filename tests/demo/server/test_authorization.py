from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.demo.practice import Kubectl, SmallWorld, binaries, fetch, make
from truepenny.demo.cluster import PracticeCluster

DENIED = {
    "user": "alice",
    "groups": ["team-shop"],
    "deny": [
        {"resources": ["secrets"]},
        {"resources": ["pods/log"], "namespaces": ["vault"], "message": "ask the vault team"},
        {"resources": ["nodes"], "verbs": ["list"]},
    ],
}


def test_denials_hold_for_requests_and_for_questions() -> None:
    world = SmallWorld([make("Node", "n1", namespace="")], permissions=DENIED)
    review = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"

    def may(**attributes: str) -> bool:
        body = json.dumps({"spec": {"resourceAttributes": attributes}}).encode()
        return fetch(cluster, review, method="POST", body=body).json["status"]["allowed"]

    with PracticeCluster(world) as cluster:
        denied = fetch(cluster, "/api/v1/namespaces/shop/secrets")
        assert (denied.status, denied.json["reason"]) == (403, "Forbidden")
        assert 'User "alice" cannot list resource "secrets"' in denied.json["message"]
        log = fetch(cluster, "/api/v1/namespaces/vault/pods/p/log")
        assert log.status == 403
        assert log.json["message"].endswith("ask the vault team")
        assert fetch(cluster, "/api/v1/namespaces/shop/pods/p/log").status == 404
        assert fetch(cluster, "/api/v1/nodes").status == 403
        assert fetch(cluster, "/api/v1/nodes/n1").status == 200
        assert not may(verb="get", resource="secrets", namespace="shop")
        assert may(verb="get", resource="pods", subresource="log", namespace="shop")
        assert not may(verb="get", resource="pods", subresource="log", namespace="vault")
        # What is denied in one namespace cannot be had for all of them.
        assert not may(verb="get", resource="pods", subresource="log")
        assert not may(verb="create", resource="pods", namespace="shop")
        assert not may(verb="*", resource="*")


def test_the_listed_rules_leave_out_what_is_denied(tmp_path: Path) -> None:
    if not binaries():
        pytest.fail("no kubectl: ./dev installs one")
    with PracticeCluster(SmallWorld(permissions=DENIED)) as cluster:
        listed = Kubectl(cluster, tmp_path, binaries()[0]).ok("auth", "can-i", "--list", "-n", "a")
    rules = {line.split()[0]: line for line in listed.splitlines()}
    assert "secrets" not in rules
    assert "pods/log" in rules
    assert "[get watch]" in rules["nodes"]


def test_a_wrong_token_is_unauthorized_and_health_needs_none() -> None:
    with PracticeCluster(SmallWorld()) as cluster:
        assert fetch(cluster, "/api/v1/pods", token="wrong").json["reason"] == "Unauthorized"
        assert fetch(cluster, "/apis", token="").status == 401
        assert fetch(cluster, "/healthz", token="").body == b"ok"
        assert fetch(cluster, "/version", token="").status == 200


def test_writes_are_refused_in_every_form() -> None:
    pod = "/api/v1/namespaces/shop/pods/p"
    with PracticeCluster(SmallWorld()) as cluster:
        for method, path in (
            ("POST", "/api/v1/namespaces/shop/pods"),
            ("PUT", pod),
            ("PATCH", pod),
            ("DELETE", pod),
            ("DELETE", "/api/v1/namespaces/shop/pods"),
            ("POST", f"{pod}/eviction"),
        ):
            answer = fetch(cluster, path, method=method, body=b"{}")
            assert answer.status == 403, (method, path)
            assert answer.json["message"].endswith("the practice cluster is read-only")
