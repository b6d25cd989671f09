"""The transcript: what is written can be read, and what is damaged is skipped, counted, named."""

from __future__ import annotations

import json
import os
import random
import signal
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from truepenny.agent.journal import Journal
from truepenny.agent.record import Caps, decode_message, encode_message
from truepenny.agent.restore import restore
from truepenny.agent.sessions import SessionStore
from truepenny.agent.stats import stats
from truepenny.agent.transcript import TranscriptWriter, read_transcript
from truepenny.agent.validity import validate
from truepenny.model.message import (
    AssistantMessage,
    Image,
    StopReason,
    Text,
    Thinking,
    ToolCall,
    UserMessage,
)
from truepenny.model.usage import Cost, Usage
from truepenny.system.clock import ManualClock
from truepenny.text.redact import Redactor

from .scripted import calls, says
from .world import agent_with, collect

HEADER = b'{"type":"session","v":1,"ts":"2026-01-01T00:00:00.000Z","turn":""}\n'


def write(tmp_path: Path, data: bytes) -> Path:
    folder = tmp_path / "ada" / "session_1"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "transcript.jsonl"
    path.write_bytes(data)
    return path


@pytest.mark.parametrize(
    "data",
    [b"", b"not json\n", b'{"type":"message"}\n', b'["session"]\n', b'{"type":"session","v":2}\n'],
)
def test_without_a_header_of_this_version_a_file_is_unreadable(tmp_path: Path, data: bytes) -> None:
    found = read_transcript(write(tmp_path, data))
    assert not found.readable and found.reason and found.damaged and found.records == ()


def test_malformed_lines_in_the_middle_are_skipped_and_counted(tmp_path: Path) -> None:
    lines = b'{"type":"turn"}\nrubbish\n\xff\xfe\n[1]\n{"type":7}\n{"type":"stop"}\n'
    found = read_transcript(write(tmp_path, HEADER + lines))
    assert [record["type"] for record in found.records] == ["turn", "stop"]
    assert found.malformed == 4 and found.malformed_lines == (3, 4, 5, 6)
    assert found.readable and found.damaged and found.tail == "none"


def test_an_unterminated_tail_is_named_and_counted_apart(tmp_path: Path) -> None:
    found = read_transcript(write(tmp_path, HEADER + b'{"type":"turn"}\n{"type":"mess'))
    assert (found.tail, found.tail_bytes, found.malformed) == ("unfinished", 13, 0)
    assert len(found.records) == 1


def test_who_and_which_come_from_the_path_and_never_from_the_header(tmp_path: Path) -> None:
    lie = b'{"type":"session","v":1,"user":"root","session":"other"}\n'
    found = read_transcript(write(tmp_path, lie))
    assert (found.user, found.session) == ("ada", "session_1")


def test_reading_goes_on_from_where_it_ended(tmp_path: Path) -> None:
    path = write(tmp_path, HEADER + b'{"type":"turn"}\n{"type":"st')
    first = read_transcript(path)
    path.write_bytes(path.read_bytes() + b'op"}\n')
    more = read_transcript(path, first.end)
    assert [record["type"] for record in more.records] == ["stop"]


@given(st.binary(max_size=200))
def test_no_bytes_break_the_reader(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    path = write(tmp_path_factory.mktemp("t"), HEADER + data)
    found = read_transcript(path)
    stats(found)
    restore(found)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["type", "role", "content", "text", "call", "tool", "id", "name", "arguments"]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=12,
)
RECORDS = st.fixed_dictionaries(
    {"type": st.sampled_from(["message", "result", "tool", "steer", "stop", "partial"])},
    optional={
        "role": st.sampled_from(["user", "assistant", 3]),
        "content": VALUES,
        "call": VALUES,
        "tool": VALUES,
        "usage": VALUES,
        "undelivered": VALUES,
        "steer": VALUES,
        "text": VALUES,
    },
)


@settings(max_examples=60)
@given(st.lists(RECORDS, max_size=8))
def test_fields_of_any_type_never_break_what_reads_them(
    tmp_path_factory: pytest.TempPathFactory, records: list[dict[str, Any]]
) -> None:
    lines = b"".join(json.dumps(record).encode() + b"\n" for record in records)
    found = read_transcript(write(tmp_path_factory.mktemp("t"), HEADER + lines))
    stats(found)
    restored = restore(found)
    if len(restored.history):
        restored.history.ready()
        assert validate(restored.history.messages) == ()


