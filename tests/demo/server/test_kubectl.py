"""The real kubectl, in the versions at hand, reads the practice cluster as a real one."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.demo.practice import Kubectl, binaries, make, rows
from truepenny.demo.cluster import PracticeCluster
from truepenny.demo.server.kind import KINDS, Kind


@pytest.fixture(scope="module")
def checkout(kubectl: Kubectl) -> str:
    return kubectl.ok("get", "pods", "-n", "shop", "-l", "app=checkout", "-o", "name").split()[0]


def test_every_kind_is_listed_described_and_written_as_json(
    kubectl: Kubectl, cluster: PracticeCluster
) -> None:
    present: dict[Kind, list[tuple[str, str]]] = {}
    for value in cluster.world.objects:
        for kind in KINDS:
            if (kind.api_version, kind.kind) == (value["apiVersion"], value["kind"]):
                meta = value["metadata"]
                present.setdefault(kind, []).append((meta.get("namespace", ""), meta["name"]))
    assert len(present) > 25
    every = ",".join(kind.resource for kind in present)
    places = {namespace for names in present.values() for namespace, _ in names}
    # One object of each kind, in as few calls as its places allow.
    first: dict[str, list[str]] = {namespace: [] for namespace in places}
    for kind, names in present.items():
        namespace, name = names[0]
        first[namespace].append(f"{kind.resource}/{name}")
    table, written, *described = kubectl.all(
        [
            ("get", every, "-A", "-o", "wide"),
            ("get", every, "-A", "-o", "json"),
            *(("describe", *named, "-n", ns or "default") for ns, named in first.items() if named),
        ]
    )
    for done in (table, written, *described):
        assert done.returncode == 0, done.stderr
    assert "<unknown>" not in table.stdout
    got = {
        (item["apiVersion"], item["kind"], meta.get("namespace", ""), meta["name"])
        for item in json.loads(written.stdout)["items"]
        for meta in (item["metadata"],)
    }
    wanted = {(kind.api_version, kind.kind, *key) for kind, keys in present.items() for key in keys}
    assert got == wanted
    shown = {cell.rpartition("/")[2] for line in rows(table.stdout) for cell in line}
    assert {name for _, names in present.items() for _, name in names} <= {
        cell.removesuffix(" (default)") for cell in shown
    }
    texts = "".join(done.stdout for done in described)
    assert {keys[0][1] for keys in present.values() if keys[0][1] not in texts} == set()


def test_a_broken_pod_reads_as_broken_everywhere(kubectl: Kubectl, checkout: str) -> None:
    name = checkout.removeprefix("pod/")
    table, described, previous, events, top = (
        done.stdout
        for done in kubectl.all(
            [
                ("get", checkout, "-n", "shop", "-o", "wide"),
                ("describe", checkout, "-n", "shop"),
                ("logs", name, "-n", "shop", "--previous"),
                ("events", "-n", "shop", "--for", checkout),
                ("top", "pods", "-n", "shop", "--no-headers"),
            ]
        )
    )
    cells = rows(table)[0]
    assert cells[:3] == [name, "0/1", "CrashLoopBackOff"]
    assert cells[3].endswith("ago)")
    assert "Exit Code:    137" in described
    assert "BackOff" in described.partition("Events:")[2]
    assert previous
    assert "BackOff" in events
    assert name not in top


def test_selectors_sorting_and_output_forms(kubectl: Kubectl) -> None:
    def names(*args: str) -> set[str]:
        return set(kubectl.ok("get", "pods", "-n", "shop", "-o", "name", *args).split())

    everything = names()
    chosen = names("-l", "app in (cart, redis)")
    assert {name.split("-")[0] for name in chosen} == {"pod/cart", "pod/redis"}
    assert names("-l", "app notin (cart, redis)") == everything - chosen
    assert names("-l", "!app") == set()
    phase = names("--field-selector", "status.phase!=Running")
    assert phase and phase < everything
    assert names("--chunk-size", "3") == everything
    sort = ("--sort-by", ".metadata.name", "--no-headers")
    listed = [row.split()[0] for row in kubectl.ok("get", "po", "-n", "shop", *sort).splitlines()]
    assert listed == sorted(listed)
    mixed = kubectl.ok("get", "deploy,svc", "-n", "shop", "-o", "name").split()
    assert {name.split("/")[0] for name in mixed} == {"deployment.apps", "service"}
    assert "job.batch/" in kubectl.ok("get", "all", "-n", "shop", "-o", "name")
    labelled = kubectl.ok("get", "pods", "-n", "shop", "--show-labels", "-l", "app=cart")
    assert "app=cart" in labelled
    assert "kind: PodList" not in kubectl.ok("get", "pods", "-n", "shop", "-o", "yaml", "-l", "x=y")


def test_refusals_are_the_api_servers(kubectl: Kubectl) -> None:
    wanted = {
        ("get", "pod", "nosuch", "-n", "shop"): 'Error from server (NotFound): pods "nosuch"',
        ("get", "nosuch"): 'the server doesn\'t have a resource type "nosuch"',
        ("get", "pods", "--field-selector", "spec.foo=1"): "field label not supported: spec.foo",
        ("get", "pods", "-l", "a b"): "BadRequest",
        ("delete", "pod", "postgres-0", "-n", "shop", "--now"): "the practice cluster is read-only",
        ("scale", "deploy/cart", "-n", "shop", "--replicas=3"): "(Forbidden)",
        ("label", "node", "worker-1", "a=b"): "the practice cluster is read-only",
        ("create", "namespace", "new"): "(Forbidden)",
        ("logs", "postgres-0", "-n", "shop", "--previous"): "previous terminated container",
        ("logs", "nosuch", "-n", "shop"): "NotFound",
    }
    for call, done in zip(wanted, kubectl.all(wanted), strict=True):
        assert done.returncode != 0, call
        assert wanted[call] in done.stderr, call


def test_questions_about_the_server_and_the_caller(kubectl: Kubectl) -> None:
    assert kubectl.json("version")["serverVersion"]["gitVersion"].endswith("+practice")
    assert "deploy" in kubectl.ok("api-resources", "--api-group", "apps")
    assert "cert-manager.io/v1" in kubectl.ok("api-versions").split()
    assert kubectl.cluster.url in kubectl.ok("cluster-info")
    assert kubectl.ok("get", "--raw", "/readyz") == "ok"
    whoami = kubectl.json("auth", "whoami")["status"]["userInfo"]
    assert whoami["username"] == "practice-viewer"
    assert kubectl.ok("auth", "can-i", "get", "pods", "--subresource=log").strip() == "yes"
    refused = kubectl("auth", "can-i", "delete", "pods")
    assert (refused.returncode, refused.stdout.split()[0]) == (1, "no")
    assert "[get list watch]" in kubectl.ok("auth", "can-i", "--list")
    for written in ("pod.spec.containers", "deploy.spec.strategy", "cm", "certificate.spec"):
        assert "KIND:" in kubectl.ok("explain", written)


def test_a_manifest_is_refused_as_a_write_not_as_a_broken_server(
    kubectl: Kubectl, tmp_path: Path
) -> None:
    manifest = tmp_path / "new.yaml"
    manifest.write_text(json.dumps(make("ConfigMap", "new", data={"a": "b"})), encoding="utf-8")
    for call in kubectl.all(
        [
            ("apply", "-f", str(manifest)),
            ("apply", "--dry-run=server", "-f", str(manifest)),
            ("create", "-f", str(manifest)),
        ]
    ):
        assert call.returncode == 1
        assert "the practice cluster is read-only" in call.stderr


def test_a_served_type_without_objects_is_no_missing_type(kubectl: Kubectl) -> None:
    for resource in ("csinodes", "csr", "resourceslices", "componentstatuses"):
        done = kubectl("get", resource)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "No resources found\n")


def test_a_selection_of_logs_shows_ten_lines_each_unless_asked(kubectl: Kubectl) -> None:
    # kubectl's own default for -l: the reason why callers must say how much they want.
    few = kubectl.ok("logs", "-n", "shop", "-l", "app=cart", "--prefix").splitlines()
    each = [sum(line.startswith(mark) for line in few) for mark in {x.split()[0] for x in few}]
    assert each == [10, 10]
    wanted = kubectl.ok("logs", "-n", "shop", "-l", "app=cart", "--prefix", "--tail=-1")
    assert len(wanted.splitlines()) > len(few)


def test_rollouts(kubectl: Kubectl) -> None:
    history = kubectl.ok("rollout", "history", "deploy/checkout", "-n", "shop")
    assert len(rows(history)) >= 2
    assert "Image" in kubectl.ok(
        "rollout", "history", "deploy/checkout", "-n", "shop", "--revision=1"
    )
    assert "successfully" in kubectl.ok("rollout", "status", "deploy/cart", "-n", "shop")
    assert kubectl("rollout", "history", "ds/node-exporter", "-n", "monitoring").returncode == 0
    stuck = kubectl("rollout", "status", "deploy/checkout", "-n", "shop", "--timeout=1s")
    assert stuck.returncode == 1


def test_logs_of_many_containers_and_windows(kubectl: Kubectl) -> None:
    tail = kubectl.ok("logs", "-n", "shop", "-l", "app=cart", "--tail=2", "--prefix")
    assert len(tail.splitlines()) == 4
    everything = kubectl.ok("logs", "-n", "shop", "postgres-0", "--timestamps").splitlines()
    assert everything == sorted(everything)
    moment = everything[-2].split()[0]
    since = kubectl.ok("logs", "-n", "shop", "postgres-0", f"--since-time={moment}")
    assert len(since.splitlines()) == 2
    assert kubectl.ok("logs", "-n", "shop", "postgres-0", "--tail=0") == ""
    assert len(kubectl.ok("logs", "-n", "shop", "postgres-0", "--limit-bytes=10")) == 10
    assert "pod/" in kubectl("logs", "-n", "shop", "deploy/cart", "--tail=1").stderr


def test_exec_answers_recorded_commands_only(kubectl: Kubectl, checkout: str) -> None:
    known, unknown, down = kubectl.all(
        [
            ("exec", "-n", "shop", "postgres-0", "--", "hostname"),
            ("exec", "-n", "shop", "postgres-0", "--", "rm", "-rf", "/"),
            ("exec", "-n", "shop", checkout, "--", "hostname"),
        ]
    )
    assert (known.returncode, known.stdout) == (0, "postgres-0\n")
    assert (unknown.returncode, unknown.stdout) == (127, "")
    assert "rm -rf /" in unknown.stderr
    assert down.returncode == 1
    assert "container not found" in down.stderr


def test_each_kubectl_at_hand_works(cluster: PracticeCluster, tmp_path: Path) -> None:
    for binary in binaries()[1:]:
        other = Kubectl(cluster, tmp_path, binary)
        calls = [
            ("get", "pods", "-A"),
            ("describe", "node", "worker-1"),
            ("top", "nodes"),
            ("auth", "can-i", "list", "pods"),
            ("exec", "-n", "shop", "postgres-0", "--", "hostname"),
            ("explain", "pod"),
            ("rollout", "history", "deploy/checkout", "-n", "shop"),
        ]
        for call, done in zip(calls, other.all(calls), strict=True):
            assert (done.returncode, bool(done.stdout)) == (0, True), (binary, call, done.stderr)


def test_a_follow_of_a_running_container_stays_open_and_an_ended_one_ends(
    kubectl: Kubectl, checkout: str
) -> None:
    ended = kubectl("logs", "-f", "-n", "shop", checkout, "--tail=1", limit=10)
    assert (ended.returncode, len(ended.stdout.splitlines())) == (0, 1)
    follow = subprocess.Popen(
        [kubectl.binary, "logs", "-f", "-n", "shop", "postgres-0", "--tail=1"],
        env=kubectl.env,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )
    with follow:
        assert follow.stdout is not None
        assert follow.stdout.readline().strip()
        assert follow.poll() is None
        follow.terminate()
