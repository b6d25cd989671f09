"""The tool with real programs in real sandboxes: what ran, what passed, and what was refused."""

from __future__ import annotations

import json
import os
from pathlib import Path
from textwrap import dedent

import anyio
import pytest

from tests.execute.script import alive
from tests.workspace.world import LEVELS, World, read, world
from truepenny.execute.ending import Cause, Outcome
from truepenny.system.clock import ManualClock
from truepenny.tool.contract import ActionClass
from truepenny.tool.result import Result
from truepenny.workspace import tools
from truepenny.workspace.verify.check import CATALOG, MAX_TIMEOUT_MS
from truepenny.workspace.verify.judgement import SCIENTIFIC
from truepenny.workspace.verify.tool import verify_tool

pytestmark = pytest.mark.anyio

PYTHON = "/usr/bin/python3"
SECRET = "correct-horse-9-battery"


def declare(here: World, checks: str, version: int = 2) -> None:
    here.write(CATALOG, f"version: {version}\nchecks:\n{dedent(checks)}")


async def verify(here: World, **arguments: object) -> Result:
    return await here.call(verify_tool(here.workspace), arguments)


def words(result: Result) -> tuple[str, str]:
    assert result.facts.detail["scientificValidity"] == SCIENTIFIC
    text = read(result)
    execution, validation = (result.facts.detail[name] for name in ("execution", "validation"))
    if result.facts.detail["execution"] != "unavailable":
        assert f"execution: {execution}" in text
        assert f"validation: {validation}" in text
        assert f"scientific validity: {SCIENTIFIC}" in text
    return execution, validation


@pytest.mark.parametrize("level", LEVELS)
async def test_a_command_is_judged_by_its_exit_status_alone(level: str) -> None:
    async with world(level) as here:
        declare(
            here,
            f"""\
            - id: good
              argv: [{PYTHON}, -c, "import os, sys; print(os.getcwd(), sys.argv[1:])"]
              cwd: part
            - id: bad
              argv: [{PYTHON}, -c, "import sys; sys.exit('no')"]
            """,
            version=1,
        )
        here.write("part/file", "")
        good = await verify(here, check="good", args=["a b", "$HOME"])
        bad = await verify(here, check="bad")
    assert good.outcome is Outcome.SUCCESS
    assert words(good) == ("succeeded", "exit-code")
    assert f"{here.root}/part ['a b', '$HOME']" in good.text
    assert good.facts.sandbox == level
    assert good.facts.command.endswith("'a b' '$HOME'")
    assert bad.outcome is Outcome.TARGET_FAILED
    assert words(bad) == ("failed", "exit-code")
    assert bad.facts.exit is not None
    assert bad.facts.exit.observed == 1
    assert "standard error:\nno\n" in bad.text


async def test_what_does_not_end_well_is_not_judged() -> None:
    async with world() as here:
        here.write("ref.json", '{"a": 1}')
        declare(
            here,
            f"""\
            - id: slow
              argv: [{PYTHON}, -c, "import time; print(1, flush=True); time.sleep(60)"]
              timeoutMs: 400
            - id: loud
              argv: [{PYTHON}, -c, "print('x' * 100000)"]
            - id: none
              argv: [no-such-program-here]
            - id: dies
              argv: [{PYTHON}, -c, "import os; os.kill(os.getpid(), 9)"]
            - id: wrong
              kind: numeric-compare
              argv: [{PYTHON}, -c, "import sys; print('{{\\"a\\": 1}}'); sys.exit(2)"]
              reference: ref.json
              tolerance: {{relative: 0}}
            """,
        )
        slow = await verify(here, check="slow")
        loud = await verify(here, check="loud", max_output_bytes=1000)
        none = await verify(here, check="none")
        dies = await verify(here, check="dies")
        wrong = await verify(here, check="wrong")
    assert words(slow) == ("timed-out", "not-run")
    assert (slow.outcome, slow.facts.cause) == (Outcome.INTERRUPTED, Cause.TIMEOUT)
    assert words(loud) == ("output-capped", "not-run")
    assert loud.outcome is Outcome.TRUNCATED
    assert words(none) == ("unavailable", "not-run")
    assert none.outcome is Outcome.MISSING_DEPENDENCY
    assert words(dies) == ("failed", "not-run")
    assert dies.outcome is Outcome.INTERRUPTED
    assert words(wrong) == ("failed", "not-run")
    assert wrong.outcome is Outcome.TARGET_FAILED
    assert "compared" not in wrong.facts.detail


