"""One line on one host: what came back is what happened there, and nothing stays there."""

from __future__ import annotations

import shutil
import signal
from pathlib import Path

import anyio
import pytest

from truepenny.diagnose.host.host import Hosts
from truepenny.diagnose.host.host_exec import host_exec_tool
from truepenny.execute.ending import Cause, ExitFact, Leg, Outcome
from truepenny.tool.admission import Admission, Policy
from truepenny.tool.autonomy import Autonomy
from truepenny.tool.contract import ActionClass
from truepenny.tool.decision import Verdict
from truepenny.tool.result import Result

from .conftest import World
from .ssh_server import PASSWORD, Process, Server, run_without_status, serve

pytestmark = pytest.mark.anyio


async def test_a_line_runs_and_says_all_about_it(world: World) -> None:
    async with serve() as server:
        world.entries["web"] = server.entry()
        result = await world.exec("web", "echo out; echo err >&2; cat; exit 3")
        again = await world.exec("web", "true")
    assert result.text == "out\nSTDERR:\nerr\n"
    assert result.outcome is Outcome.TARGET_FAILED
    facts = result.facts
    assert facts.exit is not None
    assert (facts.exit.observed, facts.exit.signal, facts.cause) == (3, None, None)
    assert facts.source == {"host": "web", "address": f"127.0.0.1:{server.port}", "user": "ops"}
    assert facts.detail["streams"]["stdout"] == {"bytes": 4, "lines": 1}
    assert facts.detail["first_use"] == ["web"]
    assert "first time" in facts.notes[0]
    assert facts.bytes.observed == 8
    assert again.outcome is Outcome.SUCCESS
    assert "first_use" not in again.facts.detail
    assert again.facts.notes == ()


async def test_stages_are_told_and_grep_that_finds_nothing_is_an_answer(world: World) -> None:
    async with serve() as server:
        world.entries["web"] = server.entry()
        cut = await world.exec("web", "yes | head -2")
        upstream = await world.exec("web", "(echo a; exit 4) | cat")
        nothing = await world.exec("web", "echo a | grep b")
        missing = await world.exec("web", "no-such-program-here")
        syntax = await world.exec("web", "echo a | (")
    assert (cut.outcome, cut.text) == (Outcome.SUCCESS, "y\ny\n")
    assert cut.facts.exit is not None
    assert cut.facts.exit.stages == (141, 0)
    assert upstream.outcome is Outcome.UPSTREAM_FAILED
    assert nothing.outcome is Outcome.NO_MATCH
    assert missing.outcome is Outcome.MISSING_DEPENDENCY
    assert syntax.outcome is Outcome.TARGET_FAILED
    assert "a\n" not in syntax.text


async def test_binary_and_terminal_sequences_are_shown_and_counted(world: World) -> None:
    async with serve() as server:
        world.entries["web"] = server.entry()
        result = await world.exec("web", r"printf 'a\377\000b\033[31mred\036'")
    assert "\x1b" not in result.text
    assert r"a\xff" in result.text
    assert result.facts.detail["bad_bytes"] == [{"offset": 1, "hex": "ff"}]
    assert result.facts.detail["controls"] >= 2
    assert any("not UTF-8" in note for note in result.facts.notes)


async def test_secrets_are_masked_also_where_they_are_ours(world: World) -> None:
    world.redactor.learn(PASSWORD, "hosts.web.password", certain=True)
    async with serve() as server:
        world.entries["web"] = server.entry()
        result = await world.exec("web", f"echo {PASSWORD}; echo password=hunter2hunter2 >&2")
    assert PASSWORD not in result.text
    assert "hunter2" not in result.text
    assert result.facts.redactions["hosts.web.password"] == 1


async def test_what_is_cut_is_counted_and_kept_in_a_file(world: World) -> None:
    async with serve() as server:
        world.entries["web"] = server.entry()
        result = await world.exec("web", "seq 1 60000")
    facts = result.facts
    assert result.outcome is Outcome.SUCCESS
    assert facts.completeness.state == "partial"
    assert facts.completeness.total == 60000
    assert len(result.text.encode()) <= 32 * 1024
    assert facts.bytes.observed == facts.bytes.kept + facts.bytes.offloaded == 348894
    whole = Path(facts.bytes.offload_path).read_text(encoding="utf-8")
    assert whole.splitlines()[-1] == "60000"


