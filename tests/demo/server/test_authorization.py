from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.demo.practice import Kubectl, SmallWorld, binaries, fetch, make
from truepenny.demo.cluster import PracticeCluster
from truepenny.demo.expand.keys import check_permissions
from truepenny.demo.world import World
from truepenny.errors import ConfigurationError

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


SEVERAL = {
    "identities": {
        "shop-only": {"namespaces": ["shop"], "deny": [{"resources": ["secrets"]}]},
        "deployer": {"groups": ["deployers"], "write": True},
    }
}
REVIEW = "/apis/authorization.k8s.io/v1"


def test_each_token_has_the_rights_of_its_identity() -> None:
    pods = [make("Pod", "p"), make("Pod", "q", namespace="vault")]
    with PracticeCluster(SmallWorld(pods, permissions=SEVERAL)) as cluster:
        assert cluster.identities == ("shop-only", "deployer")

        def ask(identity: str, path: str, method: str = "GET") -> tuple[int, str]:
            answer = fetch(cluster, path, method=method, token=cluster.tokens[identity])
            return answer.status, answer.json.get("message", "")

        assert ask("", "/api/v1/pods")[0] == 200
        assert ask("shop-only", "/api/v1/namespaces/shop/pods")[0] == 200
        assert ask("shop-only", "/api/v1/namespaces/vault/pods/q") == (
            403,
            'pods "q" is forbidden: User "shop-only" cannot get resource "pods" in API group "" '
            'in the namespace "vault"',
        )
        assert ask("shop-only", "/api/v1/pods") == (
            403,
            'pods is forbidden: User "shop-only" cannot list resource "pods" in API group "" '
            "at the cluster scope",
        )
        assert ask("shop-only", "/api/v1/namespaces/shop/secrets")[0] == 403
        # The right to write is there, and still nothing is written.
        gone = ask("deployer", "/apis/apps/v1/namespaces/shop/deployments/d", "DELETE")
        assert gone == (
            403,
            'deployments.apps "d" is forbidden: the practice cluster is read-only',
        )
        denied = fetch(
            cluster,
            "/apis/apps/v1/namespaces/vault/deployments/d",
            token=cluster.tokens["shop-only"],
        ).json
        assert (denied["reason"], denied["code"]) == ("Forbidden", 403)
        assert denied["details"] == {"kind": "deployments", "name": "d", "group": "apps"}


def test_reviews_answer_for_whoever_asks() -> None:
    with PracticeCluster(SmallWorld(permissions=SEVERAL)) as cluster:

        def ask(identity: str, kind: str, spec: dict[str, object]) -> dict[str, object]:
            body = json.dumps({"spec": spec}).encode()
            path = f"{REVIEW}/{kind}"
            token = cluster.tokens[identity]
            return fetch(cluster, path, method="POST", body=body, token=token).json["status"]

        def may(identity: str, **attributes: str) -> bool:
            asked = {"resourceAttributes": attributes}
            return bool(ask(identity, "selfsubjectaccessreviews", asked)["allowed"])

        delete = {"verb": "delete", "group": "apps", "resource": "deployments"}
        assert may("deployer", **delete, namespace="shop")
        assert may("deployer", verb="*", resource="*")
        assert not may("shop-only", **delete, namespace="shop")
        assert may("shop-only", verb="get", resource="pods", namespace="shop")
        assert not may("shop-only", verb="get", resource="pods", namespace="vault")
        assert not may("shop-only", verb="list", resource="nodes")
        for identity, namespace, verb, expected in (
            ("deployer", "shop", "delete", True),
            ("shop-only", "shop", "delete", False),
            ("shop-only", "shop", "list", True),
            ("shop-only", "vault", "list", False),
        ):
            rules = ask(identity, "selfsubjectrulesreviews", {"namespace": namespace})
            assert (f"'{verb}'" in str(rules["resourceRules"])) is expected, (identity, namespace)


def test_a_context_for_each_identity(tmp_path: Path) -> None:
    if not binaries():
        pytest.fail("no kubectl: ./dev installs one")
    with PracticeCluster(World.load("restricted-access"), identity="shop-only") as cluster:
        kubectl = Kubectl(cluster, tmp_path, binaries()[0])
        assert kubectl.ok("config", "current-context").strip() == "shop-only"
        assert kubectl("get", "pods", "-A").returncode == 1
        # A reader of one namespace has it as the context's default.
        assert "frontend" in kubectl.ok("get", "pods")
        assert "kube-system" in kubectl.ok("get", "pods", "-A", "--context", "viewer")
        refused = kubectl("logs", "deploy/frontend", "-n", "shop", "--context", "no-logs")
        assert 'User "no-logs" cannot get resource "pods/log"' in refused.stderr
        can = kubectl("auth", "can-i", "patch", "deploy", "-n", "shop", "--context", "deployer")
        assert can.stdout.strip() == "yes"
        assert "shop-developer" in kubectl.ok("auth", "whoami", "--context", "demo")


def test_an_identity_that_is_not_there_or_does_not_read_is_said() -> None:
    with pytest.raises(ConfigurationError, match="no identity named 'root'") as caught:
        PracticeCluster(SmallWorld(permissions=SEVERAL), identity="root")
    assert "shop-only, deployer" in (caught.value.remedy or "")
    for wrong in ({"denny": []}, {"identities": {"a": {"wirte": True}}}, {"deny": [{"verb": []}]}):
        with pytest.raises(ConfigurationError, match="unknown"):
            check_permissions(wrong)
