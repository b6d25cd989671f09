"""The kubectl grammar: what passes, what is refused, and that every hint itself passes."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from truepenny.command.kubectl import DEFAULT_TAIL, KubectlCommand, Refusal, read
from truepenny.command.kubectl_flag import GLOBAL, VERBS


def accepted(line: str) -> KubectlCommand:
    result = read(shlex.split(line))
    assert isinstance(result, KubectlCommand), result
    return result


def rejected(line: str) -> Refusal:
    result = read(shlex.split(line))
    assert isinstance(result, Refusal), result
    return result


@pytest.mark.parametrize(
    ("line", "runs"),
    [
        ("get pods", "get pods"),
        ("kubectl get pods", "get pods"),
        ("-n shop get pods", "get pods -n shop"),
        ("get -nshop pods", "get pods -n shop"),
        ("get -n=shop pods", "get pods -n shop"),
        ("get --namespace shop pods", "get pods -n shop"),
        ("get pods -Aojson", "get pods -A -o json"),
        ("get pods -A=true -o=wide", "get pods -A -o wide"),
        ("get pods --watch=false", "get pods --watch=false"),
        ("get pods -l -odd", "get pods --selector=-odd"),
        ("get -- pods web", "get pods web"),
        ("top pods -n shop", "top pod -n shop"),
        ("-n shop auth can-i get secrets", "auth can-i get secrets -n shop"),
        ("rollout status deploy/web", "rollout status deploy/web --watch=false"),
        ("rollout status deploy/web --timeout=9s -w", "rollout status deploy/web --timeout=9s -w"),
        ("logs web", f"logs web --tail={DEFAULT_TAIL}"),
        ("logs web --since=5m", "logs web --since=5m"),
        ("logs web --tail=-1", "logs web --tail=-1"),
        ("explain pods.spec -o plaintext", "explain pods.spec -o plaintext"),
        ("version -o json", "version -o json"),
    ],
)
def test_a_read_runs_as_it_was_understood(line: str, runs: str) -> None:
    assert accepted(line).arguments == tuple(shlex.split(runs))


def test_the_parts_of_a_command_are_named() -> None:
    command = accepted("get Deployment.apps/web svc/web -n a -n b -o json")
    assert command.resources == ("deployment.apps", "svc")
    assert command.names == ("web", "web")
    assert command.namespace == "b"
    assert command.output == "json"
    assert accepted("logs deploy/web -c app --tail=7").tail == 7
    assert accepted("get pods,events -A").all_namespaces


def test_logs_by_selector_never_fall_back_to_ten_lines() -> None:
    command = accepted("logs -l app=web --since=1h")
    assert command.defaults == (f"--tail={DEFAULT_TAIL}",)
    assert command.tail == DEFAULT_TAIL


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        # Secrets in every spelling, in every format that shows values (spec/field.md B3 30, 31).
        ("get secret db -o json", "secret_values"),
        ("get secrets -oyaml", "secret_values"),
        ("get Secrets.v1. db -o yaml", "secret_values"),
        ("get pods,SECRETS -o json", "secret_values"),
        ("get pod/web secret/db -o json", "secret_values"),
        ("get secrets.v1./db -ojson", "secret_values"),
        ("get -Aojson secrets", "secret_values"),
        ("get secret --sort-by=.data.password", "secret_values"),
        ("get secret db -o name -o yaml", "repeated_output"),
        ("get pods -o name --output=yaml", "repeated_output"),
        ("get secret db -o jsonpath={.data.password}", "output_format"),
        ("get secret db -o go-template={{.data}}", "output_format"),
        ("get secret db -o go-template-file=/etc/passwd", "output_format"),
        ("get secret db -o custom-columns=X:.data", "output_format"),
        ("get pods -o kyaml", "output_format"),
        ("get pods -o=", "output_format"),
        ("get secret db --template={{.data.x}}", "output_template"),
        ("get --raw /api/v1/namespaces/a/secrets/x", "raw_path"),
        ("get pod web --subresource=proxy", "subresource"),
        # Who and where are fixed by the binding (29).
        ("--kubeconfig=/tmp/x get pods", "connection_flag"),
        ("get pods --context other", "connection_flag"),
        ("get pods --cluster=other", "connection_flag"),
        ("get pods -s https://elsewhere", "connection_flag"),
        ("get pods --insecure-skip-tls-verify", "connection_flag"),
        ("logs web --insecure-skip-tls-verify-backend", "connection_flag"),
        ("--as get delete pod x", "identity_flag"),
        ("get pods --as=root", "identity_flag"),
        ("get pods --as-group system:masters", "identity_flag"),
        ("get pods --token abc", "identity_flag"),
        ("get pods --client-key=/root/k", "identity_flag"),
        # Files of this machine, wire logs.
        ("get -f pod.yaml", "local_file_flag"),
        ("get -k .", "local_file_flag"),
        ("get pods --cache-dir=/tmp", "local_file_flag"),
        ("get pods --profile-output=/etc/x", "local_file_flag"),
        ("get pods --profile=cpu", "flag_not_allowed"),
        ("get pods -v9", "wire_log_flag"),
        ("get pods --v=8", "wire_log_flag"),
        # What never ends.
        ("get pods -w", "unbounded"),
        ("get pods -Aw", "unbounded"),
        ("get pods --watch=1", "unbounded"),
        ("get pods --watch-only", "unbounded"),
        ("events --watch", "unbounded"),
        ("logs web -f --tail=5", "unbounded"),
        ("rollout status deploy/web --watch", "unbounded"),
        # What does not read.
        ("delete pod web", "verb_not_allowed"),
        ("exec web -n shop -- cat /etc/shadow", "verb_not_allowed"),
        ("rollout restart deploy/web", "verb_not_allowed"),
        ("rollout undo deploy/web", "verb_not_allowed"),
        ("auth reconcile -f x", "verb_not_allowed"),
        ("config view --raw", "verb_not_allowed"),
        ("proxy", "verb_not_allowed"),
        ("GET pods", "verb_not_allowed"),
        ("get-all pods", "verb_not_allowed"),
        # Unknown is refused, abbreviations and underscores too (46).
        ("get pods --out=yaml", "unknown_flag"),
        ("get pods --all_namespaces", "unknown_flag"),
        ("get pods -x", "unknown_flag"),
        ("-A get pods", "unknown_flag"),
    ],
)
def test_a_rule_refuses_and_its_hint_runs(line: str, reason: str) -> None:
    refusal = rejected(line)
    assert refusal.rejected_by == reason
    assert not refusal.unusable
    accepted(refusal.hint)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("", "no_verb"),
        ("top", "no_verb"),
        ("get", "missing_resource"),
        ("logs", "missing_resource"),
        ("cluster-info dump", "unexpected_argument"),
        ("get pods -n", "flag_needs_value"),
        ("get pods --watch=maybe", "bad_flag_value"),
        ("get -", "bad_name"),
        ("get -- pods -o", "bad_name"),
        ("get ''", "bad_name"),
        ("get ſecrets", "bad_name"),
    ],
)
def test_arguments_that_make_no_command(line: str, reason: str) -> None:
    refusal = rejected(line)
    assert refusal.rejected_by == reason
    assert refusal.unusable


def test_one_string_with_the_whole_command_is_told_how_to_split() -> None:
    refusal = read(["get pods -n shop"])
    assert isinstance(refusal, Refusal)
    assert refusal.alternative == ("get", "pods", "-n", "shop")


def test_a_hint_keeps_what_was_asked() -> None:
    assert rejected("get pods -n shop -w").hint == "kubectl get pods -n shop"
    assert rejected("get pod web -n shop -o jsonpath={.status}").hint == (
        "kubectl get pod web -n shop -o json"
    )
    assert rejected("exec web -n shop -- sh").hint == "kubectl describe pod web -n shop"


def test_a_refusal_does_not_repeat_a_credential() -> None:
    refusal = rejected("get pods --token=tops3cret")
    assert "tops3cret" not in repr(refusal)


@pytest.mark.parametrize("token", ["po\x00ds", "po\nds", "po\x1b[2Jds", "x" * 5000])
def test_hostile_tokens_are_refused(token: str) -> None:
    assert isinstance(read(["get", token]), Refusal)


def test_describe_and_tables_of_secrets_are_allowed() -> None:
    for line in ("describe secret db", "get secrets", "get secrets -o wide", "get secret -o name"):
        accepted(line)
    accepted("get secrets --sort-by=.metadata.creationTimestamp")
    accepted("get configmap secret-names -o json")


_TOKENS = st.one_of(
    st.sampled_from(
        [
            *VERBS,
            *(part for verb in VERBS for part in verb.split()),
            *(f"--{flag.name}" for flags in (GLOBAL, *VERBS.values()) for flag in flags),
            *[
                "-A",
                "-o",
                "-w",
                "-f",
                "-n",
                "-l",
                "-Aojson",
                "-ojson",
                "-o=yaml",
                "-wA",
                "--",
                "-",
                "secret",
                "secrets.v1.",
                "json",
            ],
            *[
                "pods",
                "pods,secrets",
                "pod/x",
                "--watch=true",
                "--output=jsonpath={.data}",
                "delete",
                "exec",
            ],
        ]
    ),
    st.text(max_size=8),
)


@given(st.lists(_TOKENS, max_size=8))
def test_what_passes_is_stable_and_within_the_rules(tokens: list[str]) -> None:
    result = read(tokens)
    if isinstance(result, Refusal):
        if result.alternative:
            assert isinstance(read(result.alternative), KubectlCommand)
        return
    again = read(result.arguments)
    assert isinstance(again, KubectlCommand)
    assert again.arguments == result.arguments
    assert result.verb in VERBS
    flags = {flag.name: flag for flag in (*GLOBAL, *VERBS[result.verb])}
    for argument in result.arguments:
        if argument.startswith("--"):
            assert flags[argument[2:].partition("=")[0]].refusal is None
    if result.verb == "get" and any(kind.startswith("secret") for kind in result.resources):
        kinds = {kind.partition(".")[0] for kind in result.resources}
        if kinds & {"secret", "secrets"}:
            assert result.output in (None, "wide", "name")


@pytest.mark.parametrize(
    ("line", "alternative"),
    [
        (["get", "pods", "-n", "shop", "|", "grep", "x"], "kubectl get pods -n shop"),
        (["get", "pods", ";", "delete", "pod", "x"], "kubectl get pods"),
        (["get", "nodes", "2>&1"], "kubectl get nodes"),
        (["get", "nodes", ">/tmp/x"], "kubectl get nodes"),
        (["get", "pods", "$NAME"], "kubectl get pods"),
        (["get", "pods", "`id`"], "kubectl get pods"),
    ],
)
def test_a_shell_is_not_there_and_its_words_are_no_names(line: list[str], alternative: str) -> None:
    refusal = read(line)
    assert isinstance(refusal, Refusal)
    assert (refusal.rejected_by, refusal.hint) == ("shell_syntax", alternative)
    assert isinstance(read(refusal.alternative), KubectlCommand)


def test_selectors_and_wildcards_are_no_shell() -> None:
    for line in (["get", "pods", "-l", "a in (b,c)"], ["auth", "can-i", "*", "*"]):
        assert isinstance(read(line), KubectlCommand), line