NUMERIC = """\
- id: energy
  kind: numeric-compare
  description: Energies against the paper
  argv: [{python}, sim.py]
  reference: ref.json
  tolerance: {{relative: 1e-6}}
"""


@pytest.mark.parametrize("level", LEVELS)
async def test_numbers_are_compared_and_their_origin_is_named(level: str) -> None:
    async with world(level) as here:
        declare(here, NUMERIC.format(python=PYTHON))
        here.write("ref.json", '{"e": [1.0, 2.0], "n": 9007199254740993}')
        print_it = "print('step 1'); print('{\"e\": [1.0, %s], \"n\": %s}')"
        here.write("sim.py", print_it % ("2.0000001", "9007199254740993"))
        passed = await verify(here, check="energy")
        here.write("sim.py", print_it % ("2.1", "9007199254740992"))
        failed = await verify(here, check="energy")
    assert passed.outcome is Outcome.SUCCESS
    assert words(passed) == ("succeeded", "passed")
    detail = passed.facts.detail
    assert detail["compared"] == 3
    assert detail["reference"]["sha256"] in passed.text
    assert detail["actual"]["sha256"] in passed.text
    assert detail["actual"]["wholeOutput"] is False
    assert detail["beyondDouble"] == 1
    assert failed.outcome is Outcome.TARGET_FAILED
    assert words(failed) == ("succeeded", "failed")
    assert failed.facts.reason == "relative"
    assert failed.facts.detail["failures"] == {"relative": 1}
    assert failed.facts.detail["worst"]["key"] == "e"
    assert "worst: key 'e'[1]: actual 2.1, expected 2.0" in failed.text


async def test_a_program_cannot_change_what_it_is_judged_by() -> None:
    async with world() as here:
        declare(here, NUMERIC.format(python=PYTHON))
        here.write("ref.json", '{"a": 1}').chmod(0o666)
        code = "open('ref.json', 'w').write('{\"a\": 2}'); print('{\"a\": 2}')"
        here.write("sim.py", code)
        done = await verify(here, check="energy")
        assert (here.root / "ref.json").read_text(encoding="utf-8") == '{"a": 2}'
    assert words(done) == ("succeeded", "failed")


async def test_nothing_is_read_for_a_check_that_a_command_could_not_read() -> None:
    async with world() as here:
        declare(here, NUMERIC.format(python=PYTHON))
        here.write("sim.py", "open('ran', 'w'); print('{}')")
        here.write("ref.json", '{"a": 1}').chmod(0)
        here.write("page.html", "<p>x").chmod(0)
        done = await verify(here, check="energy")
        seen = await verify(here, check="frontend", browser="off")
        assert not (here.root / "ran").exists()
    # Root is stopped by the plan's account, an ordinary user by the mode itself.
    reasons = ("reference_out_of_reach", "reference_unreadable")
    assert done.facts.reason in reasons
    assert "skip page.html tags" in seen.text


@pytest.mark.parametrize(
    ("reference", "reason"),
    [
        (None, "reference_missing"),
        ("{}", "reference_empty"),
        ('{"a": []}', "reference_empty"),
        ('{"a": "1"}', "reference_not_a_number"),
        ('{"a": 1, "a": 2}', "reference_duplicate_key"),
        ("[1]", "reference_not_json"),
    ],
)
async def test_without_a_reference_nothing_runs(reference: str | None, reason: str) -> None:
    async with world() as here:
        declare(here, NUMERIC.format(python=PYTHON))
        here.write("sim.py", "open('ran', 'w'); print('{}')")
        if reference is not None:
            here.write("ref.json", reference)
        done = await verify(here, check="energy")
        assert not (here.root / "ran").exists()
    assert (done.outcome, done.facts.reason) == (Outcome.INVALID_ARGUMENTS, reason)
    assert words(done) == ("unavailable", "not-run")


