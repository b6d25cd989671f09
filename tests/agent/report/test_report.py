"""A report says what was found, what was not, and what was not looked at, in every form."""

from __future__ import annotations

import json
from collections.abc import Mapping
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from truepenny.agent.claim.check import check
from truepenny.agent.claim.source import Source
from truepenny.agent.event import RunFinished
from truepenny.agent.report.build import build
from truepenny.agent.report.html import html
from truepenny.agent.report.markdown import markdown
from truepenny.agent.report.report import BadReport, Report, decode, encode
from truepenny.agent.report.store import NoReport, find, listed, save
from truepenny.agent.sessions import SessionStore
from truepenny.agent.stop import COMPLETED, Stop, StopKind
from truepenny.errors import TruepennyError

HOSTILE = "<script>alert(1)</script> & `code` | pipe"
ANSWER = f"Pod web-1 is Evicted [call_1]. Pod web-2 is Evicted [call_1]. {HOSTILE} is the cause."


def hypothesis(name: str, state: str, **fields: Any) -> dict[str, Any]:
    made = {
        "id": name, "claim": f"claim {name}", "state": state, "confidence": "high",
        "supports": ["call_1"], "against": [], "explains": "", "next_check": "",
    }  # fmt: skip
    return made | fields


HYPOTHESES = [
    hypothesis("h1", "supported", claim="pods are evicted"),
    hypothesis("h2", "supported", explains="h1", claim=HOSTILE),
    hypothesis("h3", "rejected", against=["call_2"], claim="the image is bad"),
    hypothesis("h4", "open", next_check="kubectl top nodes"),
]


def result(call: str, outcome: str, completeness: str, **facts: Any) -> Mapping[str, Any]:
    whole = {"state": completeness, "reason": "byte limit", "shown": 5, "total": None}
    facts = {"completeness": whole, "command": f"kubectl {call}", **facts}
    return {"type": "result", "call": call, "tool": "kubectl", "outcome": outcome, "facts": facts}


RECORDS = [
    {"type": "tool", "call": "call_1", "tool": "kubectl", "arguments": {}},
    result("call_1", "success", "complete", redactions={"token": 2}),
    result("call_2", "truncated", "partial"),
    result("call_3", "refused", "unknown", reason="sensitive_resource"),
    result("call_4", "success", "complete"),
]


def finished(stop: Stop = COMPLETED, state: str = "final", recorded: bool = True) -> RunFinished:
    sources = {"call_1": Source("call_1", "success", True, "web-1 Evicted")}
    claims = check(ANSWER, sources, sources.get).to_json()
    evidence = {"resolved": ("call_1",), "unresolved": ()}
    return RunFinished(
        "turn_1", stop, ANSWER, state, {}, evidence, claims, HYPOTHESES, recorded, "session_1"
    )  # type: ignore[arg-type]


def made(**fields: Any) -> Report:
    return build(finished(**fields), RECORDS, f"Why? {HOSTILE}", "test/m", "2026-01-01T00:00:00Z")


def test_the_chain_leads_from_the_symptom_to_the_cause() -> None:
    assert made().chains == (("h1", "h2"),)


def test_what_was_not_seen_is_listed_with_the_reason() -> None:
    gaps = {call.id: (call.gap, call.redactions) for call in made().gaps}
    assert gaps == {
        "call_1": ("", 2),
        "call_2": ("truncated; partial: byte limit, 5 of unknown", 0),
        "call_3": ("refused (sensitive_resource); unknown: byte limit, 5 of unknown", 0),
    }


def test_it_is_the_same_after_a_round_through_the_disk(tmp_path: Path) -> None:
    report = made()
    path = save(tmp_path, report)
    assert decode(path.read_bytes(), "x") == report
    assert json.loads(encode(report))["v"] == 1


def test_markdown_marks_what_rests_on_nothing() -> None:
    text = markdown(made())
    assert "Pod web-1 is Evicted [call_1]. Pod" in text
    assert "Pod web-2 is Evicted [call_1]. ⟨not in what it cites⟩" in text
    assert "is the cause. ⟨cites no call⟩" in text
    for part in ("because `<script>", "the image is bad", "kubectl top nodes", "refused (sens"):
        assert part in text


class Page(HTMLParser):
    """Collects tags and text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        self.text += data


def test_html_is_one_file_in_which_nothing_runs() -> None:
    page = Page(html(made()))
    assert not {"script", "img", "link", "iframe"} & set(page.tags)
    assert not [name for name, _ in page.attributes if name.startswith("on") or name == "src"]
    assert page.text.count(HOSTILE) >= 3
    assert page.tags.count("mark") == 2


@pytest.mark.parametrize(
    "fields",
    [
        {"stop": Stop(StopKind.TIMEOUT, message="too slow"), "state": "partial"},
        {"recorded": False},
    ],
)
def test_a_run_that_did_not_end_well_says_so_first(fields: dict[str, Any]) -> None:
    for text in (markdown(made(**fields)), html(made(**fields))):
        assert "did not end with a whole answer" in text or "could not be recorded" in text


def test_a_supported_circle_in_a_file_ends() -> None:
    end = finished()
    circle = [hypothesis("h1", "supported", explains="h2"), hypothesis("h2", "open", explains="h1")]
    object.__setattr__(end, "hypotheses", circle)
    assert build(end, [], "q", "m", "t").chains == (("h2", "h1"),)


@pytest.mark.anyio
async def test_reports_are_found_and_a_broken_one_hides_no_other(tmp_path: Path) -> None:
    store = SessionStore(tmp_path, "ada")
    with pytest.raises(NoReport, match="no report yet"):
        find(store, None)
    session = await store.create()
    await session.close()
    save(session.folder, made())
    broken = session.folder / "reports" / "turn_0.json"
    broken.write_text('{"v": 1}', encoding="utf-8")
    assert find(store, None).id == find(store, session.id).id == find(store, "turn_1").id
    found = {path.stem: type(one) for path, one in listed(store)}
    assert found == {"turn_1": Report, "turn_0": BadReport}
    with pytest.raises(TruepennyError, match="no report"):
        find(store, "turn_0")
    with pytest.raises(NoReport, match="'nope'"):
        find(store, "nope")
