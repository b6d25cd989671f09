"""How an admitted line is run."""

from __future__ import annotations

import pytest

from truepenny.command.refusal import Refusal
from truepenny.diagnose.bash.line import RAW, ReadLine, read_line


def read(text: str) -> ReadLine:
    found = read_line(text)
    assert isinstance(found, ReadLine), found
    return found


def refused(text: str) -> Refusal:
    found = read_line(text)
    assert isinstance(found, Refusal)
    return found


def test_one_kubectl_command_is_read_as_the_kubectl_tool_reads_it() -> None:
    assert read("kubectl get pods -n 'shop'").alone == ("get", "pods", "-n", "shop")
    assert read("/usr/bin/kubectl get pod web -o yaml").alone is not None
    for line in (
        "kubectl get pods 2>/dev/null",
        "kubectl get pods; uptime",
        "LANG=C kubectl version",
    ):
        assert read(line).alone is None


def test_a_document_goes_to_its_filters_apart() -> None:
    found = read("kubectl get pods -n shop -o json | jq '.items|length' | head -1")
    assert found.document == ("get", "pods", "-n", "shop", "-o", "json")
    assert found.behind == "jq '.items|length' | head -1"


@pytest.mark.parametrize(
    "line",
    [
        "uptime; kubectl get pods -n shop -o json | jq .",
        "kubectl get pods -n shop -o json 2>/dev/null | jq .",
        "kubectl get pods -n shop -o yaml; uptime",
        "kubectl get cm -n shop -o yaml | grep x && uptime",
        "kubectl get pods -n shop -o json |& jq .",
    ],
)
def test_a_document_anywhere_else_is_refused_with_a_way(line: str) -> None:
    found = refused(line)
    assert found.rejected_by == "document_in_line"
    assert read(found.hint).alone is not None


def test_describe_of_what_has_values_apart_from_names_feeds_nothing() -> None:
    for kind in ("cm", "configmaps"):
        found = refused(f"kubectl describe {kind} app -n shop | tail -1")
        assert found.rejected_by == "names_lost"
        assert read(found.hint).alone is not None
    assert read("kubectl describe pod app -n shop | tail -1").described


def test_verbs_tell_whether_kubectl_is_in_the_line() -> None:
    assert read("uptime").verbs == ()
    assert read("kubectl get pods; kubectl top node | head -3").verbs == ("get", "top node")
    assert read("kubectl get --raw /healthz | head -1").verbs == (RAW,)


def test_what_the_rules_refuse_stays_refused() -> None:
    assert refused("kubectl --kubeconfig=/x get pods").rejected_by == "connection_flag"
    assert refused("kubectl get pods > out").rejected_by == "redirection"
    assert refused("kubectl delete pod x | head").rejected_by == "verb_not_allowed"
    assert refused("grep root /etc/passwd").rejected_by == "not_piped"


def test_output_that_is_masked_only_as_a_whole_is_refused() -> None:
    assert refused("crictl inspect abc").rejected_by == "output_form"
