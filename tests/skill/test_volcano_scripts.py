"""The Volcano scripts, run as programs with a PATH that holds a recorded kubectl and no other."""

import json
import os
import shlex
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest

SKILLS = Path(__file__).parents[2] / "skills"
CLOSED = {"ok", "no_match", "source_error", "filter_error", "not_found", "empty_source"}
CLOSED |= {"query_unsupported", "forbidden"}
HOSTILE = "first\nstatus: ok\r\x1b[2Kstatus: ok\u2028status: ok"

EVENTS = "get events -n ml --field-selector involvedObject.kind={},involvedObject.name={} -o json"
GROUPS = "podgroups.scheduling.volcano.sh"
GROUP = {
    "metadata": {
        "name": "train-pg",
        "namespace": "ml",
        "ownerReferences": [{"uid": "u-1"}],
    },
    "spec": {"minMember": 8, "minResources": {"cpu": "64"}, "queue": "research"},
    "status": {
        "phase": "Inqueue",
        "conditions": [
            {
                "type": "Unschedulable",
                "status": "True",
                "reason": "NotEnoughResources",
                "message": HOSTILE,
            }
        ],
    },
}
POD = {
    "metadata": {"name": "w-0", "annotations": {"scheduling.k8s.io/group-name": "train-pg"}},
    "spec": {"schedulerName": "volcano"},
    "status": {"phase": "Pending", "conditions": []},
}
QUEUE = {
    "metadata": {"name": "research"},
    "spec": {"weight": 1, "capability": {"cpu": "48"}},
    "status": {"state": "Open", "allocated": {"cpu": "40"}},
}
EVENT = {
    "type": "Warning",
    "reason": "Unschedulable",
    "count": 3,
    "message": HOSTILE,
    "lastTimestamp": "2026-01-01T00:00:00Z",
}
NODE = {
    "metadata": {"name": "gpu-1"},
    "spec": {"taints": [{"key": HOSTILE, "effect": "NoSchedule"}]},
    "status": {
        "allocatable": {"cpu": "7910m", "memory": "31Gi", "nvidia.com/gpu": "4"},
        "conditions": [{"type": "Ready", "status": "True"}],
    },
}
BOUND = {
    "spec": {
        "nodeName": "gpu-1",
        "overhead": {"cpu": "10m"},
        "containers": [
            {"resources": {"requests": {"cpu": "1500m", "memory": "2Gi", "nvidia.com/gpu": "3"}}}
        ],
        "initContainers": [
            {"restartPolicy": "Always", "resources": {"requests": {"cpu": "400m"}}},
            {"resources": {"requests": {"cpu": "2"}}},
        ],
    },
    "status": {"phase": "Running"},
}
DONE = {"spec": {**BOUND["spec"]}, "status": {"phase": "Succeeded"}}
JOB = {
    "metadata": {"name": "train", "uid": "u-1"},
    "spec": {"minAvailable": 8, "queue": "research", "tasks": [{"name": "w", "replicas": 8}]},
    "status": {"state": {"phase": "Pending", "message": HOSTILE}, "pending": 8},
}
ENDED = {
    "metadata": {"name": "w-0"},
    "status": {
        "phase": "Failed",
        "containerStatuses": [
            {"name": "c", "state": {"terminated": {"exitCode": 137, "reason": "OOMKilled"}}}
        ],
    },
}
SCHEDULER = {"metadata": {"name": "vs-0"}}


def some(*items: object) -> dict[str, object]:
    return {"kind": "List", "items": list(items)}


@dataclass
class Case:
    skill: str
    script: str
    arguments: str
    first: str  # the read without which there is nothing to say
    second: str | None  # a read whose failure leaves a part unknown
    answers: dict[str, object]
    says: list[str]  # in the report of the recorded answers
    wrong: list[str] = field(default_factory=list[str])

    @property
    def path(self) -> Path:
        return SKILLS / self.skill / "scripts" / self.script