def test_a_message_comes_back_as_it_was() -> None:
    message = AssistantMessage(
        (
            Thinking("hm", "anthropic_messages", {"signature": "abc"}),
            Text("I look."),
            ToolCall("c1", "kubectl", {"args": ["get", "pods"]}, opaque={"thought": "sig"}),
            ToolCall("c2", "kubectl", None, raw='{"args"', problem="cut"),
        ),
        StopReason.TOOL_USE,
        model="a/b",
        usage=Usage(3, 4, cost=Cost(0.5, "USD", "api")),
        response_id="r1",
    )
    record = {"type": "message", **encode_message(message, Redactor(), Caps())}
    back = decode_message(json.loads(json.dumps(record)))
    assert isinstance(back, AssistantMessage)
    assert (back.stop, back.model, back.usage) == (message.stop, "a/b", message.usage)
    assert back.content[0] == message.content[0] and back.content[1] == message.content[1]
    call = back.content[2]
    assert isinstance(call, ToolCall) and call.arguments == {"args": ["get", "pods"]}
    assert call.opaque == {"thought": "sig"} and back.content[3] == message.content[3]


def test_long_text_and_arguments_are_cut_with_a_mark_and_pictures_are_digests() -> None:
    caps = Caps(text=100, arguments=50)
    long = "a" * 500 + "b" * 500
    message = AssistantMessage(
        (Text(long), ToolCall("c1", "echo", {"text": "é" * 500})), StopReason.TOOL_USE
    )
    text, call = encode_message(message, Redactor(), caps)["content"]
    assert len(text["text"]) <= 100 and text["text"][0] == "a" and text["text"][-1] == "b"
    assert call["arguments"]["_truncated"] is True
    assert call["arguments"]["chars_total"] == 511
    uncapped = encode_message(message, Redactor(), Caps(0, 0))["content"]
    assert uncapped[0]["text"] == long
    picture = UserMessage((Image("image/png", b"\x89PNG", "a.png"),))
    [part] = encode_message(picture, Redactor(), caps)["content"]
    assert part["bytes"] == 4 and len(part["sha256"]) == 64 and "data" not in part


def test_a_signed_block_with_a_secret_is_left_out_rather_than_broken() -> None:
    redactor = Redactor()
    redactor.learn("hunter2-hunter2-hunter2", "test")
    block = {"thinking": "it is hunter2-hunter2-hunter2", "signature": "s"}
    message = AssistantMessage((Thinking("hm", "w", block), Text("x")), StopReason.END_TURN)
    record = {"type": "message", **encode_message(message, redactor, Caps())}
    assert record["content"][0]["opaque_withheld"] is True
    assert "hunter2" not in json.dumps(record)
    back = decode_message(record)
    assert isinstance(back, AssistantMessage) and back.content == (Text("x"),)


class Unprintable:
    def __repr__(self) -> str:
        raise RuntimeError("no words for this")


def test_what_json_cannot_hold_is_still_recorded(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    writer = TranscriptWriter(Journal.create(path), ManualClock())
    writer.header("s", "ada", {})
    writer.write("notice", message="lone \ud800 surrogate", value=float("nan"), what=object())
    loop: dict[str, Any] = {}
    loop["self"] = [loop, loop]
    writer.write("notice", value=loop)
    writer.write("notice", value=Unprintable())
    writer.write("notice", message="after")
    writer.close()
    found = read_transcript(path)
    assert found.malformed == 0
    kinds = [record["type"] for record in found.records]
    assert kinds == ["notice", "notice", "serialization_error", "notice"]
    assert found.records[0]["message"] == "lone \\ud800 surrogate"
    assert found.records[0]["value"] == "nan"
    assert found.records[1]["value"] == {"self": ["{'self': [{...}, {...}]}"] * 2}


def test_files_are_private(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        Journal.create(tmp_path / "t.jsonl").close()
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / "t.jsonl").stat().st_mode) == 0o600


