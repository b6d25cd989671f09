"""Programs outside, asked for by commands: what is admitted, how it ends, what is told of it."""

from __future__ import annotations

import logging
import os
import signal
import tempfile
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.workspace.world import LEVELS
from truepenny.errors import ConfigurationError
from truepenny.tool.outcome import Outcome
from truepenny.workspace.credential.program import OUTPUT_BYTES, allowed

from .session import Session, place, program, session

pytestmark = pytest.mark.anyio

TOKEN = "correct-horse-battery"

REACHING = [level for level in LEVELS if level != "landlock"]


@pytest.fixture
def base() -> Iterator[Path]:
    with place() as path:
        yield path


@asynccontextmanager
async def shipping(
    base: Path, *lines: str, level: str = REACHING[-1], credential: Any = None, **more: Any
) -> AsyncGenerator[Session]:
    ship = {"argv": [program(base / "ship", *lines)], "allow": ["*"], **more}
    settings = {
        "sandbox": {"level": level},
        "programs": {"ship": ship},
        "credentials": {"SHIP_TOKEN": credential or {"value": TOKEN}},
    }
    async with session(base, settings) as opened:
        yield opened


@pytest.mark.parametrize(
    ("entries", "arguments", "expected"),
    [
        ((), (), True),
        ((), ("status",), False),
        (("status",), ("status",), True),
        (("status",), ("status", "--all"), False),
        (("status",), ("sta",), False),
        (("pr list *",), ("pr", "list"), True),
        (("pr list *",), ("pr", "list", "--state", "open"), True),
        (("pr list *",), ("pr", "merge"), False),
        (("pr list *",), ("pr",), False),
        (("pr list *",), ("pr list",), False),
        (("a", "b *"), ("b", "c"), True),
        (("*",), ("anything", "at all"), True),
        (("status",), ("*",), False),
    ],
)
def test_arguments_are_admitted_by_whole_words(
    entries: tuple[str, ...], arguments: tuple[str, ...], expected: bool
) -> None:
    assert allowed(entries, arguments) is expected


async def test_what_is_not_allowed_does_not_run(
    base: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG, "truepenny"):
        async with shipping(base, f"touch {base}/ran", allow=["status"]) as at:
            done = await at.bash(f"ship {TOKEN}; echo $?; ship status x")
    assert not (base / "ran").exists()
    assert "4\n" in done.text
    assert "allowed: `status`" in done.text
    assert done.facts.detail["credential_uses"] == [
        {"program": "ship", "arguments": 1, "refusal": "arguments_not_allowed"},
        {"program": "ship", "arguments": 2, "refusal": "arguments_not_allowed"},
    ]
    assert "asked of outside: ship with 2 arguments: arguments_not_allowed" in done.facts.notes
    assert "reason=arguments_not_allowed name='ship'" in caplog.text
    assert TOKEN not in caplog.text


async def test_without_its_credential_a_program_does_not_run(base: Path) -> None:
    """It might find another identity in our home, and work as that."""
    missing = {"value": "env:NOT_THERE", "tools": ["ship"]}
    async with shipping(base, f"touch {base}/ran", credential=missing) as at:
        done = await at.bash("ship")
    assert not (base / "ran").exists()
    assert "not set: SHIP_TOKEN" in done.text
    (use,) = done.facts.detail["credential_uses"]
    assert use["refusal"] == "credential_not_present"


async def test_exit_codes_signals_and_both_streams_come_back(base: Path) -> None:
    async with shipping(base, 'echo out; echo err >&2; [ "$1" ] && kill -9 $$; exit 3') as at:
        done = await at.bash("ship; echo $?; ship now 2>/dev/null; echo $?")
    killed = 128 + signal.SIGKILL
    assert done.text.startswith(f"out\n3\nout\n{killed}\n")
    assert "STDERR:\nerr\n" in done.text
    uses = done.facts.detail["credential_uses"]
    assert [use["exit"] for use in uses] == [3, killed]