async def test_an_incomplete_output_is_not_judged() -> None:
    async with world() as here:
        declare(here, NUMERIC.format(python=PYTHON))
        here.write("ref.json", '{"a": 1}')
        code = "import os, time\nprint('{\"a\": 1}', flush=True)\nif not os.fork(): time.sleep(60)"
        here.write("sim.py", code)
        done = await verify(here, check="energy")
    assert words(done) == ("succeeded", "not-run")
    assert (done.outcome, done.facts.reason) == (Outcome.TRUNCATED, "output_incomplete")


async def test_a_secret_is_judged_whole_and_shown_masked() -> None:
    async with world() as here:
        here.context.redactor.learn(SECRET, "test")
        declare(here, NUMERIC.format(python=PYTHON))
        here.write("ref.json", '{"a": 1}')
        here.write("sim.py", f"print('{SECRET}'); print('{{\"a\": 1}}')")
        done = await verify(here, check="energy")
    assert words(done) == ("succeeded", "passed")
    assert SECRET not in read(done)
    assert done.facts.redactions == {"test": 1}


PERF = """\
- id: speed
  kind: perf-budget
  argv: [{python}, -c, "print(1)"]
  baseline: .truepenny/baselines/speed.json
  tolerance: {{relative: 0.5}}
- id: budget
  kind: perf-budget
  argv: [{python}, -c, "pass"]
  budget: {{wallTimeMs: 60000, tolerance: {{relative: 0}}}}
- id: tight
  kind: perf-budget
  argv: [{python}, -c, "pass"]
  budget: {{wallTimeMs: 0.001}}
"""


async def test_a_baseline_is_recorded_on_request_and_then_held() -> None:
    async with world() as here:
        declare(here, PERF.format(python=PYTHON))
        file = here.root / ".truepenny/baselines/speed.json"
        missing = await verify(here, check="speed")
        assert (missing.outcome, missing.facts.reason) == (
            Outcome.INVALID_ARGUMENTS,
            "baseline_missing",
        )
        recorded = await verify(here, check="speed", record_baseline=True)
        assert recorded.outcome is Outcome.NO_MATCH
        assert words(recorded) == ("succeeded", "not-run")
        value = json.loads(file.read_bytes())
        assert value["version"] == 2
        assert value["check"] == "speed"
        assert value["wallTimeMs"] == recorded.facts.detail["wallTimeMs"] > 0
        assert set(value["host"]) == {
            "hostname", "platform", "arch", "cpuModel", "cpuCount", "totalMemoryBytes",
            "nodeVersion",
        }  # fmt: skip
        assert file.stat().st_uid == here.root.stat().st_uid

        value["wallTimeMs"], value["host"]["cpuModel"] = 60_000, "abacus"
        file.write_text(json.dumps(value), encoding="utf-8")
        held = await verify(here, check="speed")
        assert held.outcome is Outcome.SUCCESS
        assert words(held) == ("succeeded", "passed")
        assert held.facts.detail["hostDiffers"]["cpuModel"][0] == "abacus"
        assert "informational" in held.text

        value["wallTimeMs"] = 0.001
        file.write_text(json.dumps(value), encoding="utf-8")
        over = await verify(here, check="speed", record_baseline=True)
        assert (over.outcome, over.facts.reason) == (Outcome.TARGET_FAILED, "over_budget")
        assert over.facts.detail["recorded"] is True
        assert "in place of 0.001 ms" in over.text


async def test_a_budget_needs_no_baseline_and_takes_none() -> None:
    async with world() as here:
        declare(here, PERF.format(python=PYTHON))
        assert words(await verify(here, check="budget")) == ("succeeded", "passed")
        assert words(await verify(here, check="tight")) == ("succeeded", "failed")
        done = await verify(here, check="budget", record_baseline=True)
        assert done.facts.reason == "no_baseline"


