"""The other commands, each as a process: what they print, and their exit codes."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.peers.model_script import Call, Counts, Reply
from tests.peers.model_server import ModelServer

from .conftest import Account


def test_triage_names_root_cause_evidence_and_reach(account: Account) -> None:
    done = account.run("triage", "--demo", "checkout-oom", "--exit-code")
    assert done.returncode == 1
    assert "Deployment shop/checkout" in done.stdout
    assert "OOMKilled" in done.stdout
    assert "looked at:" in done.stdout
    assert "simulator" in done.stderr


def test_triage_of_a_healthy_cluster_is_clean(account: Account) -> None:
    done = account.run("triage", "--demo", "healthy", "--exit-code", "--json")
    assert done.returncode == 0
    made = json.loads(done.stdout)
    assert made["outcome"] == "success"
    assert not made["facts"]["detail"]["incidents"]


def test_triage_that_cannot_read_never_reads_as_a_pass(account: Account) -> None:
    account.use_dead_cluster()
    done = account.run("triage", "--json")
    assert done.returncode == 5
    assert json.loads(done.stdout)["outcome"] == "channel_failed"


def test_a_tool_by_hand_prints_what_a_model_would_read(account: Account) -> None:
    arguments = json.dumps({"args": ["get", "namespaces"]})
    done = account.run("tool", "call", "--demo", "healthy", "kubectl", arguments)
    assert done.returncode == 0
    head, _, body = done.stdout.partition("\n\n")
    assert head.startswith("[")
    assert "outcome success" in head
    assert "shop" in body


def test_a_refused_call_is_exit_4_with_the_rule_and_a_way_out(account: Account) -> None:
    account.use_dead_cluster()
    arguments = json.dumps({"args": ["delete", "pod", "x"]})
    done = account.run("tool", "call", "kubectl", arguments, "--json")
    assert done.returncode == 4
    made = json.loads(done.stdout)
    assert made["outcome"] == "refused"
    assert made["facts"]["reason"]


def test_wrong_arguments_are_exit_2(account: Account) -> None:
    account.use_dead_cluster()
    assert account.run("tool", "call", "kubectl", "{not json").returncode == 2
    assert account.run("tool", "call", "kubectl", "[1]").returncode == 2
    assert account.run("tool", "call", "kubctl", "{}").returncode == 2
    done = account.run("tool", "call", "kubectl", '{"args": "get pods"}')
    assert done.returncode == 2
    assert "args" in done.stdout


def test_every_tool_is_described_with_an_example_that_fits(account: Account) -> None:
    for tool in account.json("tool", "list", "--json")["tools"]:
        done = account.run("tool", "describe", tool["name"])
        assert done.returncode == 0
        assert tool["example"]
        # Without it, or with the folder that it needs.
        words = ("", "--workspace . ")
        assert any(f"truepenny tool call {one}{tool['name']} " in done.stdout for one in words)


def test_the_incidents_are_listed(account: Account) -> None:
    rows = account.json("demo", "--list", "--json")["incidents"]
    assert len(rows) >= 12
    assert all(row["question"] for row in rows)
    done = account.run("demo", "no-such-incident")
    assert done.returncode == 3
    assert "no-such-incident" in done.stderr


def test_demo_serves_kubectl_until_it_is_stopped(account: Account) -> None:
    process = account.start("demo", "healthy", stdout=subprocess.PIPE)
    assert process.stdout is not None
    kubeconfig = ""
    for line in process.stdout:
        if b"KUBECONFIG=" in line:
            kubeconfig = line.decode().partition("=")[2].strip()
            break
    done = subprocess.run(
        ["kubectl", "get", "namespaces", "-o", "name"],
        env={**account.env, "KUBECONFIG": kubeconfig}, capture_output=True, text=True,
    )  # fmt: skip
    process.terminate()
    assert process.wait(timeout=30) == 0
    process.stdout.close()
    assert "namespace/shop" in done.stdout
    assert subprocess.run(["test", "-e", kubeconfig]).returncode == 1


def test_models_show_what_is_missing(account: Account) -> None:
    account.configure('[providers.anthropic]\napi_key = "env:NOT_SET"\n')
    rows = account.json("models", "--json")["models"]
    assert rows[0]["name"] == "builtin/analyst"
    assert rows[0]["default"] is True
    assert any("NOT_SET" in row["problem"] + row["remedy"] for row in rows[1:])


def test_a_probe_says_what_works(account: Account) -> None:
    script = [
        Reply(text="ready"),
        Reply(calls=(Call("report_word", {"word": "ready"}),)),
    ]
    with ModelServer(script) as server:
        account.use_server(server)
        done = account.run("models", "peer/m", "--probe", "--json")
    assert done.returncode == 0
    (row,) = json.loads(done.stdout)["models"]
    assert row["ok"] is True
    account.configure("")
    gone = account.run("models", "peer/m", "--probe", "--json")
    assert gone.returncode == 1
    (row,) = json.loads(gone.stdout)["models"]
    assert row["reachable"] is False


def test_a_probe_says_what_it_did_not_ask(account: Account) -> None:
    done = account.run("models", "--probe", "--json", env={"ANTHROPIC_API_KEY": "an-example-key"})
    assert json.loads(done.stdout)["not_asked"] == ["anthropic/…"]
    assert "models anthropic/MODEL --probe" in done.stderr


def test_settings_show_their_source_and_no_secret(account: Account) -> None:
    secret = "sk-very-secret-0123456789"
    account.configure(f'[run]\nmax_turns = 7\n[providers.openai]\napi_key = "{secret}"\n')
    done = account.run("config", "show", "--json")
    shown = json.loads(done.stdout)["settings"]
    assert shown["run.max_turns"]["value"] == "7"
    assert "truepenny.toml:2" in shown["run.max_turns"]["source"]
    assert shown["run.timeout"]["source"] == "default"
    assert secret not in done.stdout + done.stderr
    assert account.run("config", "show", "no.such").returncode == 2


def test_a_misspelt_setting_is_warned_about_with_the_nearest(account: Account) -> None:
    account.configure("[run]\nmax_turn = 7\n")
    done = account.run("config", "show", "run")
    assert done.returncode == 0
    assert "max_turns" in done.stderr


def test_a_setting_that_nobody_knows_is_told_once(account: Account, tmp_path: Path) -> None:
    settings = tmp_path / "settings.toml"
    settings.write_text('[sandbox]\nnetwrk = "none"\n', encoding="utf-8")
    given = {"TRUEPENNY_CONFIG": str(settings)}
    for words in (("call", "host_list", "{}"), ("describe", "bash")):
        done = account.run("tool", *words, env=given)
        assert done.stderr.count("unknown key sandbox.netwrk") == 1


def test_a_list_of_no_sessions_says_how_to_make_one(account: Account) -> None:
    done = account.run("session", "list")
    assert done.returncode == 0
    assert done.stderr == (
        'truepenny: there is no session yet\n  Make one: truepenny run "Why is checkout failing?"\n'
    )


def test_sessions_are_listed_shown_counted_and_verified(account: Account) -> None:
    assert account.run("session", "show").returncode == 2
    with ModelServer([Reply(calls=(Call("cluster_list", {}),)), Reply(text="done")]) as server:
        account.use_server(server)
        account.run("run", "hello")
    (entry,) = account.json("session", "list", "--json")["sessions"]
    assert entry["prompt"] == "hello"
    shown = account.run("session", "show", "--calls")
    assert shown.returncode == 0
    assert "cluster_list" in shown.stdout
    assert "unbroken" in shown.stdout
    assert "done" in account.run("session", "tail", "--no-follow").stdout
    counted = account.json("session", "stats", "--json")
    assert counted["calls"] == {"success": 1}
    (ledger,) = account.tree.rglob("ledger.jsonl")
    data = bytearray(ledger.read_bytes())
    data[len(data) // 2] ^= 1
    ledger.write_bytes(bytes(data))
    broken = account.run("session", "show")
    assert broken.returncode == 1
    assert "ledger: broken at line" in broken.stdout


def test_a_charge_is_shown_as_a_charge(account: Account) -> None:
    with ModelServer([Reply(text="done", counts=Counts(cost=1.5))]) as server:
        account.use_server(server)
        account.configure("reports_cost = true\n")
        account.run("run", "hello")
    assert "1.50 USD" in account.run("session", "stats").stdout


def test_a_list_into_head_is_quiet(account: Account) -> None:
    done = subprocess.run(
        ["bash", "-c", 'set -o pipefail; python -m truepenny demo --list | head -1'],
        env=account.env, capture_output=True, text=True,
    )  # fmt: skip
    assert "Traceback" not in done.stderr
    assert done.stderr == ""


def test_doctor_ends_with_1_only_when_something_stops_work(account: Account) -> None:
    assert account.run("doctor").returncode == 0
    made = account.run("doctor", "--json", env={"KUBECONFIG": "/nonexistent"})
    assert made.returncode == 1
    levels = {one["name"]: one["level"] for one in json.loads(made.stdout)["checks"]}
    assert levels["clusters"] == "fail"


def test_evaluate_scores_and_says_what_could_not_run(account: Account) -> None:
    done = account.run("evaluate", "checkout-oom", "healthy", "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["passed"] is True
    account.configure(
        '[providers.gone]\nwire = "openai_chat"\nbase_url = "http://127.0.0.1:9/v1"\n'
        'api_key = "x-y-z-key"\n[providers.gone.models.m]\n'
    )
    gone = account.run("evaluate", "healthy", "--model", "gone/m", "--json")
    assert gone.returncode == 5
    made = json.loads(gone.stdout)
    assert made["total"]["could_not_run"] == 1
    assert made["total"]["mean"] is None


@pytest.mark.parametrize(
    "text",
    [
        '{"args":' + "[" * 20_000 + "]" * 20_000 + "}",
        '{"args":["get"],"max_bytes":' + "9" * 5000 + "}",
        '{"args":["get","pods"],"timeout_seconds":NaN}',
        '{"args":["get","pods"],"args":["get","nodes"]}',
        "[]",
        "",
    ],
)
def test_arguments_that_are_no_json_object_are_a_usage_error(account: Account, text: str) -> None:
    done = account.run("tool", "call", "--demo", "healthy", "kubectl", text)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_words_in_place_of_json_are_answered_with_the_json(account: Account) -> None:
    done = account.run("tool", "call", "kubectl", "get", "pods")
    assert done.returncode == 2
    assert """'{"args": ["get", "pods"]}'""" in done.stderr


def test_a_question_without_a_command_is_answered_with_the_command(account: Account) -> None:
    done = account.run("Why is checkout failing?")
    assert done.returncode == 2
    assert 'truepenny run "Why is checkout failing?"' in done.stderr