async def test_a_program_is_ended_at_its_own_limit_of_time(base: Path) -> None:
    async with shipping(base, "echo begun; exec sleep 60", timeout=0.3) as at:
        done = await at.bash("ship")
    assert done.facts.exit is not None
    assert done.facts.exit.observed == 124
    assert done.text.startswith("begun\n")
    assert "did not end in time" in done.text
    (use,) = done.facts.detail["credential_uses"]
    assert use["refusal"] == "timeout"


async def test_output_is_bounded_and_what_is_missing_is_counted(base: Path) -> None:
    lines = ('if [ "$1" ]; then yes; else head -c 100000 /dev/zero | tr "\\0" x; fi',)
    async with shipping(base, *lines) as at:
        cut = await at.bash("ship | wc -c")
        flood = await at.bash("ship flood | head -c 4; echo ${PIPESTATUS[0]}")
    assert cut.text.startswith("65536\n")
    assert "34464 more characters of stdout were left out" in cut.text
    assert OUTPUT_BYTES < 2**24
    (use,) = flood.facts.detail["credential_uses"]
    assert use["refusal"] == "output_too_large"
    assert "wrote more than is read" in flood.text


async def test_a_program_that_is_not_there_is_told_without_its_path(base: Path) -> None:
    async with shipping(base, argv=["/nonexistent/of-ours"]) as at:
        done = await at.bash("ship")
    assert done.facts.exit is not None
    assert done.facts.exit.observed == 1
    assert "could not be run" in done.text
    assert "of-ours" not in done.text


async def test_a_program_ends_with_the_line_that_asked(base: Path) -> None:
    async with shipping(base, f"echo $$ > {base}/pid", "exec sleep 300") as at:
        done = await at.bash("ship", timeout_ms=1500)
        told = _uses(done)
        while told[-1].get("running"):  # until its end was seen
            told = _uses(await at.bash("true"))
    assert done.outcome is Outcome.INTERRUPTED
    pid = int((base / "pid").read_text(encoding="utf-8"))
    assert not Path(f"/proc/{pid}").exists()
    assert told[-1]["refusal"] == "client_gone"


async def test_uses_of_the_background_stand_in_the_next_result(base: Path) -> None:
    os.mkfifo(base / "gate")
    async with shipping(base, f"cat {base}/gate") as at:
        started = await at.bash("ship", background=True)
        run = started.facts.detail["background"]["id"]
        # Opens once the program reads, so it runs by then; it ends with the gate.
        async with await anyio.open_file(base / "gate", "w") as gate:
            running = await at.bash("true")
            await gate.write("through\n")
        ended = await at.call("task_output", {"id": run, "wait_ms": 20_000})
    assert _uses(started) == []
    assert _uses(running) == [{"program": "ship", "arguments": 0, "running": True}]
    assert "through" in ended.text
    assert _uses(ended) == [{"program": "ship", "arguments": 0, "exit": 0}]


def _uses(result: Any) -> list[dict[str, Any]]:
    return result.facts.detail.get("credential_uses", [])


async def test_what_comes_back_is_masked_and_a_value_is_only_handed_out_if_so_said(
    base: Path,
) -> None:
    async with shipping(base, "echo $SHIP_TOKEN | rev; echo $SHIP_TOKEN") as at:
        closed = await at.bash("ship; truepenny-credential SHIP_TOKEN")
    assert "[REDACTED:SHIP_TOKEN]" in closed.text
    assert TOKEN not in closed.text
    assert "truepenny-credential: command not found" in closed.text
    given = {"value": TOKEN, "proxy_only": False}
    async with shipping(base, "true", credential=given) as at:
        line = (
            '[ "$(truepenny-credential SHIP_TOKEN)" = "$(printf %s correct-horse; echo -battery)" ]'
        )
        opened = await at.bash(f"{line} && truepenny-credential SHIP_TOKEN")
        other = await at.bash("truepenny-credential ANTHROPIC_API_KEY")
    assert opened.text == "[REDACTED:SHIP_TOKEN]\n"
    assert _uses(opened) == [{"credential": "SHIP_TOKEN"}] * 2
    assert _uses(other) == [
        {"credential": "ANTHROPIC_API_KEY", "refusal": "not_authorized_credential"}
    ]