async def test_a_failed_run_records_nothing() -> None:
    async with world() as here:
        declare(here, PERF.format(python=PYTHON).replace("print(1)", "raise SystemExit(3)"))
        done = await verify(here, check="speed", record_baseline=True)
        assert words(done) == ("failed", "not-run")
        assert not (here.root / ".truepenny/baselines").exists()


async def test_a_clock_that_stands_still_is_no_time_to_record() -> None:
    async with world() as here:
        declare(here, PERF.format(python=PYTHON))
        tool = verify_tool(here.workspace)
        arguments = {"check": "speed", "record_baseline": True}
        done = await here.call(tool, arguments, clock=ManualClock())
        assert (done.outcome, done.facts.reason) == (Outcome.TARGET_FAILED, "baseline_not_recorded")
        assert words(done) == ("succeeded", "not-run")


async def test_a_baseline_behind_a_link_is_neither_read_nor_written() -> None:
    async with world() as here:
        declare(here, PERF.format(python=PYTHON))
        outside = here.root.parent / "state"
        (here.root / ".truepenny/baselines").symlink_to(outside)
        done = await verify(here, check="speed", record_baseline=True)
        assert done.facts.reason == "baseline_outside_workspace"
        (here.root / ".truepenny/baselines").unlink()
        (here.root / ".truepenny/baselines").symlink_to(here.root / "elsewhere")
        done = await verify(here, check="speed", record_baseline=True)
        assert done.facts.reason == "baseline_not_recorded"
        assert not (here.root / "elsewhere").exists()
        assert not (outside / "speed.json").exists()


async def test_the_list_is_complete_and_says_what_each_does() -> None:
    async with world() as here:
        declare(here, PERF.format(python=PYTHON) + NUMERIC.format(python=PYTHON))
        scripts = {"test": "jest --ci", "lint:css": "x", "deploy": "y", "test Ä": "z"}
        here.write("package.json", json.dumps({"scripts": scripts}))
        done = await verify(here)
    assert done.outcome is Outcome.SUCCESS
    ids = [check["id"] for check in done.facts.detail["checks"]]
    assert ids == ["speed", "budget", "tight", "energy", "test", "lint:css", "frontend"]
    assert all(name in done.text for name in ids)
    assert f"energy [{CATALOG}:16]" in done.text
    assert "compares its numbers with ref.json (relative 1e-06): Energies" in done.text
    assert "jest --ci" in done.text
    assert done.facts.detail["skipped"] == ["test Ä"]
    assert "1 scripts of other names" in done.text
    assert "execution" not in done.facts.detail


async def test_a_list_of_nothing_says_where_it_looked() -> None:
    async with world() as here:
        done = await verify(here)
    assert [check["id"] for check in done.facts.detail["checks"]] == ["frontend"]
    assert f"from {CATALOG}: not there" in done.text


async def test_a_package_script_runs_by_npm_without_a_shell_of_ours() -> None:
    async with world() as here:
        here.write("package.json", '{"scripts": {"test": "run-me"}}')
        # Stands for npm, which a machine may lack: says what it was called with.
        # Outside of the workspace: what is inside never comes before the system's programs.
        program = here.root.parent / "bin/npm"
        program.parent.mkdir()
        program.write_text('#!/bin/sh\nprintf "<%s>" "$@"; echo "$npm_config_audit"\n', "utf-8")
        program.chmod(0o755)
        here.workspace.env = {"PATH": f"{program.parent}:{os.defpath}"}
        done = await verify(here, check="test", args=["--watch", "a;b"])
    assert "<run><test><--><--watch><a;b>false" in done.text
    assert words(done) == ("succeeded", "exit-code")


async def test_one_id_in_both_sources_gives_no_list() -> None:
    async with world() as here:
        declare(here, "- {id: test, argv: [x]}\n")
        here.write("package.json", '{"scripts": {"test": "x"}}')
        for arguments in ({}, {"check": "test"}):
            done = await verify(here, **arguments)
            assert (done.outcome, done.facts.reason) == (Outcome.REFUSED, "duplicate_id")
            assert done.facts.detail["place"] == f"{CATALOG}:3"


