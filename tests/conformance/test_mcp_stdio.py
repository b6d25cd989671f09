"""A real server in a process of its own: called, read, lost and started again."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from truepenny.conformance.case import Case, Expect
from truepenny.conformance.mcp_stdio import McpServer
from truepenny.conformance.trial import run
from truepenny.errors import ConfigurationError, CouldNotRun, UsageError

pytestmark = pytest.mark.anyio

WORDS = (sys.executable, str(Path(__file__).parent / "server.py"))


def case(name: str, command: str, timeout: float | None = None, **expect: object) -> Case:
    return Case(
        id=name, title="t", why="w", command=command, timeout=timeout, category="c",
        expect=Expect.model_validate(expect),
    )  # fmt: skip


async def test_a_server_is_called_by_its_schema_and_started_again_after_it_died(
    tmp_path: Path,
) -> None:
    server = McpServer(WORDS, {"SECRET": "shown"}, {})
    cases = [
        case("code", "echo $SECRET; pwd; exit 3", exit_code=3, output_contains=["shown", "code"]),
        case("streams", "echo a; echo b >&2", stdout_contains=["a"], stderr_contains=["b"]),
        case("silent", "true", truncated=False),
        case("time", "sleep 60", timeout=1, timed_out=True, failure_told=True, ended_within=10),
        case("complaint", "complain", flagged=True, text_contains=["a complaint"]),
        case("death", "die now", exit_code=0),
        case("after", "echo alive", output_contains=["alive"]),
    ]
    try:
        await server.open()
        done = await run(cases, server, tmp_path)
    finally:
        await server.close()
    assert {one.case.id: str(one.verdict) for one in done} == {
        "code": "passed", "streams": "passed", "silent": "not_told", "time": "passed",
        "complaint": "passed", "death": "failed", "after": "passed",
    }, [one.findings for one in done]  # fmt: skip
    assert done[5].findings[0].expectation == "answer"
    assert server.name == "test-shell"


async def test_what_is_no_server_is_told(tmp_path: Path) -> None:
    for words in (("no-such-program-41",), ("true",)):
        server = McpServer(words, {}, {})
        with pytest.raises((CouldNotRun, ExceptionGroup)) as raised:
            try:
                await server.open()
            finally:
                await server.close()
        assert words[0] in str(deepest(raised.value))
        assert "\n  " in str(deepest(raised.value)), "there is no remedy"
    with pytest.raises(UsageError):
        McpServer((), {}, {})


async def test_a_tool_that_is_not_there_is_told() -> None:
    server = McpServer(WORDS, {}, {}, tool="no_such")
    with pytest.raises((ConfigurationError, ExceptionGroup)) as raised:
        try:
            await server.open()
        finally:
            await server.close()
    assert "run_shell" in str(deepest(raised.value))


def deepest(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
