"""The form of a command's output, and values that have lost their names."""

from __future__ import annotations

import shlex

import pytest

from truepenny.diagnose.sanitize.choice import BARE, BareStream, form_for
from truepenny.diagnose.sanitize.form import FORMS
from truepenny.text.redact import Redactor


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("kubectl get pods -A", "logs"),
        ("kubectl get pods -o wide", "logs"),
        ("kubectl get pods -o json", "k8s-json"),
        ("kubectl get pods -ojson", "k8s-json"),
        ("kubectl -n shop get cm x --output=yaml", "k8s-yaml"),
        ("kubectl get pods -Ao yaml", "k8s-yaml"),
        ("kubectl get --raw /api/v1/pods", "k8s-json"),
        ("kubectl describe pod x", "describe"),
        ("kubectl logs x", "logs"),
        ("kubectl logs x | grep secret", "logs"),
        ("kubectl get pods -o jsonpath={.items[*].metadata.name}", "logs"),
        ("kubectl get pods -o custom-columns=NAME:.metadata.name,IP:.status.podIP", "logs"),
        ("kubectl get secret x -o jsonpath={.metadata.name}", "bare"),
        ("kubectl get pods -o jsonpath={.spec.containers[0].env[0].value}", "bare"),
        ("kubectl get cm x -o go-template={{.data}}", "bare"),
        ("kubectl get cm x --template={{.data.x}}", "bare"),
        ("kubectl get foo x -o custom-columns=P:.spec.adminPassword", "bare"),
        ("kubectl get foo x -o jsonpath={..token}", "bare"),
        ("kubectl get foo x -o jsonpath-file=x", "bare"),
        ("kubectl get cm x -o jsonpath={.data.x} | base64 -d", "bare"),
        ("env", "env"),
        ("env -0", "env"),
        ("env A=1 date", "logs"),
        ("printenv", "env"),
        ("printenv DB_PASSWORD", "env"),
        ("printenv PATH DB_PASSWORD", "bare"),
        ("crictl inspect abc", "k8s-json"),
        ("crictl inspectp --template {{.x}} abc", "bare"),
        ("/usr/bin/docker inspect abc", "k8s-json"),
        ("docker ps", "logs"),
        ("helm get values x", "k8s-yaml"),
        ("helm get notes x", "logs"),
        ("helm get values x -o json", "k8s-json"),
        ("cat a.yaml", "logs"),
    ],
)
def test_a_command_tells_the_form(line: str, name: str) -> None:
    stages = [shlex.split(stage) for stage in line.split(" | ")]
    assert form_for(stages).name == name


def test_nothing_is_text() -> None:
    assert form_for([]).name == form_for([[]]).name == "logs"


def test_a_bare_value_is_judged_by_the_name_asked_for() -> None:
    stream = form_for([["printenv", "DB_PASSWORD"]]).open(Redactor())
    assert stream.feed("hunter2\n") + stream.finish() == "[REDACTED:key]\n"


def test_values_without_names_are_counted_by_line() -> None:
    stream = BareStream(Redactor())
    text = stream.feed("a b\n\nc") + stream.feed("d\ne") + stream.finish()
    assert text == f"[REDACTED:{BARE}]\n\n[REDACTED:{BARE}]\n[REDACTED:{BARE}]"
    assert stream.counts == {BARE: 3}


def test_what_goes_by_structure_is_not_for_a_run_in_the_background() -> None:
    assert {name for name, form in FORMS.items() if form.line_safe} == {"logs", "describe", "env"}
    assert all(form.structural != form.line_safe for form in FORMS.values())
    assert all(bool(form.project) == form.structural for form in FORMS.values())
