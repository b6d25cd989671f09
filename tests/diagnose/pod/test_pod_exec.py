"""pod_exec: what it came to is the command's own end, or the way to it, never one for the other."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from tests.diagnose.fake_kubectl import FakeKubectl
from truepenny.diagnose.cluster import Clusters
from truepenny.diagnose.pod.pod_exec import pod_exec_tool
from truepenny.execute.ending import Leg, Outcome
from truepenny.text.redact import Redactor
from truepenny.tool.admission import Admission, Policy
from truepenny.tool.autonomy import Autonomy
from truepenny.tool.contract import CallContext
from truepenny.tool.decision import Verdict
from truepenny.tool.invoke import Invocation, invoke
from truepenny.tool.registry import Registry

pytestmark = pytest.mark.anyio


POD: dict[str, Any] = {
    "kind": "Pod",
    "apiVersion": "v1",
    "metadata": {"name": "web-0", "namespace": "shop"},
    "spec": {"containers": [{"name": "app"}, {"name": "proxy"}]},
    "status": {
        "phase": "Running",
        "containerStatuses": [
            {"name": "app", "state": {"running": {}}},
            {"name": "proxy", "state": {"waiting": {"reason": "CrashLoopBackOff"}}},
        ],
    },
}


class PodKubectl(FakeKubectl):
    """One that reads this pod, and does what a test tells it where something is run in it."""

    def does(self, body: str, pod: dict[str, Any] | None = None) -> FakeKubectl:
        told = json.dumps(POD if pod is None else pod)
        return super().does(f"if 'get' in sys.argv: print({told!r}); sys.exit()\n{body}")

    @property
    def runs(self) -> list[list[str]]:
        words = (one["argv"] for one in self.calls)
        return [argv[argv.index("exec") :] for argv in words if "exec" in argv]


@pytest.fixture
def fake(tmp_path: Path) -> PodKubectl:
    made = PodKubectl(tmp_path)
    made.says()
    return made


async def call(fake: FakeKubectl, command: str, **more: Any) -> Invocation:
    registry = Registry((pod_exec_tool(Clusters((fake.cluster(),))),))
    context = CallContext("user", "session", "call_1", fake.folder, Redactor())
    admission = Admission(Policy(autonomy=Autonomy.READ_ONLY))
    arguments = {"namespace": "shop", "pod": "web-0", "command": command, **more}
    return await invoke("pod_exec", arguments, context, registry, admission)


async def test_the_words_reach_the_container_without_a_shell(fake: PodKubectl) -> None:
    done = await call(fake.says("ok\n"), "cat '/etc/os release'", container="app")
    assert (done.result.outcome, done.result.text) == (Outcome.SUCCESS, "ok\n")
    assert fake.runs == [
        ["exec", "-n", "shop", "web-0", "-c", "app", "--", "cat", "/etc/os release"]
    ]
    assert done.result.facts.source["pod"] == "web-0"


@pytest.mark.parametrize("command", ["rm -rf /", "ls | wc -l", "sh -c ls", "cat /etc/*"])
async def test_what_is_not_one_read_only_command_is_denied(fake: FakeKubectl, command: str) -> None:
    done = await call(fake, command)
    assert done.decision.verdict is Verdict.DENY
    assert fake.calls == []


@pytest.mark.parametrize("field", ["pod", "namespace", "container"])
async def test_a_name_cannot_be_a_flag(fake: FakeKubectl, field: str) -> None:
    done = await call(fake, "ls /", **{field: "--as=root"})
    assert (done.result.outcome, done.result.facts.reason) == (Outcome.INVALID_ARGUMENTS, field)
    assert fake.calls == []


@pytest.mark.parametrize(
    ("command", "error", "code", "outcome", "leg"),
    [
        ("ls /x", "command terminated with exit code 2\n", 2, Outcome.TARGET_FAILED, None),
        ("grep a /x", "command terminated with exit code 1\n", 1, Outcome.NO_MATCH, None),
        ("env", "command terminated with exit code 2\n", 2, Outcome.TARGET_FAILED, None),
        # The container's own words never pass for a failure of the way.
        ("ls /x", "error: unable to upgrade connection\ncommand terminated with exit code 2\n", 2,
         Outcome.TARGET_FAILED, None),
        # Nor its claim to have ended, when kubectl complains after it.
        ("grep a /x", "command terminated with exit code 1\nerror: unable to upgrade connection\n",
         1, Outcome.CHANNEL_FAILED, Leg.TRANSPORT),
        ("grep a /x", "", 1, Outcome.CHANNEL_FAILED, Leg.TRANSPORT),
        ("ls /x", 'Error from server (NotFound): pods "web-0" not found\n', 1,
         Outcome.CHANNEL_FAILED, Leg.TRANSPORT),
        ("ls /x", 'Error from server (Forbidden): pods "web-0" is forbidden\n', 1,
         Outcome.TARGET_FAILED, None),
    ],
)  # fmt: skip
async def test_the_end_of_the_command_and_of_the_way_differ(
    fake: FakeKubectl, command: str, error: str, code: int, outcome: Outcome, leg: Leg | None
) -> None:
    done = await call(fake.says("", error, code), command)
    assert (done.result.outcome, done.result.facts.leg) == (outcome, leg)
    assert (done.result.facts.completeness.state == "unknown") is (leg is Leg.TRANSPORT)


@pytest.mark.parametrize(
    ("error", "refusal"),
    [
        ('Error from server (NotFound): pods "web-0" not found\n', "absence"),
        ('Error from server (Forbidden): pods "web-0" is forbidden\n', "rbac"),
        ("Unable to connect to the server: EOF\n", "transport"),
        # Something else that nobody explained: the API server may well have answered.
        ("error: it went wrong\n", None),
        # The command's own words are no refusal of a server.
        ("Error from server (Forbidden): no\ncommand terminated with exit code 1\n", None),
    ],
)
async def test_what_the_server_refused_is_named(
    fake: FakeKubectl, error: str, refusal: str | None
) -> None:
    facts = (await call(fake.says("", error, 1), "ls /x")).result.facts
    assert facts.detail.get("refusal") == refusal
    assert any(note.startswith(f"{refusal}: ") for note in facts.notes) is (refusal is not None)


async def test_a_time_limit_says_that_the_command_may_still_run(fake: FakeKubectl) -> None:
    fake.does("import threading; threading.Event().wait()")
    done = await call(fake, "ls /", timeout_seconds=1)
    assert done.result.outcome is Outcome.INTERRUPTED
    assert any("still runs" in note for note in done.result.facts.notes)


async def test_values_of_an_environment_are_masked(fake: PodKubectl) -> None:
    done = await call(fake.says("HOME=/app\nDB_PASSWORD=hunter2hunter2\n"), "env")
    assert "HOME=/app" in done.result.text
    assert "hunter2" not in done.result.text
    done = await call(fake, "printenv DB_PASSWORD")
    assert (done.result.outcome, done.result.facts.reason) == (Outcome.REFUSED, "output_form")
    assert len(fake.runs) == 1


@pytest.mark.parametrize(
    ("annotations", "named", "where"),
    [
        ({}, None, "app"),
        ({}, "app", "app"),
        ({"kubectl.kubernetes.io/default-container": "side"}, None, "side"),
        ({"kubectl.kubernetes.io/default-container": "gone"}, None, "app"),
    ],
)
async def test_the_source_names_the_container(
    fake: PodKubectl, annotations: dict[str, str], named: str | None, where: str
) -> None:
    pod = copy.deepcopy(POD)
    pod["metadata"]["annotations"] = annotations
    pod["spec"]["initContainers"] = [{"name": "side"}]
    pod["status"]["initContainerStatuses"] = [{"name": "side", "state": {"running": {}}}]
    fake.does("print('ok')", pod)
    done = await call(fake, "ls /", **({} if named is None else {"container": named}))
    assert done.result.facts.source["container"] == where
    (run,) = fake.runs
    assert run[run.index("-c") + 1] == where


@pytest.mark.parametrize(
    ("container", "phase", "outcome", "reason", "said"),
    [
        ("proxy", "Running", Outcome.TARGET_FAILED, "not_running", "waiting: CrashLoopBackOff"),
        ("app", "Failed", Outcome.TARGET_FAILED, "not_running", "pod web-0 is Failed"),
        ("db", "Running", Outcome.INVALID_ARGUMENTS, "container", "it has app, proxy"),
    ],
)
async def test_a_container_that_does_not_run_is_not_entered(
    fake: PodKubectl, container: str, phase: str, outcome: Outcome, reason: str, said: str
) -> None:
    pod = copy.deepcopy(POD)
    pod["status"]["phase"] = phase
    fake.does("print('ok')", pod)
    result = (await call(fake, "ls /", container=container)).result
    assert (result.outcome, result.facts.reason) == (outcome, reason)
    assert said in result.text
    assert result.facts.completeness.state == "unknown"
    assert fake.runs == []


@pytest.mark.parametrize(
    ("error", "outcome", "refusal"),
    [
        ('Error from server (NotFound): pods "x" not found\n', Outcome.CHANNEL_FAILED, "absence"),
        ('Error from server (Forbidden): no\n', Outcome.TARGET_FAILED, "rbac"),
        ("Unable to connect to the server: EOF\n", Outcome.CHANNEL_FAILED, "transport"),
    ],
)  # fmt: skip
async def test_a_pod_that_is_not_read_is_not_entered(
    tmp_path: Path, error: str, outcome: Outcome, refusal: str
) -> None:
    unread = FakeKubectl(tmp_path).says("", error, 1)
    result = (await call(unread, "ls /")).result
    assert (result.outcome, result.facts.detail["refusal"]) == (outcome, refusal)
    assert (result.facts.leg is Leg.TRANSPORT) is (outcome is Outcome.CHANNEL_FAILED)
    assert len(unread.calls) == 1


async def test_an_end_without_output_is_told_as_the_word_of_kubectl(fake: PodKubectl) -> None:
    fake.says()
    silent = (await call(fake, "test -f /x")).result
    assert any("kubectl's word" in note for note in silent.facts.notes)
    fake.says("x\n")
    assert (await call(fake, "ls /")).result.facts.notes == ()
