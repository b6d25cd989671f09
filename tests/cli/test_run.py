"""`truepenny run` as a person meets it: the real program, a real server, a real kubectl."""

from __future__ import annotations

import json
import os
import signal
import subprocess

import pytest

from tests.peers.model_script import Call, Refuse, Reply
from tests.peers.model_server import ModelServer

from .conftest import Account

LONG = "The answer is long enough to be streamed as it comes. " * 8


def test_the_answer_is_alone_on_stdout_and_the_work_on_stderr(account: Account) -> None:
    script = [
        Reply(text="I look at the clusters.", calls=(Call("cluster_list", {}),)),
        Reply(text=LONG),
    ]
    with ModelServer(script) as server:
        account.use_server(server)
        done = account.run("run", "What", "is", "there?")
    assert done.returncode == 0
    assert done.stdout == LONG + "\n"
    assert "I look at the clusters." in done.stderr
    assert "cluster_list" in done.stderr
    assert "success" in done.stderr
    assert "\x1b" not in done.stdout + done.stderr
    assert server.requests[0].body["messages"][-1]["content"].startswith("What is there?")


def test_json_is_one_object_a_line_and_nothing_else(account: Account) -> None:
    with ModelServer([Reply(calls=(Call("cluster_list", {}),)), Reply(text="done")]) as server:
        account.use_server(server)
        done = account.run("run", "--json", "hello")
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert events[0]["type"] == "run_started"
    assert events[-1]["type"] == "run_finished"
    assert events[-1]["answer"] == "done"
    assert {"tool_started", "tool_finished", "turn_finished"} <= {e["type"] for e in events}


def test_a_prompt_is_required(account: Account) -> None:
    done = account.run("run")
    assert done.returncode == 2
    assert "prompt is required" in done.stderr
    assert account.run("run", "  ").returncode == 2


def test_a_model_that_is_not_configured_is_exit_3_and_nothing_runs(account: Account) -> None:
    done = account.run("run", "--model", "anthropic/claude", "hello")
    assert done.returncode == 3
    assert "anthropic" in done.stderr
    assert done.stdout == ""
    assert not (account.tree / "state").exists()


def test_a_provider_that_is_not_reachable_is_exit_5(account: Account) -> None:
    account.configure(
        '[model]\ndefault = "gone/m"\n[providers.gone]\nwire = "openai_chat"\n'
        'base_url = "http://127.0.0.1:9/v1"\napi_key = "x-y-z-key"\n[providers.gone.models.m]\n'
    )
    account.use_dead_cluster()
    done = account.run("run", "--json", "hello")
    assert done.returncode == 5
    last = json.loads(done.stdout.splitlines()[-1])
    assert last["stop"]["failure"]["kind"] == "network"
    assert last["answer_state"] == "none"
    assert "127.0.0.1:9" in last["stop"]["failure"]["message"]
    assert "providers.gone.base_url" in account.run("run", "hello").stderr


def test_a_key_that_is_refused_is_exit_3_and_is_not_shown(account: Account) -> None:
    with ModelServer([]) as server:
        account.use_server(server)
        key = "sk-wrong-0123456789abcdefgh"
        done = account.run("run", "hello", env={"TRUEPENNY_PROVIDERS__PEER__API_KEY": key})
    assert done.returncode == 3
    assert "401" in done.stderr
    assert "providers.peer.api_key" in done.stderr
    assert key not in done.stdout + done.stderr
    for path in account.tree.rglob("*"):
        if path.is_file():
            assert key.encode() not in path.read_bytes(), path


def test_a_cluster_that_is_not_bound_is_exit_3_with_the_names(account: Account) -> None:
    account.use_dead_cluster()
    done = account.run("run", "--cluster", "ded", "hello")
    assert done.returncode == 3
    assert "dead" in done.stderr


def test_a_named_kubeconfig_that_is_not_there_is_never_replaced_by_practice(
    account: Account,
) -> None:
    done = account.run("run", "hello", env={"KUBECONFIG": "/nonexistent/config"})
    assert done.returncode == 3
    assert "/nonexistent/config" in done.stderr
    assert "simulator" not in done.stderr