@pytest.mark.anyio
async def test_a_session_goes_on_where_another_process_left_it(tmp_path: Path) -> None:
    script = [calls(("c1", "echo", {"text": "seen"}), text="Looking."), says("It is DNS.")]
    async with agent_with(tmp_path, script) as (agent, _):
        await collect(agent, "Why?")
        name, before = agent.session.id, list(agent.session.history.messages)
    async with agent_with(tmp_path, [says("Still DNS.")], session_id=name) as (agent, model):
        events = await collect(agent, "And now?", turn_id="t9")
    assert events[0].resumed == 4  # type: ignore[union-attr]
    assert [type(m) for m in model.seen[0][:4]] == [type(m) for m in before]
    for then, now in zip(before, model.seen[0], strict=False):
        shown = [getattr(part, "text", None) or part.arguments for part in then.content]  # type: ignore[union-attr]
        again = [getattr(part, "text", None) or part.arguments for part in now.content]  # type: ignore[union-attr]
        assert again == shown
    found = SessionStore(tmp_path, "ada").read(name)
    counted = stats(found)
    assert (counted.turns, counted.unfinished, counted.requests) == (2, 0, 3)
    assert counted.calls == {"success": 1} and counted.repairs == 0 and not found.damaged


def kill_after(state: Path, turns: int, bytes_more: int) -> str:
    """Start a victim, kill it -9 some bytes after it has done some turns, return its session."""
    victim = subprocess.Popen(
        [sys.executable, "-m", "tests.agent.victim", str(state)],
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parents[2],
    )
    assert victim.stdout is not None
    name = victim.stdout.readline().decode().strip()
    victim.stdout.read(turns)
    path = state / "sessions" / "ada" / name / "transcript.jsonl"
    goal = path.stat().st_size + bytes_more
    while path.stat().st_size < goal:
        pass
    victim.send_signal(signal.SIGKILL)
    victim.wait()
    victim.stdout.close()
    return name


async def go_on_after_a_kill(state: Path, turns: int, bytes_more: int) -> None:
    name = kill_after(state, turns, bytes_more)
    store = SessionStore(state, "ada")
    found = store.read(name)
    assert found.readable and found.malformed == 0
    assert stats(found).unfinished <= 1
    session = await store.open(name)
    ids = {f"{record.get('call')}" for record in found.records if record["type"] == "tool"}
    assert session.ledger.calls >= ids - {f"{found.records[-1].get('call')}"}
    await session.close()
    async with agent_with(state, [says("next")], session_id=name) as (agent, _):
        # The scripted model refuses an invalid history.
        assert (await collect(agent, turn_id="after"))[-1].answer == "next"  # type: ignore[union-attr]
    assert store.read(name).readable


@pytest.mark.anyio
async def test_a_killed_process_leaves_a_transcript_to_read_and_go_on_with(tmp_path: Path) -> None:
    await go_on_after_a_kill(tmp_path, 2, 7_000)


@pytest.mark.slow
@pytest.mark.anyio
@pytest.mark.parametrize("seed", range(12))
async def test_a_process_may_be_killed_at_any_point(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    await go_on_after_a_kill(tmp_path, chance.randrange(4), chance.randrange(30_000))


@pytest.mark.anyio
async def test_a_transcript_cut_at_any_byte_is_read_named_and_goes_on(tmp_path: Path) -> None:
    script = [
        calls(("c1", "echo", {"text": "a"}), ("c2", "echo", {"text": "b"}), text="Looking."),
        says("done"),
    ]
    async with agent_with(tmp_path, script) as (agent, _):
        await collect(agent)
        name = agent.session.id
    folder = tmp_path / "sessions" / "ada" / name
    whole = (folder / "transcript.jsonl").read_bytes()
    first = whole.index(b"\n") + 1
    for cut in range(first, len(whole), 97):
        (folder / "transcript.jsonl").write_bytes(whole[:cut])
        found = read_transcript(folder / "transcript.jsonl")
        assert found.readable and found.malformed == 0
        assert (found.tail == "unfinished") is (whole[cut - 1 : cut] != b"\n")
        restored = restore(found)
        if len(restored.history):
            restored.history.ready()
            assert validate(restored.history.messages) == ()
