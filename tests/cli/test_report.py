"""`truepenny run --deep` and `truepenny report`, as a person uses them."""

from __future__ import annotations

import json

from .conftest import Account


def test_a_deep_run_without_a_model_leaves_a_report_in_every_form(account: Account) -> None:
    done = account.run("run", "--deep", "--demo", "checkout-oom", "Why is checkout failing?")
    assert done.returncode == 0, done.stderr
    assert "h2 supported, high: container checkout" in done.stderr
    assert "explains h1" in done.stderr
    listed = json.loads(account.run("report", "list", "--json").stdout)["reports"]
    assert [one["question"] for one in listed] == ["Why is checkout failing?"]
    shown = json.loads(account.run("report", "show", listed[0]["id"], "--format", "json").stdout)
    assert shown["chains"] == [["h1", "h2"]]
    counts = shown["claims"]["counts"]
    assert counts["contained"] >= 8
    assert counts["uncited"] == 0
    # An age that the rules worked out ("14m ago") is in no result, and is marked as such.
    lost = {word for one in shown["claims"]["sentences"] for word in one["missing"]}
    assert "64Mi" not in lost
    assert "512Mi" not in lost
    target = account.home / "report.html"
    written = account.run("report", "show", "--format", "html", "--output", str(target))
    assert written.returncode == 0
    assert "OOMKilled" in target.read_text(encoding="utf-8")
    assert "## From the symptom to the cause" in account.run("report", "show").stdout


def test_no_report_is_exit_2_and_says_how_to_make_one(account: Account) -> None:
    done = account.run("report", "show")
    assert done.returncode == 2
    assert "run --deep" in done.stderr


def test_a_run_that_is_not_deep_leaves_none(account: Account) -> None:
    account.run("run", "--demo", "healthy", "help")
    assert json.loads(account.run("report", "list", "--json").stdout) == {"reports": []}
