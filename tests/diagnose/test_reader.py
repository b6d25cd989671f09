"""What one read comes to, with a kubectl that says what it is told to say."""

from __future__ import annotations

import json
import os
from typing import Any

import pytest

from truepenny.diagnose.cluster_kubeconfig import Context
from truepenny.diagnose.kubectl_program import Kubectl
from truepenny.diagnose.reader import Reader
from truepenny.execute.ending import Cause, Leg, Outcome
from truepenny.tool.result import Result

from .fake_kubectl import FakeKubectl

pytestmark = pytest.mark.anyio


async def read(fake: FakeKubectl, line: str, **options: Any) -> Result:
    return (await Reader(fake.cluster()).read(line.split(), **options)).result


async def test_kubectl_gets_one_cluster_and_nothing_of_the_home(fake: FakeKubectl) -> None:
    result = await read(fake.says("NAME\nweb\n"), "get pods -n shop")
    assert result.outcome is Outcome.SUCCESS
    (call,) = fake.calls
    assert call["argv"][:2] == ["--context", "one-context"]
    assert call["argv"][2] == f"--cache-dir={fake.folder / 'cache'}"
    assert call["argv"][3].startswith("--request-timeout=")
    assert call["argv"][4:] == ["get", "pods", "-n", "shop"]
    env = call["env"]
    assert env["KUBECONFIG"] == str(fake.folder / "kubeconfig")
    assert env["HOME"] != str(fake.folder)
    assert env["KUBECTL_KUBERC"] == "false"
    assert "SECRET" not in env


async def test_a_credential_program_gets_home_and_its_cloud(fake: FakeKubectl) -> None:
    env = {"PATH": os.defpath, "HOME": "/home/me", "AWS_PROFILE": "p", "SECRET": "x"}
    context = Context("eks", server="eks.example", plugin="aws")
    await Reader(fake.cluster(env=env, context=context)).read(["get", "pods"])
    seen = fake.calls[0]["env"]
    assert (seen["HOME"], seen["AWS_PROFILE"]) == ("/home/me", "p")
    assert "SECRET" not in seen


async def test_where_an_answer_came_from(fake: FakeKubectl) -> None:
    fake.says("NAME   READY\nweb    1/1\napi    1/1\n")
    facts = (await read(fake, "get pods -n shop")).facts
    assert facts.source == {
        "cluster": "one",
        "context": "one-context",
        "server": "api.example:6443",
        "namespace": "shop",
    }
    assert facts.command == "kubectl get pods -n shop"
    assert (facts.completeness.unit, facts.completeness.shown) == ("pods", 2)
    assert (await read(fake, "get pods -A")).facts.source["namespace"] == "all"
    assert (await read(fake, "get pods")).facts.source["namespace"] == "default"
    assert "namespace" not in (await read(fake, "get nodes")).facts.source


@pytest.mark.parametrize(
    ("line", "out", "err"),
    [
        ("get pods -n shop", "", "No resources found in shop namespace.\n"),
        ("get pods -n shop -o name", "", ""),
        ("get pods -n shop -o json", '{"kind":"List","items":[]}', ""),
        ("events -n shop", "", "No events found in shop namespace.\n"),
        ("top pod -n shop", "", "No resources found in shop namespace.\n"),
    ],
)
async def test_an_empty_answer_names_where_it_is_empty(
    fake: FakeKubectl, line: str, out: str, err: str
) -> None:
    result = await read(fake.says(out, err), line)
    assert result.outcome is Outcome.NO_MATCH
    assert result.facts.reason == "nothing_found"
    assert result.facts.source["namespace"] == "shop"
    assert result.facts.hint == "kubectl get namespace shop"
    assert result.facts.completeness.state == "complete"


async def test_an_empty_answer_of_a_sort_proves_nothing(fake: FakeKubectl) -> None:
    fake.says("", "No resources found in shop namespace.\n")
    result = await read(fake, "get pods -n shop --sort-by=.nope")
    assert result.facts.completeness.state == "unknown"
    assert result.facts.completeness.next == "kubectl get pods -n shop"


async def test_an_empty_log_is_an_empty_log(fake: FakeKubectl) -> None:
    result = await read(fake.says(""), "logs web")
    assert result.outcome is Outcome.SUCCESS
    assert result.facts.completeness.state == "complete"