def test_a_broken_kubeconfig_is_exit_3_and_names_the_file(account: Account) -> None:
    path = account.home / "broken"
    path.write_text("clusters: [", encoding="utf-8")
    done = account.run("run", "hello", env={"KUBECONFIG": str(path)})
    assert done.returncode == 3
    assert str(path) in done.stderr


def test_bad_toml_names_line_and_column(account: Account) -> None:
    account.configure("[run]\nmax_turns = = 3\n")
    done = account.run("run", "hello")
    assert done.returncode == 3
    assert "truepenny.toml:2:13" in done.stderr


def test_piped_text_is_context_and_framed(account: Account) -> None:
    with ModelServer([Reply(text="done")]) as server:
        account.use_server(server)
        assert account.run("run", "what is this?", stdin=b"line one\n").returncode == 0
    sent = server.requests[0].body["messages"][-1]["content"]
    assert sent.startswith("what is this?")
    assert "line one" in sent
    assert "standard input" in sent


def test_piped_bytes_that_are_no_text_are_exit_2(account: Account) -> None:
    done = account.run("run", "what is this?", stdin=b"abc\xfe\n")
    assert done.returncode == 2
    assert "byte 3 is 0xfe" in done.stderr


def test_a_reader_that_leaves_does_not_stop_the_work(account: Account) -> None:
    with ModelServer([Reply(text=LONG * 100)]) as server:
        account.use_server(server)
        read, write = os.pipe()
        process = account.start("run", "hello", stdout=write, stderr=subprocess.PIPE)
        os.close(write)
        os.close(read)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 0
    assert b"standard output was closed" in err
    shown = account.run("session", "show").stdout
    assert LONG.strip() in shown


def test_a_full_stdout_is_exit_5(account: Account) -> None:
    with ModelServer([Reply(text=LONG)]) as server, open("/dev/full", "wb") as full:
        account.use_server(server)
        process = account.start("run", "hello", stdout=full, stderr=subprocess.PIPE)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 5
    assert b"No space left" in err
    assert b"Traceback" not in err


