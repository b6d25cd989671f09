"""The whole pass: order of the findings, and that every hint passes itself."""

from __future__ import annotations

import random

import pytest

from truepenny.command.check import Admitted, check
from truepenny.command.refusal import Refusal

from .shell.generate import line as generated


def refusal(line: str, context: str = "node") -> Refusal:
    judged = check(line, context)
    assert isinstance(judged, Refusal), line
    return judged


@pytest.mark.parametrize("context", ["", "LOCAL", "cluster", "node ", "unknown"])
def test_an_unknown_context_allows_nothing(context: str) -> None:
    assert refusal("true", context).rejected_by == "context"


@pytest.mark.parametrize(
    ("line", "context", "reason"),
    [
        ("", "node", "empty"),
        ("ls '$(x)'", "node", "substitution"),
        ("grep '`' /x", "node", "substitution"),
        ("ls\nid", "node", "newline"),
        ("ls > /tmp/x", "node", "redirection"),
        ("ls >/dev/nullx", "node", "redirection"),
        ("cat < /etc/hosts", "node", "redirection"),
        ("ls 3>/dev/null", "node", "redirection"),
        ("LD_PRELOAD=/x ls", "node", "assignment"),
        ("TZ=/etc/shadow date", "node", "assignment"),
        ("PATH=/tmp ls", "node", "assignment"),
        ("LC_ALL=C", "node", "no_program"),
        ("nosuch", "node", "program"),
        ("LS /", "node", "program"),
        ("/tmp/ls", "node", "program"),
        ("./ls", "node", "program"),
        ("/usr/bin/../../tmp/ls", "node", "program"),
        ("$x", "node", "program"),
        ("bash -c id", "node", "program"),
        ("ls | head", "pod", "pod_single_command"),
        ("ls 2>/dev/null", "pod", "pod_single_command"),
        ("ls /x/*", "pod", "pod_no_shell"),
        ("cat x", "local", "context_program"),
        ("env", "local", "context_program"),
        ("grep x y", "local", "not_piped"),
        ("kubectl get pods | grep x y", "local", "file_operand"),
        ("kubectl get pods | jq . x", "local", "file_operand"),
        ("kubectl get pods", "node", "context_program"),
        ("env | grep x", "node", "pipe_source"),
        ("printenv x | cat", "node", "pipe_source"),
        ("crictl inspect x | jq .", "node", "pipe_source"),
        ("crictl -t 5s inspect x | jq .", "node", "pipe_source"),
        ("ls ~", "node", "tilde"),
        ("ls {a,{b,c}", "node", "braces"),
        ("ls $x", "node", "parameter"),
        ("test -f '[x]'", "node", "expression"),
        ("printf -v x y", "node", "flag_refused"),
        ("grep $'\\x60id\\x60' /x", "node", "escape"),
        ("ip link set eth0 down", "node", "subcommand"),
        ("ip link show -batch /x", "node", "flag_refused"),
        ("sort --outp=x /y", "node", "flag"),
        ("ls --al /", "node", "abbreviated_flag"),
        ("ls *", "node", "glob"),
        ("uniq /tmp/*", "node", "glob"),
        ("top", "node", "required_flag"),
        ("cat /etc/shadow", "node", "sensitive_path"),
        ("cat /etc/sha*", "node", "sensitive_path"),
    ],
)
def test_the_first_finding_answers(line: str, context: str, reason: str) -> None:
    assert refusal(line, context).rejected_by == reason


def test_a_program_of_another_context_is_told_both() -> None:
    found = refusal("cat x", "local")
    assert found.message == "cat may not run in the context local, only in: host, node, pod"


def test_a_refusal_is_machine_readable() -> None:
    found = refusal("cat /etc/shado?")
    assert found.as_dict() == {
        "rejected_by": "sensitive_path",
        "matched": "/etc/shado?",
        "message": "cat: /etc/shado? is a sensitive place; ask getent passwd or id",
        "hint": "getent passwd",
        "expands_onto": "/etc/shadow",
    }


def test_an_admitted_line_names_its_programs() -> None:
    judged = check("kubectl get pods -n a | grep -v b && date", "local")
    assert isinstance(judged, Admitted)
    assert judged.programs == ("kubectl", "grep", "date")


@pytest.mark.parametrize(
    ("line", "context", "hint"),
    [
        ("sudo ip addr", "node", "ip addr"),
        ("timeout 5 ip a", "node", "ip a"),
        ("sudo -n timeout 5 uptime", "node", ""),
        ("ls > out", "node", "ls"),
        ("top", "node", "top -b -n 1"),
        ("ping 10.0.0.1", "node", "ping -c 4 10.0.0.1"),
        ("cat *.log", "node", "cat ./*.log"),
        ("find /x -name *.gz", "node", "find /x -name '*.gz'"),
        ("find /x -type f -delete", "node", "find /x -type f"),
        ("tail -f /x", "node", "tail /x"),
        ("ls --al /", "node", "ls --all /"),
        ("[ -f /x ]", "node", "test -f /x"),
        ("hostname x", "node", "hostname"),
        ("less /x | head", "node", "cat /x | head"),
        ("docker ps -a", "node", "crictl ps -a"),
        ("systemctl restart x", "node", "systemctl"),
        ("kubectl logs x", "local", "kubectl logs x --tail=200"),
        ("kubectl get pods -A -o json | jq .", "local", "kubectl get pods -A | jq ."),
        ("kubectl --as x get pods", "local", "kubectl get pods"),
        ("ls | wc -l", "pod", "ls"),
        ("ls é", "node", "ls 'é'"),
        ("ls # all", "node", "ls"),
        ("ls ~/x", "node", "ls /root/x"),
    ],
)
def test_hints_are_the_nearest_line_that_passes(line: str, context: str, hint: str) -> None:
    assert refusal(line, context).hint == hint


@pytest.mark.parametrize("context", ["local", "node", "pod", "host"])
def test_whatever_is_hinted_passes(context: str) -> None:
    rng = random.Random(3)
    swap = ["ls", "grep x", "ip a", "sudo cat", "ps", "find /x", "sort", "kubectl get pods", "curl"]
    hinted = 0
    for _ in range(1500):
        line = generated(rng)
        for name in ("p", "q"):
            line = line.replace(name, rng.choice(swap), 1)
        judged = check(line, context)
        if isinstance(judged, Refusal) and judged.hint:
            hinted += 1
            assert isinstance(check(judged.hint, context), Admitted), judged
    assert hinted > 30