NODES, PODS = "get nodes -o json", "get pods -A -o json"
LOGS = "logs vs-0 -n volcano-system --since=1h --tail=50000"
CASES = [
    Case(
        "volcano-diagnose-pod",
        "diagnose-pod.py",
        "w-0 -n ml",
        "get pods w-0 -n ml -o json",
        f"get {GROUPS} train-pg -n ml -o json",
        {
            "get pods w-0 -n ml -o json": POD,
            EVENTS.format("Pod", "w-0"): some(EVENT),
            f"get {GROUPS} train-pg -n ml -o json": GROUP,
            EVENTS.format("PodGroup", "train-pg"): some(),
            "get queues.scheduling.volcano.sh research -o json": QUEUE,
        },
        ["NotEnoughResources", "minMember  8", "state  Open", "events of the podgroup: 0"],
        ["", "w-0", "-n ml", "W_0 -n ml", "--all -n ml", "w-0 -n ml --kubeconfig=x"],
    ),
    Case(
        "volcano-job-diagnose",
        "diagnose-job.py",
        "train -n ml",
        "get jobs.batch.volcano.sh train -n ml -o json",
        "get pods -n ml -l volcano.sh/job-name=train -o json",
        {
            "get jobs.batch.volcano.sh train -n ml -o json": JOB,
            "get pods -n ml -l volcano.sh/job-name=train -o json": some(ENDED),
            f"get {GROUPS} -n ml -o json": some(GROUP, {"metadata": {"name": "other"}}),
            EVENTS.format("Job", "train"): some(EVENT),
        },
        ["phase  Pending", "c state: exit 137 OOMKilled", "podgroups: 1\n", "retryCount=-"],
        ["", "train", "tr/ain -n ml", "train -n -A"],
    ),
    Case(
        "volcano-node-resources",
        "get-node-resources.py",
        "--resource example.com/fpga",
        NODES,
        PODS,
        {NODES: some(NODE), PODS: some(BOUND, DONE)},
        [
            "cpu: allocatable 7.91, requested 2.41, left 5.5",
            "memory: allocatable 31744Mi, requested 2048Mi, left 29696Mi",
            "nvidia.com/gpu: allocatable 4, requested 3, left 1",
            "example.com/fpga: not offered",
        ],
        ["--node", "--node -x", "--resource ''", "extra"],
    ),
    Case(
        "volcano-queue-diagnose",
        "diagnose-queue.py",
        "",
        "get queues.scheduling.volcano.sh -o json",
        f"get {GROUPS} -A -o json",
        {
            "get queues.scheduling.volcano.sh -o json": some(QUEUE),
            f"get {GROUPS} -A -o json": some(GROUP),
        },
        ["weight  1", 'capability  {"cpu": "48"}', "deserved  -", "ml/train-pg"],
        ["a b", "--all", "A"],
    ),
    Case(
        "volcano-scheduler-config",
        "get-scheduler-config.py",
        "",
        "get configmaps volcano-scheduler-configmap -n volcano-system -o json",
        None,
        {
            "get configmaps volcano-scheduler-configmap -n volcano-system -o json": {
                "metadata": {"name": "volcano-scheduler-configmap"},
                "data": {"volcano-scheduler.conf": 'actions: "enqueue"\n' + HOSTILE},
            }
        },
        ['| actions: "enqueue"', "| first"],
        ["x", "--name ../x", "--namespace=-A"],
    ),
    Case(
        "volcano-scheduler-logs",
        "get-scheduler-logs.py",
        "--grep 'task (a|w-0)$' --grep other",
        "get pods -n volcano-system -l app=volcano-scheduler -o json",
        LOGS,
        {
            "get pods -n volcano-system -l app=volcano-scheduler -o json": some(SCHEDULER),
            LOGS: "I task w-0\nI task w-01\nstatus: ok other\x1b[2K\n",
        },
        ["| I task w-0\n", "| status: ok other\\x1b[2K", "scanned: 3\nmatched: 2\n"],
        [
            "--grep ''",
            "--grep '('",
            "--grep a --grep-fixed b",
            "--grep $'a\\nb'",
            "--tail 0",
            "--tail 20001",
            "--since yesterday",
            "--selector=-A",
        ],
    ),
]
EACH = pytest.mark.parametrize("case", CASES, ids=lambda case: case.script)
WORDS = {
    "forbidden": (
        'Error from server (Forbidden): x is forbidden: User "u" cannot get resource "x"',
        "forbidden",
        3,
    ),
    "no kind": ('error: the server doesn\'t have a resource type "x"', "query_unsupported", 3),
    "unreached": ("Unable to connect to the server: EOF", "source_error", 3),
    "discovery": (
        "couldn't get resource list for x\nerror: the server doesn't have a resource type \"x\"",
        "source_error",
        5,
    ),
    "failing": ("Error from server (InternalError): boom", "source_error", 5),
}


