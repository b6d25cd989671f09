"""The redactor as a filter: what comes out, what is said, and how it ends."""

from __future__ import annotations

import json
import subprocess

import pytest

from .conftest import Account


def test_a_log_comes_through_without_its_secrets(account: Account) -> None:
    done = account.run("redact", stdin=b"a\x1b[31mb\npassword=hunter2\n\xff\n")
    assert done.returncode == 0
    assert done.stdout == "ab\npassword=[REDACTED:assignment]\n\\xff\n"
    assert done.stderr.splitlines() == [
        "truepenny: 1 byte is not UTF-8, the first at 25: written as \\xNN",
        "truepenny: 1 sensitive value has been redacted (assignment 1)",
    ]


def test_nothing_is_said_where_nothing_was_redacted(account: Account) -> None:
    done = account.run("redact", stdin=b"plain\n")
    assert (done.stdout, done.stderr, done.returncode) == ("plain\n", "", 0)


@pytest.mark.parametrize(
    ("form", "given", "shown"),
    [
        (
            "k8s-json",
            '{"kind": "Secret", "data": {"a": "Ym9i"}}',
            '{"a": "[REDACTED:secret-data]"}',
        ),
        ("k8s-yaml", "kind: Secret\ndata: {a: Ym9i}\n", "a: '[REDACTED:secret-data]'"),
        ("describe", "    pass^[[0mword=Ym9i\n", "password=[REDACTED:assignment]"),
        ("env", "TOKEN=Ym9i\n more\n", "TOKEN=[REDACTED:key]\n"),
        ("logs", "token=Ym9i7x9Q\n", "token=[REDACTED:assignment]\n"),
    ],
)
def test_each_form(form: str, given: str, shown: str, account: Account) -> None:
    done = account.run("redact", "--as", form, stdin=given.encode())
    assert shown in done.stdout
    assert "Ym9i" not in done.stdout
    assert "been redacted" in done.stderr
    assert done.returncode == 0


def test_a_path_takes_parts(account: Account) -> None:
    pods = json.dumps({"items": [{"metadata": {"name": name}} for name in "ab"]}).encode()
    path = "--json-path=.items[].metadata.name"
    assert account.run("redact", "--as=k8s-json", path, stdin=pods).stdout == "a\nb\n"
    lost = account.run("redact", "--as=k8s-json", "--json-path=.kind.x", stdin=pods)
    assert (lost.returncode, lost.stdout, "has no 'kind'" in lost.stderr) == (1, "", True)
    bad = account.run("redact", "--as=k8s-json", "--json-path=.items[?(@.a)]", stdin=pods)
    assert (bad.returncode, "json_path" in bad.stderr) == (2, True)
    flat = account.run("redact", path, stdin=pods)
    assert (flat.returncode, "--json-path" in flat.stderr) == (2, True)


def test_what_cannot_be_read_is_a_failure(account: Account) -> None:
    done = account.run("redact", "--as=k8s-json", stdin=b'{"data": {"a": "Ym9i"')
    assert (done.returncode, done.stdout) == (1, "")
    assert "21 characters are not shown" in done.stderr


def test_an_unknown_form_names_the_others(account: Account) -> None:
    done = account.run("redact", "--as", "xml")
    assert (done.returncode, "k8s-yaml" in done.stderr) == (2, True)


def test_configured_values_count(account: Account) -> None:
    account.configure('[redact]\nvalues = ["env:MINE"]\n')
    done = account.run("redact", stdin=b"say plain-word\n", env={"MINE": "plain-word"})
    assert done.stdout == "say [REDACTED:redact.values.0]\n"


def test_a_line_is_written_when_it_has_come(account: Account) -> None:
    with subprocess.Popen(
        account.argv(["redact"]),
        env=account.env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write("password=hunter2\n")
        process.stdin.flush()
        assert process.stdout.readline() == "password=[REDACTED:assignment]\n"
        process.stdin.close()
