"""The local wire: a child process that serves one model file, and everything that goes wrong.

The child runs our real server module over a stand-in for the native package. The last test runs
the real one where it is installed and `TRUEPENNY_TEST_GGUF` names a model file.
"""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest

from truepenny.config.settings import Settings
from truepenny.model.catalog import available
from truepenny.model.endpoint import Timeouts
from truepenny.model.event import MessageEnd, ModelEvent, Quirk, StreamFailed
from truepenny.model.failure import FailureKind
from truepenny.model.message import StopReason, user
from truepenny.model.profile_data import profile_of
from truepenny.model.provider import Provider
from truepenny.model.request import ModelRequest, ToolSchema
from truepenny.model.wires import local
from truepenny.model.wires.local import LocalModel

pytestmark = pytest.mark.anyio

PEER = Path(__file__).with_name("local_peer")

WEATHER = ToolSchema(
    "weather",
    "Tell the weather of a city.",
    {
        "type": "object",
        "properties": {"city": {"type": "string"}},
        "required": ["city"],
        "additionalProperties": False,
    },
)
TOOLS = (WEATHER,)
CALL = '{"name": "weather", "arguments": {"city": "Rome"}}'

Make = Callable[..., AbstractAsyncContextManager[LocalModel]]


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PYTHONPATH", str(PEER))
    path = tmp_path / "tiny.gguf"
    path.write_text("plain", encoding="utf-8")
    path.with_suffix(".answer").write_text("fine", encoding="utf-8")
    return path


@asynccontextmanager
async def served(path: Path, **pinned: Any) -> AsyncGenerator[LocalModel, None]:
    provider = Provider("local", "local", model_path=str(path))
    model = LocalModel(
        provider, profile_of(path.stem, "local", overrides=pinned), Timeouts(5, 20, 20)
    )
    try:
        yield model
    finally:
        await model.close()


async def ask(model: LocalModel, question: str = "hi", **more: Any) -> list[ModelEvent]:
    request = ModelRequest("Be brief.", [user(question)], **more)
    return [event async for event in model.stream(request)]


def final(events: Sequence[ModelEvent]) -> MessageEnd:
    end = events[-1]
    assert isinstance(end, MessageEnd), end
    return end


def requests(path: Path) -> list[dict[str, Any]]:
    lines = path.with_suffix(".log").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def child(path: Path) -> int:
    return int(path.with_suffix(".pid").read_text(encoding="utf-8"))


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").split(")")[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


async def test_the_server_starts_once_answers_and_ends_with_close(file: Path) -> None:
    async with served(file) as model:
        assert not file.with_suffix(".pid").exists()
        assert final(await ask(model)).message.text == "fine"
        first = child(file)
        assert final(await ask(model)).message.text == "fine"
        assert child(file) == first
    assert not alive(first)
    await model.close()


async def test_a_template_without_tools_gets_them_in_the_prompt(file: Path) -> None:
    file.with_suffix(".answer").write_text(f"<tool_call>{CALL}</tool_call>", encoding="utf-8")
    async with served(file) as model:
        events = await ask(model, tools=TOOLS)
    end = final(events)
    assert end.message.stop is StopReason.TOOL_USE
    assert [call.arguments for call in end.message.tool_calls] == [{"city": "Rome"}]
    assert [event.kind for event in events if isinstance(event, Quirk)] == ["text_tool_call"]
    (request,) = requests(file)
    assert "tools" not in request
    assert '"weather"' in request["messages"][0]["content"]


@pytest.mark.parametrize(("content", "pinned"), [("tools", {}), ("plain", {"tools": True})])
async def test_tools_are_sent_where_the_template_or_a_person_says_so(
    file: Path, content: str, pinned: dict[str, Any]
) -> None:
    file.write_text(content, encoding="utf-8")
    async with served(file, **pinned) as model:
        await ask(model, tools=TOOLS)
    assert requests(file)[0]["tools"][0]["function"]["name"] == "weather"


async def test_a_required_call_is_asked_for_with_a_schema(file: Path) -> None:
    file.with_suffix(".answer").write_text(CALL, encoding="utf-8")
    async with served(file) as model:
        events = await ask(model, tools=TOOLS, tool_choice="required")
        await ask(model, tools=TOOLS)
    assert final(events).message.tool_calls[0].arguments == {"city": "Rome"}
    required, free = requests(file)
    schema = required["response_format"]["json_schema"]["schema"]
    assert schema["anyOf"][0]["properties"]["name"] == {"const": "weather"}
    assert "response_format" not in free