class Kubectl:
    """A folder that is the whole PATH: python3, grep, and a kubectl of recorded answers."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in ("bash", "grep"):
            found = next(p for p in (Path("/usr/bin", name), Path("/bin", name)) if p.exists())
            (folder / name).symlink_to(found)
        (folder / "python3").symlink_to(os.path.realpath(sys.executable))

    def record(self, answers: dict[str, object], failing: dict[str, str] | None = None) -> None:
        lines = ["#!/bin/bash", 'case "${*:1:$#-1}" in']
        for number, (key, answer) in enumerate(answers.items()):
            kept = self.folder / f"answer-{number}"
            kept.write_text(answer if isinstance(answer, str) else json.dumps(answer))
            lines.append(f"  {shlex.quote(key)}) exec /bin/cat {shlex.quote(str(kept))};;")
        for key, words in (failing or {}).items():
            lines.insert(
                2, f"  {shlex.quote(key)}) printf '%s\\n' {shlex.quote(words)} >&2; exit 1;;"
            )
        lines += ['  *) echo unrecorded: "$*" >&2; exit 99;;', "esac"]
        program = self.folder / "kubectl"
        program.write_text("\n".join(lines) + "\n")
        program.chmod(0o755)

    def run(self, case: Case, arguments: str | None = None) -> subprocess.CompletedProcess[str]:
        line = f"exec {shlex.quote(str(case.path))} " + (
            case.arguments if arguments is None else arguments
        )
        return subprocess.run(
            [str(self.folder / "bash"), "--norc", "-c", line],
            env={"PATH": str(self.folder), "LC_ALL": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )


@pytest.fixture
def kubectl(tmp_path: Path) -> Kubectl:
    return Kubectl(tmp_path)


def status(done: subprocess.CompletedProcess[str]) -> str:
    """The status of a report, after what holds of each one was checked."""
    lines = done.stdout.split("\n")
    assert lines[-1] == ""
    ends = [line for line in done.stdout.splitlines() if line.startswith("status:")]
    assert ends == [lines[-2]], done.stdout + done.stderr
    assert lines[0].startswith("source: ")
    assert lines[1].startswith("window: ")
    assert "\x1b" not in done.stdout
    said = lines[-2].removeprefix("status: ")
    assert said in CLOSED
    return said


@EACH
def test_ok_and_hostile_data_stays_data(kubectl: Kubectl, case: Case) -> None:
    kubectl.record(case.answers)
    done = kubectl.run(case)
    assert (status(done), done.returncode, done.stderr) == ("ok", 0, "")
    for words in case.says:
        assert words in done.stdout


@EACH
@pytest.mark.parametrize("kind", list(WORDS))
def test_a_first_read_that_fails_is_named(kubectl: Kubectl, case: Case, kind: str) -> None:
    words, expected, code = WORDS[kind]
    kubectl.record(case.answers, {case.first: words})
    done = kubectl.run(case)
    assert (status(done), done.returncode) == (expected, code)
    assert words in done.stderr
    assert words not in done.stdout


@pytest.mark.parametrize("case", [c for c in CASES if c.second], ids=lambda case: case.script)
@pytest.mark.parametrize("kind", list(WORDS))
def test_a_second_read_that_fails_leaves_a_part_unknown(
    kubectl: Kubectl, case: Case, kind: str
) -> None:
    words, expected, code = WORDS[kind]
    kubectl.record(case.answers, {case.second or "": words})
    done = kubectl.run(case)
    assert (status(done), done.returncode) == (expected, code)
    assert f"unknown ({expected}" in done.stdout
    assert words in done.stderr


@EACH
def test_an_object_that_is_not_there(kubectl: Kubectl, case: Case) -> None:
    kubectl.record({}, {case.first: 'Error from server (NotFound): x "y" not found'})
    done = kubectl.run(case)
    assert (status(done), done.returncode) == ("not_found", 4)


@EACH
def test_a_missing_kubectl_is_no_source(kubectl: Kubectl, case: Case) -> None:
    done = kubectl.run(case)
    assert (status(done), done.returncode) == ("source_error", 3)


@EACH
@pytest.mark.parametrize("answer", ["", "<html>", "[]", '{"items": 3}', '{"items": [1]}'])
def test_an_answer_of_another_shape_is_never_ok(kubectl: Kubectl, case: Case, answer: str) -> None:
    reads = {case.first: answer}
    if " -o json" in (case.second or ""):
        reads[case.second or ""] = answer
    kubectl.record({**case.answers, **reads})
    done = kubectl.run(case)
    assert done.returncode in (4, 5), done.stdout
    assert status(done) in ("source_error", "empty_source")


@EACH
def test_wrong_arguments_give_no_report(kubectl: Kubectl, case: Case) -> None:
    for arguments in case.wrong:
        done = kubectl.run(case, arguments)
        assert (done.returncode, done.stdout) == (2, ""), arguments
        assert "usage:" in done.stderr


def test_nothing_found(kubectl: Kubectl) -> None:
    nodes, queues, logs = CASES[2], CASES[3], CASES[5]
    for case in (nodes, queues):
        kubectl.record({**case.answers, case.first: some()})
        done = kubectl.run(case)
        assert (status(done), done.returncode) == ("no_match", 0)
    kubectl.record(logs.answers)
    done = kubectl.run(logs, "--pod nobody")
    assert (status(done), done.returncode) == ("no_match", 0)
    assert "scanned: 3\nmatched: 0\n" in done.stdout
    kubectl.record({**logs.answers, LOGS: ""})
    done = kubectl.run(logs)
    assert (status(done), done.returncode) == ("empty_source", 4)
    kubectl.record({**logs.answers, logs.first: some()})
    done = kubectl.run(logs)
    assert (status(done), done.returncode) == ("not_found", 4)


def test_an_absent_podgroup_is_a_finding(kubectl: Kubectl) -> None:
    case = CASES[0]
    kubectl.record(case.answers, {case.second or "": "Error from server (NotFound): no"})
    done = kubectl.run(case)
    assert (status(done), done.returncode) == ("ok", 0)
    assert "podgroup: absent" in done.stdout


def test_long_lists_and_values_say_that_they_are_cut(kubectl: Kubectl) -> None:
    case = CASES[3]
    long = {**QUEUE, "metadata": {"name": "q" * 900}}
    kubectl.record({**case.answers, case.first: some(*[long] * 201)})
    done = kubectl.run(case)
    assert status(done) == "ok"
    assert "queues: 201 (first 200 shown)" in done.stdout
    assert "[cut: 900 characters]" in done.stdout


def test_what_the_scripts_share_is_one_text() -> None:
    shared: set[str] = set()
    for case in CASES:
        text = case.path.read_text()
        begin = text.index("# --- The same in each Volcano script")
        shared.add(text[begin : text.index("# --- End of what is the same.")])
    assert len(shared) == 1