async def test_a_flood_is_stopped_and_ended_there(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("truepenny.diagnose.host.host_exec.STOP_AFTER_BYTES", 200_000)
    async with serve() as server:
        world.entries["web"] = server.entry()
        result = await world.exec("web", "yes")
        assert server.living() == []
    assert result.outcome is Outcome.TRUNCATED
    assert result.facts.cause is Cause.OUTPUT_CAP
    assert result.facts.detail["remote_end"]["state"] == "gone"
    assert result.facts.detail["remote_end"]["found"] >= 1


async def test_a_line_that_takes_too_long_is_ended_there(world: World) -> None:
    async with serve() as server:
        world.entries["web"] = server.entry()
        result = await world.exec("web", "echo begun; sleep 60; echo never", timeout_seconds=1.5)
        assert server.living() == []
    assert result.outcome is Outcome.INTERRUPTED
    assert result.facts.cause is Cause.TIMEOUT
    assert result.text.startswith("begun\n")
    assert result.facts.detail["remote_end"] == {"state": "gone", "found": 2}
    assert any("none is left" in note for note in result.facts.notes)
    assert len(server.connections) == 2, "it is ended over a fresh connection"


async def test_what_does_not_heed_an_ending_is_killed(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("truepenny.diagnose.host.remote_shell.TERM_STEPS", 3)
    async with serve() as server:
        world.entries["web"] = server.entry()
        line = "trap '' TERM; while :; do sleep 0.1; done"
        result = await world.exec("web", line, timeout_seconds=1)
        assert server.living() == []
    assert result.facts.detail["remote_end"]["state"] == "gone"


async def test_what_is_left_in_the_background_is_ended_and_said(world: World) -> None:
    async with serve() as server:
        world.entries["web"] = server.entry()
        result = await world.exec("web", "sleep 60 >/dev/null 2>&1 & echo done")
        assert server.living() == []
    assert (result.outcome, result.text) == (Outcome.SUCCESS, "done\n")
    assert result.facts.detail["leftovers"] == 1


async def test_a_cancelled_call_leaves_nothing_on_the_host(world: World) -> None:
    async with serve() as server:
        world.entries["web"] = server.entry()
        with anyio.CancelScope() as scope:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(world.exec, "web", "sleep 60")
                await server.running("sleep")
                scope.cancel()
        assert scope.cancelled_caught
        assert server.living() == []
        assert server.closed == len(server.connections) == 2


async def test_a_cut_connection_is_no_exit_code(world: World) -> None:
    results = list[Result]()

    async def call() -> None:
        results.append(await world.exec("web", "echo begun; sleep 60; true"))

    async with serve() as server:
        world.entries["web"] = server.entry()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(call)
            await server.running("sleep")
            server.connections[0].abort()
        assert server.living() == []
    (result,) = results
    assert result.outcome is Outcome.CHANNEL_FAILED
    assert (result.facts.leg, result.facts.reason) == (Leg.TRANSPORT, "connection_lost")
    assert result.facts.exit == ExitFact()
    assert result.facts.completeness.state == "unknown"
    assert result.facts.detail["remote_end"]["state"] == "gone"


async def test_a_host_that_says_no_status_is_not_believed_to_have_succeeded(world: World) -> None:
    async with serve(run_without_status) as server:
        world.entries["web"] = server.entry()
        result = await world.exec("web", "echo all")
    assert result.outcome is Outcome.CHANNEL_FAILED
    assert (result.facts.leg, result.facts.reason) == (Leg.TRANSPORT, "no_exit_status")
    assert result.facts.exit is not None
    assert result.facts.exit.observed is None
    assert result.text == "all\n"


async def test_a_channel_that_is_closed_early_is_not_an_end(world: World) -> None:
    async def close(process: Process, server: Server) -> None:
        process.stdout.write(b"half")
        process.close()

    async with serve(close) as server:
        world.entries["web"] = server.entry()
        result = await world.exec("web", "true")
    assert (result.outcome, result.facts.reason) == (Outcome.CHANNEL_FAILED, "channel_closed")
    assert result.facts.completeness.state == "unknown"
    # Not even the ending says anything there.
    assert result.facts.detail["remote_end"]["state"] == "unknown"
    assert any("not known" in note for note in result.facts.notes)


@pytest.mark.parametrize(("name", "number"), [("SEGV", signal.SIGSEGV), ("X@host", None)])
async def test_a_signal_is_told_by_its_name(world: World, name: str, number: int | None) -> None:
    async def die(process: Process, server: Server) -> None:
        process.channel.exit_with_signal(name)

    async with serve(die) as server:
        world.entries["web"] = server.entry()
        result = await world.exec("web", "true")
    assert result.outcome is Outcome.INTERRUPTED
    assert result.facts.cause is Cause.SIGNAL
    assert result.facts.exit is not None
    assert (result.facts.exit.observed, result.facts.exit.signal) == (None, number)
    assert result.facts.detail["signal_name"] == name


async def test_an_end_that_cannot_be_confirmed_is_not_claimed(world: World) -> None:
    async def only_once(process: Process, server: Server) -> None:
        server.refusing = True

    async with serve(only_once) as server:
        world.entries["web"] = server.entry()
        result = await world.exec("web", "sleep 60", timeout_seconds=1)
    assert result.facts.cause is Cause.TIMEOUT
    assert result.facts.detail["remote_end"]["state"] == "unknown"
    assert any("is not known: the host could not be asked" in note for note in result.facts.notes)


async def test_arguments_that_no_shell_takes_are_refused_before_dialling(world: World) -> None:
    async with serve() as server:
        world.entries["web"] = server.entry()
        for line in ("  ", "a\0b", "\ud800", "x" * 40_000):
            result = await world.exec("web", line)
            assert result.outcome is Outcome.INVALID_ARGUMENTS
        assert (await world.exec("wbe", "true")).facts.hint == "host: web"
        assert server.connections == []
    world.entries.clear()
    result = await world.exec("web", "true")
    assert (result.outcome, result.facts.reason) == (Outcome.MISSING_DEPENDENCY, "no_host")


async def test_a_variable_of_ours_is_the_only_thing_a_line_finds(world: World) -> None:
    async with serve() as server:
        world.entries["web"] = server.entry()
        result = await world.exec("web", "env | sed 's/=.*//' | sort | tr '\\n' ' '")
    assert set(result.text.split()) <= {
        "HOME", "PATH", "PWD", "SHLVL", "TRUEPENNY_RUN", "TRUEPENNY_TEST_HOST", "_", "OLDPWD",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("line", "verdict"),
    [
        ("df -h / | head -3", Verdict.ALLOW),
        ("journalctl -u nginx -n 20 --no-pager", Verdict.ALLOW),
        ("rm -rf /tmp/x", Verdict.DENY),
        ("cat /etc/shadow", Verdict.DENY),
        ("bash -c id", Verdict.DENY),
        ("ps aux; reboot", Verdict.DENY),
    ],
)
def test_it_is_a_reader_because_each_line_is_judged(line: str, verdict: Verdict) -> None:
    tool = host_exec_tool(Hosts())
    assert tool.action_class is ActionClass.READ
    for autonomy in (Autonomy.READ_ONLY, Autonomy.FULL_AUTO):
        admission = Admission(Policy(autonomy=autonomy, human=True))
        decision = admission.decide(tool, {"host": "web", "command": line})
        assert decision.verdict is verdict
        assert bool(decision.reason) == (verdict is Verdict.DENY)


async def test_a_host_without_bash_runs_only_what_sh_reads_alike(world: World) -> None:
    programs = world.folder / "bin"
    programs.mkdir()
    for name in ("sh", "cat", "setsid", "grep", "sleep", "tr"):
        found = shutil.which(name)
        assert found
        (programs / name).symlink_to(found)
    async with serve() as server:
        server.path = str(programs)
        world.entries["web"] = server.entry()
        alike = await world.exec("web", "echo 'a b' | tr a-z A-Z")
        other = await world.exec("web", "echo a &>/dev/null")
    assert (alike.outcome, alike.text) == (Outcome.SUCCESS, "A B\n")
    assert any("no bash" in note for note in alike.facts.notes)
    assert (other.outcome, other.facts.reason) == (Outcome.MISSING_DEPENDENCY, "no_bash")
    assert other.facts.completeness.state == "unknown"
    assert other.facts.exit is None


async def test_a_host_without_setsid_is_cleaned_all_the_same(world: World) -> None:
    programs = world.folder / "bin"
    programs.mkdir()
    for name in ("sh", "bash", "grep", "sleep"):
        found = shutil.which(name)
        assert found
        (programs / name).symlink_to(found)
    async with serve() as server:
        server.path = str(programs)
        world.entries["web"] = server.entry()
        result = await world.exec("web", "sleep 60; true", timeout_seconds=1)
        assert server.living() == []
    assert result.facts.detail["remote_end"] == {"state": "gone", "found": 2}