@pytest.mark.parametrize(
    ("content", "words"),
    [("refuse", "failed to load model"), ("crash", "SIGILL")],
)
async def test_a_server_that_cannot_start_fails_the_request_and_no_more(
    file: Path, content: str, words: str
) -> None:
    file.write_text(content, encoding="utf-8")
    async with served(file) as model:
        (event,) = await ask(model)
        assert isinstance(event, StreamFailed)
        assert event.failure.kind is FailureKind.SERVER_ERROR
        assert event.failure.phase == "connect"
        assert words in event.failure.message
        file.write_text("plain", encoding="utf-8")
        assert final(await ask(model)).message.text == "fine"


async def test_a_start_without_end_is_given_up(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "START_SECONDS", 0.2)
    monkeypatch.setattr(local, "STOP_SECONDS", 0.1)
    file.write_text("hang", encoding="utf-8")
    async with served(file) as model:
        (event,) = await ask(model)
    assert isinstance(event, StreamFailed)
    assert event.failure.kind is FailureKind.TIMEOUT


async def test_a_server_that_died_is_started_again(file: Path) -> None:
    async with served(file) as model:
        await ask(model)
        first = child(file)
        os.kill(first, signal.SIGKILL)
        events = await ask(model)
        if isinstance(events[-1], StreamFailed):
            # It was asked before its end was known, and says so.
            assert events[-1].failure.kind is FailureKind.SERVER_ERROR
            assert "SIGKILL" in events[-1].failure.message
            events = await ask(model)
        assert final(events).message.text == "fine"
        assert child(file) != first


async def test_cancelling_a_start_leaves_no_process(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local, "STOP_SECONDS", 0.1)
    file.write_text("hang", encoding="utf-8")
    before = children()
    async with served(file) as model:
        with anyio.move_on_after(0.3) as scope:
            await ask(model)
        assert scope.cancelled_caught
    assert children() == before


def children() -> set[str]:
    return {
        entry.name
        for entry in Path("/proc").iterdir()
        if entry.name.isdigit() and _parent(entry) == os.getpid()
    }


def _parent(entry: Path) -> int:
    try:
        return int((entry / "stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()[1])
    except (OSError, ValueError):
        return 0


def test_a_parent_that_is_killed_takes_the_server_along(file: Path) -> None:
    script = f"""
import anyio, os, signal
from tests.model.test_local import *
async def main():
    async with served(Path({str(file)!r})) as model:
        await ask(model)
        os.kill(os.getpid(), signal.SIGKILL)
anyio.run(main)
"""
    root = Path(__file__).parents[2]
    env = {**os.environ, "PYTHONPATH": f"{PEER}:{root}"}
    done = subprocess.run([sys.executable, "-c", script], env=env, cwd=root, check=False)
    assert done.returncode == -signal.SIGKILL
    pid = child(file)

    async def ended() -> None:
        with anyio.fail_after(10):
            while alive(pid):
                await anyio.lowlevel.checkpoint()

    anyio.run(ended)


async def test_a_missing_model_file_is_a_failure_not_an_error(file: Path) -> None:
    file.unlink()
    async with served(file) as model:
        (event,) = await ask(model)
    assert isinstance(event, StreamFailed)


def test_what_the_extra_or_the_file_lacks_is_said(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def problem(path: Path) -> str:
        table = {"wire": "local", "model_path": str(path)}
        settings = Settings.model_validate({"providers": {"local": table}})
        (entry,) = [one for one in available(settings, {}) if one.provider == "local"]
        assert entry.name == f"local/{path.stem}"
        return f"{entry.problem} {entry.remedy}".strip()

    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert "truepenny[local]" in problem(file)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: object())
    assert problem(file) == ""
    assert "model_path" in problem(file.with_name("gone.gguf"))


@pytest.mark.slow
@pytest.mark.skipif(
    importlib.util.find_spec("xllamacpp") is None or not os.environ.get("TRUEPENNY_TEST_GGUF"),
    reason="needs the extra `local` and a model file in TRUEPENNY_TEST_GGUF",
)
async def test_a_real_model_answers_and_calls() -> None:
    path = Path(os.environ["TRUEPENNY_TEST_GGUF"])
    provider = Provider("local", "local", model_path=str(path))
    profile = replace(profile_of(path.stem, "local"), max_output_tokens=128)
    model = LocalModel(provider, profile, Timeouts())
    try:
        assert final(await ask(model, "Say hello.", temperature=0.0)).message.text
        events = await ask(
            model,
            "What is the weather in Rome? Call the weather tool.",
            tools=TOOLS,
            tool_choice="required",
            temperature=0.0,
        )
    finally:
        await model.close()
    (call,) = final(events).message.tool_calls
    assert (call.name, call.problem) == ("weather", "")
