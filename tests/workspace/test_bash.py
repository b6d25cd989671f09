"""The bash tool with real shells: each fact in the result, and in the text a model reads."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import anyio
import anyio.to_thread
import pytest

from tests.execute.script import alive
from truepenny.execute.ending import Cause, Outcome
from truepenny.text.redact import Redactor
from truepenny.workspace.bash import bash_tool
from truepenny.workspace.shape import RESULT_BYTES

from .world import ALL_LEVELS, LEVELS, folder, read, world

pytestmark = pytest.mark.anyio

SECRET = "correct-horse-9-battery"


@pytest.mark.parametrize("level", LEVELS)
async def test_exit_streams_and_containment(level: str) -> None:
    async with world(level) as here:
        tool = bash_tool(here.workspace)
        done = await here.call(tool, {"command": "echo out; echo err >&2; exit 3"})
    assert done.outcome is Outcome.TARGET_FAILED
    assert done.text == "out\nSTDERR:\nerr\n"
    assert done.facts.exit is not None
    assert (done.facts.exit.observed, done.facts.exit.effective) == (3, 3)
    assert done.facts.sandbox == level
    assert done.facts.containment["account"] not in ("", "root")
    assert done.facts.detail["streams"] == {
        "stdout": {"bytes": 4, "lines": 1},
        "stderr": {"bytes": 4, "lines": 1},
    }
    assert "outcome target_failed" in read(done)
    assert "exit 3" in read(done)
    assert f"sandbox {level}" in read(done)


@pytest.mark.parametrize("level", ALL_LEVELS)
async def test_it_runs_in_the_level_that_was_asked_for_or_not_at_all(level: str) -> None:
    async with world(level) as here:
        done = await here.call(bash_tool(here.workspace), {"command": "touch ran"})
        if level in LEVELS:
            assert (done.outcome, done.facts.sandbox) == (Outcome.SUCCESS, level)
        else:
            assert (done.outcome, done.facts.reason) == (Outcome.CHANNEL_FAILED, "sandbox")
        assert (here.root / "ran").exists() == (level in LEVELS)


@pytest.mark.parametrize("level", LEVELS)
async def test_nothing_persists_but_files(level: str) -> None:
    async with world(level, env={"PATH": os.defpath, "MY_API_KEY": SECRET}) as here:
        tool = bash_tool(here.workspace)
        await here.call(tool, {"command": "x=1; cd /; echo kept >$OLDPWD/file; export y=2"})
        done = await here.call(tool, {"command": "echo [$x$y$MY_API_KEY]; pwd; cat file; cat"})
        assert done.text == f"[]\n{here.root}\nkept\n"
        assert done.outcome is Outcome.SUCCESS


async def test_pipelines_say_which_stage_failed() -> None:
    async with world() as here:
        tool = bash_tool(here.workspace)
        done = await here.call(tool, {"command": "echo a; false | cat"})
        assert done.outcome is Outcome.UPSTREAM_FAILED
        assert done.facts.exit is not None
        assert done.facts.exit.stages == (1, 0)
        assert "stages 1,0" in read(done)
        done = await here.call(tool, {"command": "seq 100000 | head -n 1"})
        assert done.outcome is Outcome.SUCCESS
        assert done.facts.exit is not None
        assert (done.facts.exit.observed, done.facts.exit.effective) == (141, 0)
        assert "SIGPIPE" in read(done)
        done = await here.call(tool, {"command": "echo a | grep b"})
        assert done.outcome is Outcome.NO_MATCH
        assert not done.outcome.failed


async def test_what_is_cut_is_counted_kept_and_named() -> None:
    async with world() as here:
        tool = bash_tool(here.workspace)
        done = await here.call(tool, {"command": "seq 20000"})
        whole = "".join(f"{number}\n" for number in range(1, 20001))
        assert done.outcome is Outcome.SUCCESS
        assert done.text.startswith("1\n2\n")
        assert done.text.endswith("20000\n")
        assert len(done.text.encode()) <= RESULT_BYTES
        sizes, missing = done.facts.bytes, done.facts.completeness
        assert Path(sizes.offload_path).read_text(encoding="utf-8") == whole
        assert sizes.observed == len(whole) == sizes.kept + sizes.offloaded
        assert sizes.discarded == 0
        assert (missing.state, missing.total) == ("partial", 20000)
        assert missing.next == f"read path={sizes.offload_path}"
        assert sizes.offload_path in read(done)


async def test_short_output_leaves_no_file() -> None:
    async with world() as here:
        done = await here.call(bash_tool(here.workspace), {"command": "echo short"})
        assert list(here.context.scratch.iterdir()) == []
        assert done.facts.bytes.offload_path == ""
        assert done.facts.completeness.state == "complete"


async def test_each_policy() -> None:
    line = "seq 1 50; echo 'fatal: no disk' >&2; seq 51 100"
    async with world() as here:
        tool = bash_tool(here.workspace)
        done = await here.call(tool, {"command": line, "output_policy": "summary"})
        path = Path(done.facts.bytes.offload_path)
        assert "stderr: fatal: no disk" in done.text
        assert done.text.startswith("1\n2\n3\n4\n[... ")
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        assert done.facts.detail["sha256"] == digest
        assert digest in read(done)
        assert done.facts.detail["error_lines"] == 1
        done = await here.call(tool, {"command": line, "output_policy": "metadata-only"})
        assert done.text == ""
        assert "lines are not shown" in read(done)
        sizes = done.facts.bytes
        assert (sizes.kept, sizes.offloaded) == (0, sizes.observed)
        assert "fatal" in Path(sizes.offload_path).read_text(encoding="utf-8")
        assert sizes.offload_path in read(done)
        done = await here.call(tool, {"command": "seq 2500", "output_policy": "full"})
        assert done.facts.completeness.state == "complete"
        done = await here.call(tool, {"command": "seq 9000", "output_policy": "full"})
        used = done.facts.detail["output_policy"]
        assert (used["asked"], used["used"]) == ("full", "bounded")
        assert used["reason"] in read(done)


async def test_a_failure_stays_a_failure_where_no_output_is_shown() -> None:
    async with world() as here:
        tool = bash_tool(here.workspace)
        for policy in ("summary", "metadata-only"):
            done = await here.call(
                tool, {"command": "seq 90; nonesuch-program", "output_policy": policy}
            )
            assert done.outcome is Outcome.MISSING_DEPENDENCY
            assert done.facts.exit is not None
            assert done.facts.exit.observed == 127
            assert done.facts.bytes.offload_path


async def test_the_ceiling_stops_a_flood_and_is_a_failure() -> None:
    async with world() as here:
        done = await here.call(
            bash_tool(here.workspace), {"command": "head -c 17825792 /dev/zero | tr '\\0' 'x'"}
        )
    assert done.outcome is Outcome.TRUNCATED
    assert done.facts.cause is Cause.OUTPUT_CAP
    sizes = done.facts.bytes
    assert sizes.observed > 16 * 1024 * 1024
    assert sizes.observed == sizes.kept + sizes.discarded + sizes.offloaded
    assert sizes.kept < RESULT_BYTES
    assert done.facts.completeness.state == "partial"


@pytest.mark.parametrize("level", LEVELS)
async def test_a_timeout_ends_all_and_keeps_what_was_said(level: str) -> None:
    async with world(level) as here:
        done = await here.call(
            bash_tool(here.workspace),
            {"command": "echo begun; sleep 60 & sleep 60", "timeout_ms": 400},
        )
    assert done.outcome is Outcome.INTERRUPTED
    assert done.facts.cause is Cause.TIMEOUT
    assert done.text.startswith("begun\n")
    assert done.facts.duration < 20
    assert "cause timeout" in read(done)


async def test_a_background_child_does_not_hold_the_call() -> None:
    async with world() as here:
        done = await here.call(bash_tool(here.workspace), {"command": "echo hi; sleep 60 &"})
    assert done.facts.duration < 20
    assert done.facts.detail["leftovers"] >= 1
    assert "left behind" in read(done)
    assert done.text == "hi\n"


async def test_secrets_are_masked_in_text_and_file() -> None:
    redactor = Redactor()
    redactor.learn(SECRET, "vault")
    async with world() as here:
        tool = bash_tool(here.workspace)
        line = f"echo {SECRET}; seq 9000; echo {SECRET} >&2"
        done = await here.call(tool, {"command": line}, redactor=redactor)
        file = Path(done.facts.bytes.offload_path).read_text(encoding="utf-8")
        assert SECRET not in done.text
        assert SECRET not in file
        assert file.count("[REDACTED:vault]") == 2
        assert done.facts.redactions == {"vault": 2}
        done = await here.call(
            tool, {"command": line, "output_policy": "summary"}, redactor=redactor
        )
        assert SECRET not in done.text


async def test_binary_output_is_named_and_never_repaired() -> None:
    async with world() as here:
        done = await here.call(
            bash_tool(here.workspace), {"command": r"printf 'a\xff\xfeb\n\033[31mred\033[0m\n'"}
        )
    assert done.text == "a\\xff\\xfeb\nred\n"
    assert done.facts.detail["bad_bytes"] == [{"offset": 1, "hex": "fffe"}]
    assert done.facts.detail["controls"] == 2
    assert "not UTF-8" in read(done)
    assert "control characters" in read(done)


async def test_where_it_may_not_run() -> None:
    async with world() as here:
        tool = bash_tool(here.workspace)
        (here.root / "sub").mkdir()
        (here.root / "out").symlink_to("/")
        (here.root / "round").symlink_to("round")
        here.write("file", "")
        done = await here.call(tool, {"command": "pwd", "cwd": "sub"})
        assert done.text == f"{here.root}/sub\n"
        assert done.facts.detail["cwd"] == f"{here.root}/sub"
        for cwd, outcome in (
            ("out", Outcome.REFUSED),
            ("out/etc", Outcome.REFUSED),
            ("..", Outcome.REFUSED),
            ("/", Outcome.REFUSED),
            ("sub/../../state", Outcome.REFUSED),
            ("none", Outcome.INVALID_ARGUMENTS),
            ("file", Outcome.INVALID_ARGUMENTS),
            ("round", Outcome.INVALID_ARGUMENTS),
            ("a\0b", Outcome.INVALID_ARGUMENTS),
        ):
            done = await here.call(tool, {"command": "pwd >ran", "cwd": cwd})
            assert (cwd, done.outcome) == (cwd, outcome)
            assert done.facts.exit is None
            if cwd in ("none", "file"):
                assert f"its path from {here.root}" in done.facts.hint
        assert not (here.root / "ran").exists()


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("echo a\0b", "nul_character"),
        ("echo \ud800", "not_unicode"),
        ("echo " + "x" * 131072, "too_long"),
        ("  \n", "empty"),
    ],
)
async def test_lines_that_no_shell_can_be_given(command: str, reason: str) -> None:
    async with world() as here:
        done = await here.call(bash_tool(here.workspace), {"command": command})
    assert (done.outcome, done.facts.reason) == (Outcome.INVALID_ARGUMENTS, reason)


async def test_a_sandbox_that_cannot_be_made_is_a_channel_that_failed() -> None:
    async with world() as here:
        here.workspace.sandbox_settings = here.workspace.sandbox_settings.model_copy(
            update={"account": "no-such-account"}
        )
        done = await here.call(bash_tool(here.workspace), {"command": "echo a"})
    assert done.outcome is Outcome.CHANNEL_FAILED
    assert done.facts.reason == "sandbox"
    assert done.facts.hint
    assert "no-such-account" in done.text


async def test_output_that_cannot_be_kept_is_said_to_be_lost() -> None:
    async with world() as here:
        tool = bash_tool(here.workspace)
        nowhere = here.context.scratch / "none"
        for line in ("seq 50", "seq 100000"):
            done = await here.call(
                tool, {"command": line, "output_policy": "summary"}, scratch=nowhere
            )
            assert done.outcome is Outcome.SUCCESS
            sizes = done.facts.bytes
            assert (sizes.offloaded, sizes.offload_path) == (0, "")
            assert sizes.observed == sizes.kept + sizes.discarded
            assert sizes.discarded > 0
            assert done.facts.completeness.next == ""
            assert "has the first 0 bytes" in read(done)


async def test_a_cancelled_call_leaves_neither_process_nor_file() -> None:
    async with world() as here:
        os.mkfifo(here.root / "gate")
        (here.root / "gate").chmod(0o666)
        line = "seq 90000; echo $$ >pid; cat gate; sleep 60"
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(here.call, bash_tool(here.workspace), {"command": line})
            # Opening it for writing waits until the line has it open.
            await anyio.to_thread.run_sync((here.root / "gate").write_text, "x")
            tasks.cancel_scope.cancel()
        assert not alive(int((here.root / "pid").read_text(encoding="utf-8")))
        assert list(here.context.scratch.iterdir()) == []


async def test_a_policy_of_output_has_no_meaning_in_the_background() -> None:
    async with world() as here:
        arguments = {"command": "true", "background": True, "output_policy": "full"}
        done = await here.call(bash_tool(here.workspace), arguments)
        assert done.outcome is Outcome.INVALID_ARGUMENTS
        assert here.workspace.runs.all("ann/ses_1") == ()


async def test_a_line_that_begins_with_a_dash_is_a_line() -> None:
    async with world() as here:
        done = await here.call(bash_tool(here.workspace), {"command": "-i; echo after"})
    assert done.text == "after\nSTDERR:\nbash: line 1: -i: command not found\n"
    assert done.outcome is Outcome.SUCCESS


@pytest.mark.parametrize("level", LEVELS)
async def test_a_python_of_an_environment_that_the_sandbox_hides_is_not_the_one_that_runs(
    level: str,
) -> None:
    with folder() as home:
        programs = home / "bin"
        programs.mkdir()
        (home / "pyvenv.cfg").write_text("home = /usr/bin\n", encoding="utf-8")
        (programs / "python3").symlink_to("/usr/bin/python3")
        async with world(level, env={"PATH": f"{programs}:/usr/bin:/bin"}) as here:
            line = "command -v python3; python3 -c 'print(\"it runs\")'"
            done = await here.call(bash_tool(here.workspace), {"command": line})
    seen = programs if level == "none" else "/usr/bin"
    assert done.text == f"{seen}/python3\nit runs\n"