async def test_arguments_that_do_not_fit_are_refused_before_anything_runs() -> None:
    async with world() as here:
        declare(here, NUMERIC.format(python=PYTHON) + "- {id: run, argv: [env]}\n")
        here.write("ref.json", '{"a": 1}')
        os.symlink("/etc", here.root / "link")
        reasons = {
            "unknown_check": {"check": "no"},
            "args_not_taken": {"check": "energy", "args": ["x"]},
            "check_missing": {"args": ["x"]},
            "not_taken": {"check": "run", "browser": "off"},
            "nul_character": {"check": "run", "args": ["a\0b"]},
            "path_outside": {"check": "run", "cwd": "../x"},
            "symlinked_cwd": {"check": "run", "cwd": "link"},
            "cwd_not_a_folder": {"check": "run", "cwd": "ref.json"},
            "no_baseline": {"check": "run", "record_baseline": True},
            "missing_directory": {"check": "run", "cwd": "later"},
        }
        for reason, arguments in reasons.items():
            done = await verify(here, **arguments)
            assert (done.facts.reason, done.outcome.failed) == (reason, True)


async def test_a_cut_output_is_kept_whole_in_a_file() -> None:
    async with world() as here:
        declare(here, f'- {{id: many, argv: [{PYTHON}, -c, "print(*range(9000))"]}}\n')
        done = await verify(here, check="many")
        path = Path(done.facts.bytes.offload_path)
        again = await verify(here, check="many")
        assert again.facts.bytes.offload_path not in ("", str(path))
        assert path.read_text(encoding="utf-8").startswith("0 1 2")
    assert done.facts.completeness.state == "partial"
    assert str(path) in done.facts.completeness.next


async def test_no_name_or_number_of_theirs_fills_a_result() -> None:
    long = "k" * 400
    async with world() as here:
        declare(
            here,
            NUMERIC.format(python=PYTHON)
            + f"- {{id: long, argv: [x, {', '.join(['y' * 4000] * 20)}]}}\n",
        )
        here.write("ref.json", json.dumps({f"{long}{n}": 1 for n in range(100)}))
        numbers = {f"{long}{n}": 10**900 for n in range(100)} | {f"{long}x{n}": 1 for n in range(9)}
        here.write("sim.py", f"print({json.dumps(json.dumps(numbers))})")
        done = await verify(here, check="energy")
        listed = await verify(here)
    assert done.facts.detail["failures"] == {"not-finite": 100, "missing-reference": 9}
    assert len(done.text) < 24_000
    assert len(listed.text) < 2_000
    assert "characters)" in listed.text


async def test_a_stopped_call_leaves_nothing_running() -> None:
    async with world() as here:
        code = "import os, time; open('pid', 'w').write(str(os.getpid())); time.sleep(60)"
        declare(here, f'- {{id: wait, argv: [{PYTHON}, -c, "{code}"]}}\n')
        with anyio.CancelScope() as scope:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(here.call, verify_tool(here.workspace), {"check": "wait"})
                while not (here.root / "pid").exists():
                    await anyio.lowlevel.checkpoint()
                scope.cancel()
        text = (here.root / "pid").read_text(encoding="utf-8")
        assert scope.cancelled_caught
        assert not text or not alive(int(text))


@pytest.mark.parametrize("level", LEVELS)
async def test_a_program_of_the_project_is_found_from_the_folder_of_the_check(level: str) -> None:
    async with world(level) as here:
        here.write("part/run", "#!/bin/sh\npwd\n")
        declare(here, "- {id: own, argv: [./run], cwd: part}\n")
        done = await verify(here, check="own")
        assert f"output:\n{here.root}/part\n" in done.text
        (here.root / "part/run").unlink()
        (here.root / "part/run").symlink_to("/bin/sh")
        assert (await verify(here, check="own")).facts.reason == "shell"


async def test_the_list_of_tools_has_it_once() -> None:
    async with world() as here:
        made = [tool for tool in tools(here.workspace) if tool.name == "verify"]
        assert [tool.action_class for tool in made] == [ActionClass.EXECUTE]
        assert made[0].concurrency == "sequential"
        assert made[0].timeout > MAX_TIMEOUT_MS / 1000