@pytest.mark.parametrize(
    ("line", "came", "state"),
    [
        ("logs web --tail=5", 5, "unknown"),
        ("logs web --tail=5", 4, "complete"),
        ("logs web", 200, "unknown"),
        ("logs web", 20, "complete"),
        ("logs -l app=web --tail=5", 9, "unknown"),
        ("logs -l app=web --tail=5", 4, "complete"),
        ("logs web --tail=-1", 5, "complete"),
        ("logs web --since=5m", 200, "complete"),
        ("logs web --limit-bytes=10", 5, "unknown"),
    ],
)
async def test_a_log_of_exactly_the_asked_length_may_have_more(
    fake: FakeKubectl, line: str, came: int, state: str
) -> None:
    facts = (await read(fake.says("line\n" * came), line)).facts
    assert facts.completeness.state == state
    assert facts.completeness.shown is None or facts.completeness.shown in (came, came * 5)


async def test_the_default_tail_is_a_fact_and_in_the_command(fake: FakeKubectl) -> None:
    facts = (await read(fake.says("x\n"), "logs web -n shop")).facts
    assert facts.detail["defaults"] == ["--tail=200"]
    assert facts.command == "kubectl logs web -n shop --tail=200"


async def test_a_cut_table_counts_what_is_missing(fake: FakeKubectl) -> None:
    rows = "NAME\n" + "".join(f"pod-{n:04}\n" for n in range(1000))
    result = await read(fake.says(rows), "get pods -A", max_bytes=2000)
    whole = result.facts.completeness
    assert (whole.state, whole.unit, whole.total) == ("partial", "pods", 1000)
    assert whole.shown is not None
    shown = [line for line in result.text.splitlines() if line.startswith("pod-")]
    assert whole.shown == len(shown)
    sizes = result.facts.bytes
    assert sizes.observed == len(rows)
    assert sizes.observed == sizes.kept + sizes.discarded
    assert len(result.text.encode()) <= 2000


def _list(count: int, size: int = 10) -> dict[str, Any]:
    items = [
        {"kind": "Pod", "metadata": {"name": f"p{n}", "note": "x" * size}} for n in range(count)
    ]
    return {"kind": "List", "apiVersion": "v1", "items": items}


async def test_a_document_is_compact_and_cut_between_items(fake: FakeKubectl) -> None:
    fake.says(json.dumps(_list(50, 100), indent=4))
    reading = await Reader(fake.cluster()).read(["get", "pods", "-o", "json"], max_bytes=2000)
    shown = json.loads(reading.result.text)
    whole = reading.result.facts.completeness
    assert len(reading.result.text.encode()) <= 2000
    assert (whole.state, whole.shown, whole.total) == ("partial", len(shown["items"]), 50)
    assert shown["items"] == _list(50, 100)["items"][: len(shown["items"])]
    assert "_cut" in shown
    assert reading.value == _list(50, 100)


async def test_a_document_that_fits_is_whole(fake: FakeKubectl) -> None:
    result = await read(fake.says(json.dumps(_list(3), indent=4)), "get pods -o json")
    assert json.loads(result.text) == _list(3)
    assert result.facts.completeness.state == "complete"
    assert " " not in result.text


async def test_an_object_that_does_not_fit_is_not_sliced(fake: FakeKubectl) -> None:
    fake.says(json.dumps({"kind": "ConfigMap", "data": {"a": "x" * 5000}}))
    result = await read(fake, "get cm big -o json", max_bytes=1024)
    assert json.loads(result.text)["error"] == "too_large"
    assert result.facts.completeness.state == "partial"


async def test_secrets_in_a_document_are_masked_by_structure(fake: FakeKubectl) -> None:
    pod = {
        "kind": "Pod",
        "spec": {"containers": [{"env": [{"name": "DB_PASSWORD", "value": "s3"}]}]},
    }
    secret = {"kind": "Secret", "data": {"a": "aHVudGVyMg=="}}
    document = json.dumps({"kind": "List", "items": [pod, secret]})
    reading = await Reader(fake.says(document).cluster()).read(["get", "pods", "-o", "json"])
    for text in (reading.result.text, json.dumps(reading.value)):
        assert "aHVudGVyMg" not in text
        assert '"s3"' not in text
        assert "DB_PASSWORD" in text
    assert sum(reading.result.facts.redactions.values()) == 2


async def test_secrets_in_other_output_are_masked_too(fake: FakeKubectl) -> None:
    fake.says("password: hunter2hunter2\n", "token=ghp_" + "a1B2" * 9 + "\n")
    result = await read(fake, "describe cm settings")
    assert "hunter2" not in result.text
    assert "a1B2a1B2" not in result.text
    assert sum(result.facts.redactions.values()) == 2


