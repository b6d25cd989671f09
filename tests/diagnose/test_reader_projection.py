"""A part of a document by path, masked first, from answers of any size."""

from __future__ import annotations

import json
from typing import Any

import pytest

from truepenny.diagnose.reader import MAX_DOCUMENT_BYTES, Reader
from truepenny.execute.ending import Outcome
from truepenny.tool.result import Result

from .fake_kubectl import FakeKubectl

pytestmark = pytest.mark.anyio


def pods(*names: str) -> str:
    items: list[dict[str, Any]] = [
        {
            "kind": "Pod",
            "metadata": {"name": name},
            "spec": {"containers": [{"env": [{"name": "DB_PASSWORD", "value": "otter-4711"}]}]},
        }
        for name in names
    ]
    return json.dumps({"kind": "List", "items": items})


async def take(fake: FakeKubectl, path: str, line: str = "get pods -o json", **more: Any) -> Result:
    reading = await Reader(fake.cluster()).read(line.split(), json_path=path, **more)
    assert reading.value is None
    return reading.result


async def test_each_result_is_a_line(fake: FakeKubectl) -> None:
    fake.says(pods("a", "b"))
    result = await take(fake, ".items[].metadata.name")
    assert (result.outcome, result.text) == (Outcome.SUCCESS, "a\nb\n")
    whole = result.facts.completeness
    assert (whole.state, whole.unit, whole.shown, whole.total) == ("complete", "lines", 2, 2)
    assert result.facts.detail["json_path"] == ".items[].metadata.name"
    again = await take(fake, ".items[-1].metadata", "get pods -o yaml")
    assert again.text == '{"name":"b"}\n'
    assert fake.calls[-1]["argv"][-2:] == ["-o", "json"]


async def test_a_value_is_masked_before_it_is_picked(fake: FakeKubectl) -> None:
    fake.says(pods("a"))
    result = await take(fake, ".items[].spec.containers[0].env[0].value")
    assert "otter" not in result.text
    assert sum(result.facts.redactions.values()) == 1


async def test_an_answer_larger_than_a_document_streams(fake: FakeKubectl) -> None:
    body = (
        'sys.stdout.write(\'{"kind": "List", "items": [\')\n'
        "for n in range(2200):\n"
        "    item = {'kind': 'Pod', 'metadata': {'name': 'p%d' % n, 'note': 'n' * 8000}}\n"
        "    sys.stdout.write((', ' if n else '') + json.dumps(item))\n"
        "sys.stdout.write(']}')\n"
    )
    result = await take(fake.does(body), ".items[].metadata.name", max_bytes=1024)
    facts = result.facts
    assert result.outcome is Outcome.SUCCESS
    assert facts.bytes.observed > MAX_DOCUMENT_BYTES
    assert result.text.startswith("p0\n")
    assert result.text.endswith("p2199\n")
    assert (facts.completeness.state, facts.completeness.total) == ("partial", 2200)
    assert "json_path" in facts.completeness.next
    whole = await Reader(fake.cluster()).read(["get", "pods", "-o", "json"])
    assert whole.result.outcome is Outcome.TRUNCATED
    assert "json_path" in whole.result.facts.completeness.next


async def test_a_path_that_leads_nowhere_says_where(fake: FakeKubectl) -> None:
    fake.says(json.dumps({"kind": "Pod", "metadata": {"name": "a"}}))
    result = await take(fake, ".spec.nodeName", "get pod a -o json")
    assert (result.outcome, result.facts.reason) == (Outcome.INVALID_ARGUMENTS, "json_path")
    assert "has no 'spec'" in result.text
    assert "metadata" in result.text


async def test_an_empty_list_is_no_match_and_not_an_empty_answer(fake: FakeKubectl) -> None:
    fake.says(json.dumps({"kind": "List", "items": []}))
    result = await take(fake, ".items[].metadata.name")
    assert result.outcome is Outcome.NO_MATCH
    assert "leads to nothing" in result.text


async def test_what_is_no_document_or_no_whole_one_proves_nothing(fake: FakeKubectl) -> None:
    result = await take(fake.says("web\n"), ".items[].metadata.name")
    assert result.facts.completeness.state == "unknown"
    result = await take(fake.says(pods("a", "b")[:-30]), ".items[].metadata.name")
    assert result.facts.completeness.state == "partial"
    result = await take(
        fake.says("", 'Error from server (Forbidden): pods is forbidden: User "x"\n', 1), ".items[]"
    )
    assert result.outcome is Outcome.TARGET_FAILED
    assert result.facts.detail["refusal"] == "rbac"
    assert "Forbidden" in result.text


async def test_a_path_needs_a_document_and_the_grammar(fake: FakeKubectl) -> None:
    result = await take(fake, ".items[]", "get pods")
    assert (result.facts.reason, result.facts.hint) == ("json_path", "kubectl get pods -o json")
    for path in (".items[?(@.a)]", ".a..b", ".items[1:2]", ".a | length"):
        result = await take(fake, path)
        assert result.outcome is Outcome.INVALID_ARGUMENTS, path
    assert fake.calls == []
