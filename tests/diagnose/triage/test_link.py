from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from truepenny.diagnose.triage.finding import Confidence, Finding, ObjectRef, Severity
from truepenny.diagnose.triage.link import incidents, link, notes

A, B, C = (ObjectRef("Deployment", "shop", name) for name in "abc")


def finding(
    on: ObjectRef, cause: str = "x", *by: ObjectRef, severity: Severity = Severity.CRITICAL
) -> Finding:
    return Finding("r", cause, on, "s", severity, Confidence.HIGH, "b", (), explained_by=by)


def test_a_chain_of_symptoms_folds_under_its_root() -> None:
    linked = link([finding(C, "down", B), finding(B, "down", A), finding(A)])
    (incident,) = incidents(linked)
    assert incident.root.object == A and {each.object for each in incident.symptoms} == {B, C}


def test_faults_that_nothing_connects_stay_apart_and_the_asked_one_leads() -> None:
    linked = link([finding(A), finding(B)])
    assert [each.root.object for each in incidents(linked, [B])] == [B, A]


def test_a_symptom_without_its_cause_is_a_root_of_its_own() -> None:
    (incident,) = incidents(link([finding(B, "down", A)]))
    assert incident.root.object == B


def test_what_is_no_incident_is_a_note_unless_it_is_what_was_asked() -> None:
    linked = link([finding(A, "suspended", severity=Severity.INFO)])
    assert incidents(linked) == [] and [each.object for each in notes(linked)] == [A]
    assert [each.root.object for each in incidents(linked, [A])] == [A]


@given(st.lists(st.tuples(st.integers(0, 4), st.lists(st.integers(0, 4), max_size=4)), max_size=8))
def test_links_never_form_a_circle_and_lose_nothing(edges: list[tuple[int, list[int]]]) -> None:
    refs = [ObjectRef("Pod", "n", str(number)) for number in range(5)]
    findings = [
        finding(refs[on], f"c{number}", *(refs[each] for each in by))
        for number, (on, by) in enumerate(edges)
    ]
    linked = link(findings)
    assert [replace(each, because_of=None) for each in linked] == findings
    groups = incidents(linked)
    shown = [each.root.key for each in groups]
    shown += [symptom.key for each in groups for symptom in each.symptoms]
    assert sorted(shown) == sorted(each.key for each in findings)


def test_what_breaks_more_leads_even_where_it_is_less_sure() -> None:
    unsure = replace(finding(B), confidence=Confidence.MEDIUM)
    linked = link([finding(A), unsure, finding(C, "down", B)])
    assert [each.root.object for each in incidents(linked)] == [B, A]