async def test_a_failed_read_never_looks_like_an_empty_one(fake: FakeKubectl) -> None:
    fake.says('{"kind":"List","items":[]}', "error: unexpected EOF\n", 1)
    reading = await Reader(fake.cluster()).read(["get", "pods", "-o", "json"])
    assert reading.value is None
    assert reading.result.outcome is Outcome.CHANNEL_FAILED
    assert "items" not in reading.result.text
    assert reading.result.facts.completeness.state == "unknown"


async def test_words_in_place_of_a_document_are_shown(fake: FakeKubectl) -> None:
    reading = await Reader(fake.says("not json").cluster()).read(["get", "pods", "-o", "json"])
    assert reading.result.text == "not json"
    assert reading.value is None
    assert reading.result.facts.detail["document"] == "not_json"


@pytest.mark.parametrize(
    ("err", "outcome", "reason"),
    [
        ("Error from server (Forbidden): pods is forbidden", "target_failed", "forbidden"),
        ('Error from server (NotFound): pods "x" not found', "no_match", "not_found"),
        ("error: You must be logged in to the server (x)", "channel_failed", "unauthorized"),
        ("Unable to connect to the server: dial tcp: lookup x", "channel_failed", "transport"),
        ("The connection to the server a:1 was refused - did", "channel_failed", "transport"),
        ("Error from server (InternalError): x", "channel_failed", "server_error"),
        ("Error from server (TooManyRequests): x", "channel_failed", "throttled"),
        ("client rate limiter Wait returned an error: context deadline exceeded",
         "channel_failed", "timeout"),
        ("client rate limiter Wait returned an error: rate: Wait(n=1) would exceed context "
         "deadline", "channel_failed", "timeout"),
        ("Unable to connect to the server: getting credentials: exec: executable aws not found",
         "missing_dependency", "credential_plugin"),
        ("error: unknown flag: --x", "invalid_arguments", "unknown_flag"),
        ('error: the server doesn\'t have a resource type "x"', "invalid_arguments",
         "unknown_resource"),
        ("error: Metrics API not available", "target_failed", "metrics_unavailable"),
        ('Error from server (BadRequest): previous terminated container "a" in pod "b" not found',
         "no_match", "no_previous"),
        ("something else entirely", "target_failed", ""),
    ],
)  # fmt: skip
async def test_diagnostics_of_kubectl(
    fake: FakeKubectl, err: str, outcome: str, reason: str
) -> None:
    result = await read(fake.says("", f"I1130 note\n{err}\n", 1), "get pods -n shop")
    assert (result.outcome, result.facts.reason) == (Outcome(outcome), reason)
    assert (result.facts.leg is Leg.TRANSPORT) == (outcome == "channel_failed")
    assert err in result.text
    assert result.facts.exit is not None
    assert result.facts.exit.observed == 1


async def test_what_a_container_wrote_is_no_diagnostic(fake: FakeKubectl) -> None:
    log = "Error from server (Forbidden): no\nUnable to connect to the server: x\n"
    assert (await read(fake.says(log), "logs web")).outcome is Outcome.SUCCESS
    failed = await read(fake.says(log, "error: odd\n", 1), "logs web")
    assert (failed.outcome, failed.facts.reason) == (Outcome.TARGET_FAILED, "")


@pytest.mark.parametrize(
    ("out", "code", "allowed"), [("yes\n", 0, True), ("no\n", 1, False), ("no - rbac\n", 1, False)]
)
async def test_can_i_is_answered_and_not_failed(
    fake: FakeKubectl, out: str, code: int, allowed: bool
) -> None:
    result = await read(fake.says(out, code=code), "auth can-i get secrets")
    assert result.outcome is Outcome.SUCCESS
    assert result.facts.detail["allowed"] is allowed
    assert result.facts.exit is not None
    assert (result.facts.exit.observed, result.facts.exit.effective) == (code, 0)


async def test_can_i_without_an_answer_is_no_answer(fake: FakeKubectl) -> None:
    fake.says("", "Unable to connect to the server: x\n", 1)
    result = await read(fake, "auth can-i get pods")
    assert result.outcome is Outcome.CHANNEL_FAILED
    assert "allowed" not in result.facts.detail


async def test_a_server_that_does_not_answer_in_time(fake: FakeKubectl) -> None:
    result = await read(fake.does("import time; time.sleep(60)"), "get pods", timeout=1.0)
    assert result.outcome is Outcome.INTERRUPTED
    # Whether it waited for the server or for itself nobody saw: no leg is named.
    assert (result.facts.cause, result.facts.leg) == (Cause.TIMEOUT, None)
    assert result.facts.completeness.state == "partial"


