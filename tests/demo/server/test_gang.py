"""The incident with custom resources: Volcano's kinds, and Helm's records of releases."""

from __future__ import annotations

import base64
import gzip
import json
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.demo.practice import Kubectl, binaries, rows
from truepenny.demo.cluster import PracticeCluster
from truepenny.demo.world import World

SKILLS = Path(__file__).parents[3] / "skills"


@pytest.fixture(scope="module")
def kubectl(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kubectl]:
    found = binaries()
    if not found:
        pytest.fail("no kubectl: ./dev installs one")
    with PracticeCluster(World.load("gang-waits")) as cluster:
        yield Kubectl(cluster, tmp_path_factory.mktemp("kubectl"), found[0])


def test_custom_kinds_print_the_columns_that_they_declare(kubectl: Kubectl) -> None:
    groups = kubectl.ok("get", "podgroups", "-n", "ml", "-o", "wide")
    assert groups.split("\n")[0].split() == [
        "NAME", "STATUS", "MINMEMBER", "RUNNINGS", "AGE", "QUEUE",
    ]  # fmt: skip
    assert [row[1:3] for row in rows(groups)] == [["Running", "2"], ["Inqueue", "4"]]
    jobs = [row[:3] for row in rows(kubectl.ok("get", "vcjob", "-n", "ml"))]
    assert jobs == [["embed", "Running", "2"], ["train", "Pending", "4"]]
    assert "research" in kubectl.ok("get", "q")
    # Two kinds of one plural: the short name and the group tell them apart.
    assert "train" in kubectl.ok("get", "jobs.batch.volcano.sh", "-n", "ml")
    assert "train" not in kubectl.ok("get", "jobs.batch", "-n", "ml")
    assert "Unschedulable" in kubectl.ok("describe", "podgroups", "-n", "ml")


@pytest.mark.parametrize(
    ("script", "words", "said"),
    [
        ("volcano-job-diagnose/scripts/diagnose-job.py", ["train", "-n", "ml"], "Pending"),
        ("volcano-diagnose-pod/scripts/diagnose-pod.py", ["train-worker-0", "-n", "ml"], "Inqueue"),
        ("volcano-queue-diagnose/scripts/diagnose-queue.py", ["research"], "Open"),
        ("volcano-node-resources/scripts/get-node-resources.py", [], "cpu: allocatable"),
        ("volcano-scheduler-config/scripts/get-scheduler-config.py", [], "allocate"),
        ("volcano-scheduler-logs/scripts/get-scheduler-logs.py", ["--grep", "train"], "not ready"),
    ],
)
def test_each_volcano_script_reads_the_incident(
    kubectl: Kubectl, script: str, words: list[str], said: str
) -> None:
    folder = Path(kubectl.binary).parent
    done = subprocess.run(
        [sys.executable, SKILLS / script, *words],
        env={**kubectl.env, "PATH": f"{folder}:/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "status: ok"), done
    assert said in done.stdout


def test_a_release_is_packed_as_helm_packs_it(kubectl: Kubectl) -> None:
    name = "sh.helm.release.v1.train.v2"
    secret = kubectl.json("get", "secret", name, "-n", "ml")
    assert secret["type"] == "helm.sh/release.v1"
    assert secret["metadata"]["labels"]["owner"] == "helm"
    packed = base64.b64decode(base64.b64decode(secret["data"]["release"]))
    release = json.loads(gzip.decompress(packed))
    assert (release["name"], release["version"], release["info"]["status"]) == (
        "train", 2, "deployed",
    )  # fmt: skip
    assert "tr4ck-practice-pw" in release["manifest"]
    assert release["config"]["tracking"]["apiKey"] == "sk_live_PracticeHelmOnly7Qe2"


def test_the_same_release_is_the_same_bytes() -> None:
    now = datetime(2026, 11, 30, 15, 0, tzinfo=UTC)
    one, two = (World.load("gang-waits", now) for _ in range(2))
    name = "Secret/volcano-system/sh.helm.release.v1.volcano.v1"
    assert one.find(name) == two.find(name)