async def test_a_program_runs_nowhere_near_the_workspace(base: Path) -> None:
    """There, what a command left could run as us: settings of git, hooks, names like options."""
    async with shipping(base, "pwd; ls -A; git config --list 2>&1 | grep -c planted") as at:
        (at.work / ".git").mkdir()
        (at.work / ".git" / "config").write_text("[core]\n\tfsmonitor = planted\n", "utf-8")
        done = await at.bash("ship")
    assert str(at.work) not in done.text.splitlines()[0]
    assert done.text.splitlines()[1:2] == ["0"]


async def test_models_read_what_there_is(base: Path) -> None:
    given = {"value": TOKEN, "proxy_only": False}
    allow, about = ["status", "release *"], "Ships a release."
    async with shipping(base, credential=given, allow=allow, description=about) as at:
        tools = {tool.name: tool.description for tool in at.opened.tools}
    told = "ship (Ships a release; arguments: `status`, `release *`)"
    assert told in tools["bash"]
    assert "`truepenny-credential NAME` prints a secret: SHIP_TOKEN." in tools["bash"]
    assert told in tools["run_script"]
    assert told not in tools["read"]


async def test_landlock_opens_no_socket_and_says_so(base: Path) -> None:
    settings = {
        "sandbox": {"level": "landlock"},
        "programs": {"ship": {"argv": [program(base / "ship", f"touch {base}/ran")]}},
    }
    async with session(base, settings) as at:
        done = await at.bash("ship; echo $?")
        told = next(tool.description for tool in at.opened.tools if tool.name == "bash")
    assert not (base / "ran").exists()
    if "landlock" not in LEVELS:
        assert done.outcome is Outcome.CHANNEL_FAILED
        return
    assert done.text.startswith("4\n")
    assert "ship: landlock cannot open one socket alone" in done.text
    assert "landlock cannot open one socket alone" in told
    # Nothing more was opened for it.
    assert "socket_files" not in done.facts.containment["gaps"]


async def test_nothing_is_left_when_the_session_ends(base: Path) -> None:
    def ours() -> set[str]:
        names = os.listdir(tempfile.gettempdir())
        return {name for name in names if name.startswith(("truepenny-cred", "truepenny-prog"))}

    before = ours()
    async with shipping(base, "exec sleep 300") as at:
        await at.bash("ship", background=True)
        assert ours() - before
    assert not ours() - before


async def test_settings_that_cannot_be_followed_open_nothing(base: Path) -> None:
    with pytest.raises(ConfigurationError) as caught:
        async with shipping(base, credential={"value": TOKEN, "tools": ["shop"]}):
            pass
    assert (caught.value.where, caught.value.remedy) == (
        "credentials.SHIP_TOKEN.tools",
        "Did you mean ship?",
    )


@pytest.mark.parametrize("level", [level for level in REACHING if level == "bwrap"])
async def test_a_running_program_shows_nothing_to_what_asked(base: Path, level: str) -> None:
    """Its environment, its descriptors, its files: there is no process of ours inside."""
    os.mkfifo(base / "gate")
    (base / "secret").write_text(TOKEN, encoding="utf-8")
    look = (
        f"(cat /proc/*/environ {base}/secret; ls -lR /proc/*/fd /proc/*/cwd {base}) 2>&1"
        " </dev/null | grep -ac correct-horse"
    )
    async with shipping(base, f"cat {base}/gate", level=level) as at:
        started = await at.bash("ship", background=True)
        async with await anyio.open_file(base / "gate", "w"):  # opens once the program reads
            seen = await at.bash(look)
        ended = {"id": started.facts.detail["background"]["id"], "wait_ms": 20_000}
        await at.call("task_output", ended)
    assert seen.text.startswith("0\n"), seen.text


async def test_an_abort_ends_the_program_too(base: Path) -> None:
    os.mkfifo(base / "gate")
    pid = 0
    async with shipping(base, f"echo $$ > {base}/gate; exec sleep 300") as at:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(at.bash, "ship")
            pid = int(await anyio.Path(base / "gate").read_text(encoding="utf-8"))
            tasks.cancel_scope.cancel()
        told = [{"running": True}]
        while told[-1].get("running"):
            told = _uses(await at.bash("true"))
        assert told[-1]["refusal"] == "client_gone"
    assert not Path(f"/proc/{pid}").exists()