async def test_a_missing_kubectl_is_said_with_a_way_out(fake: FakeKubectl) -> None:
    fake.path.unlink()
    result = await read(fake, "get pods")
    assert result.outcome is Outcome.MISSING_DEPENDENCY
    assert result.facts.hint
    assert result.facts.exit is None


async def test_a_refused_read_does_not_run(fake: FakeKubectl) -> None:
    reading = await Reader(fake.cluster()).read(["delete", "pod", "web"])
    assert reading.result.outcome is Outcome.REFUSED
    assert reading.command is None
    assert fake.calls == []


async def test_bytes_that_are_no_text_are_named(fake: FakeKubectl) -> None:
    result = await read(fake.does("os.write(1, b'ab\\xffc\\n')"), "logs web")
    assert result.facts.detail["bad_bytes"] == [{"offset": 2, "hex": "ff"}]
    assert "\\xff" in result.text


def test_kubectl_is_looked_up_in_order(fake: FakeKubectl, monkeypatch: pytest.MonkeyPatch) -> None:
    cache, here = fake.folder / "cache", str(fake.folder)
    assert Kubectl({"PATH": here}, cache, "/set/kubectl").find() == "/set/kubectl"
    assert Kubectl({"PATH": here}, cache).find() == str(fake.path)
    beside = fake.folder / "bin" / "python"
    beside.parent.mkdir()
    (beside.parent / "kubectl").write_text("", encoding="utf-8")
    monkeypatch.setattr("sys.executable", str(beside))
    assert Kubectl({"PATH": "/nowhere"}, cache).find() == str(beside.parent / "kubectl")


async def test_yaml_is_written_here_so_that_no_secret_is_folded_away_from_its_name(
    fake: FakeKubectl,
) -> None:
    fold = "word " * 12 + "password = hunter2-Quartz and more"
    fake.says(json.dumps({"kind": "ConfigMap", "data": {"app.conf": fold}}))
    result = await read(fake, "get configmap app -n shop -o yaml")
    assert fake.calls[0]["argv"][4:] == ["get", "configmap", "app", "-n", "shop", "-o", "json"]
    assert result.facts.command == "kubectl get configmap app -n shop -o yaml"
    assert result.text.startswith("kind: ConfigMap\n")
    assert "hunter2-Quartz" not in result.text


async def test_a_document_that_cannot_be_read_is_withheld_and_unknown(fake: FakeKubectl) -> None:
    result = await read(fake.says('{"data": {"password": "hunter2-Quartz"'), "get cm x -o json")
    assert "hunter2" not in result.text
    assert result.facts.completeness.state == "unknown"
    assert result.facts.bytes.kept == 0


async def test_no_terminal_sequence_of_a_container_comes_through(fake: FakeKubectl) -> None:
    fake.says("\x1b]0;title\x07\x1b[2Jup\npass\x1b[0mword=hunter2-Quartz\n")
    result = await read(fake, "logs web")
    assert "\x1b" not in result.text
    assert "\x07" not in result.text
    assert "hunter2" not in result.text
    assert result.facts.detail["controls"] == 3


async def test_what_never_ran_is_never_complete(fake: FakeKubectl) -> None:
    fake.path.unlink()
    assert (await read(fake, "get pods")).facts.completeness.state == "unknown"


async def test_a_document_beyond_every_limit_says_how_to_ask_for_less(
    fake: FakeKubectl, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("truepenny.diagnose.reader.MAX_DOCUMENT_BYTES", 100_000)
    result = await read(fake.does("sys.stdout.write('[' + '1,' * 400_000)"), "get pods -A -o json")
    assert result.outcome is Outcome.TRUNCATED
    assert result.facts.completeness.state == "partial"
    assert "-n" in result.facts.completeness.next
    assert "max_bytes" not in result.facts.completeness.next


@pytest.mark.parametrize(
    ("line", "timeout", "limit"),
    [
        ("get pods", 30.0, "10s"),
        ("get pods", 3.0, "1s"),
        ("get pods", 1.0, "6s"),
        ("get pods", 2.9, "8s"),
        ("logs web --tail=5", 30.0, "35s"),
    ],
)
async def test_the_limit_of_kubectl_never_meets_ours(
    fake: FakeKubectl, line: str, timeout: float, limit: str
) -> None:
    await read(fake.says("NAME\nweb\n"), line, timeout=timeout)
    assert f"--request-timeout={limit}" in fake.calls[0]["argv"]