def test_an_interrupt_is_exit_130_and_the_end_is_recorded(account: Account) -> None:
    with ModelServer([Reply(text="never", stall="before")]) as server:
        account.use_server(server)
        process = account.start("run", "hello", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert process.stderr is not None
        while not server.requests and process.poll() is None:
            os.sched_yield()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b"Traceback" not in err
    (found,) = [
        r for r in account.json("session", "show", "--json")["records"] if r["type"] == "stop"
    ]
    assert found["kind"] == "cancelled"


def test_kill_leaves_a_transcript_that_is_read_and_the_next_run_works(account: Account) -> None:
    with ModelServer([Reply(text="never", stall="before"), Reply(text="fine")]) as server:
        account.use_server(server)
        process = account.start("run", "hello", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        while not server.requests and process.poll() is None:
            os.sched_yield()
        process.kill()
        process.communicate(timeout=60)
        shown = account.run("session", "show")
        assert shown.returncode == 0
        assert "hello" in shown.stdout
        assert "no recorded end" in shown.stdout
        assert account.json("session", "show", "--json")["open_turn"] is True
        again = account.run("run", "hello again")
    assert again.returncode == 0
    assert again.stdout == "fine\n"


def test_a_session_goes_on(account: Account) -> None:
    with ModelServer([Reply(text="first"), Reply(text="second")]) as server:
        account.use_server(server)
        account.run("run", "one")
        (entry,) = account.json("session", "list", "--json")["sessions"]
        done = account.run("run", "--session", entry["id"], "two")
    assert done.stdout == "second\n"
    roles = [message["role"] for message in server.requests[1].body["messages"]]
    assert roles[-3:] == ["user", "assistant", "user"]


def test_a_session_goes_on_where_it_began(account: Account) -> None:
    account.run("run", "--demo", "image-typo", "help")
    (entry,) = account.json("session", "list", "--json")["sessions"]
    on = account.run("run", "--session", entry["id"], "help")
    assert on.returncode == 0
    assert "'image-typo'" in on.stderr
    other = account.run("run", "--session", entry["id"], "--demo", "healthy", "help")
    assert "'healthy'" in other.stderr


def test_a_session_about_real_clusters_does_not_go_on_in_practice(account: Account) -> None:
    account.use_dead_cluster()
    account.run("run", "help")
    (entry,) = account.json("session", "list", "--json")["sessions"]
    del account.env["KUBECONFIG"]
    assert account.run("run", "--session", entry["id"], "help").returncode == 3
    asked_for = account.run("run", "--session", entry["id"], "--demo", "healthy", "help")
    assert asked_for.returncode == 0


def test_a_missing_prompt_is_answered_with_the_question_of_the_incident(account: Account) -> None:
    done = account.run("run", "--demo", "healthy")
    assert done.returncode == 2
    assert 'run --demo healthy "Is anything wrong' in done.stderr


def test_a_session_of_nobody_is_exit_2(account: Account) -> None:
    account.use_dead_cluster()
    done = account.run("run", "--session", "session_nope", "hello")
    assert done.returncode == 2
    assert "session_nope" in done.stderr


@pytest.mark.parametrize("session", ["../../../etc", "..", "a/b", ""])
def test_a_session_id_that_is_a_path_reaches_nothing(account: Account, session: str) -> None:
    done = account.run("session", "show", session or ".")
    assert done.returncode in (2, 4)
    assert "Traceback" not in done.stderr


def test_a_home_below_a_file_is_exit_5_with_a_remedy(account: Account) -> None:
    account.use_dead_cluster()
    (account.home / "file").write_text("", encoding="utf-8")
    place = str(account.home / "file" / "below")
    done = account.run("run", "hello", env={"TRUEPENNY_HOME": place})
    assert done.returncode == 5
    assert place in done.stderr
    assert "A file stands where a directory is needed" in done.stderr


# A small disk of its own, and a read-only one, in a mount namespace: no privilege is needed.
ON_DISK = 'mount -t tmpfs -o size={size} tmpfs "$TRUEPENNY_HOME" && {then} exec "$@"'


def on_disk(size: str, then: str = "") -> list[str]:
    return ["unshare", "-rm", "sh", "-c", ON_DISK.format(size=size, then=then), "sh"]


def test_a_full_disk_is_exit_5_and_says_so(account: Account) -> None:
    account.use_dead_cluster()
    account.tree.mkdir()
    fill = 'head -c 1m /dev/zero > "$TRUEPENNY_HOME/fill" 2>/dev/null;'
    done = account.run("run", "hello", wrap=on_disk("64k", fill))
    assert done.returncode == 5, done.stderr
    assert "No space left" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_read_only_home_is_exit_5_and_says_so(account: Account) -> None:
    account.use_dead_cluster()
    account.tree.mkdir()
    # All options again: a mount of an ordinary user's own cannot leave its limits out.
    lock = 'mount -o remount,ro,size=64k tmpfs "$TRUEPENNY_HOME";'
    done = account.run("run", "hello", wrap=on_disk("64k", lock))
    assert done.returncode == 5, done.stderr
    assert "Read-only" in done.stderr
    assert "TRUEPENNY_HOME" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_refused_provider_request_is_an_error_not_an_answer(account: Account) -> None:
    with ModelServer([Refuse(400, "bad request")] * 4) as server:
        account.use_server(server)
        done = account.run("run", "hello")
    assert done.returncode == 1
    assert done.stdout == ""


def test_a_disk_that_fills_up_during_a_run_gives_the_answer_and_exit_5(account: Account) -> None:
    with ModelServer([Reply(text=LONG * 400)]) as server:
        account.use_server(server)
        config = account.tree / "config" / "truepenny.toml"
        account.env["TRUEPENNY_CONFIG"] = str(config.rename(account.home / "truepenny.toml"))
        done = account.run("run", "hello", wrap=on_disk("48k"))
    assert LONG in done.stdout
    assert done.returncode == 5, done.stderr
    assert "not everything of this turn is recorded" in done.stderr
