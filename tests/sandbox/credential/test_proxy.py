"""The credential proxy over its real socket: what is handed out, and what a hostile peer gets."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest

from tests.sandbox.network.wire import ME, talk
from truepenny.sandbox.credential import proxy as module
from truepenny.sandbox.credential.proxy import CredentialProxy, Denied, ProgramRun, Runner
from truepenny.sandbox.credential.request import (
    ANSWER_BYTES,
    MOST_ARGUMENTS,
    MOST_TEXT,
    REQUEST_BYTES,
    BadRequest,
    Reason,
    encode,
    read_request,
)
from truepenny.sandbox.credential.split import CredentialSpec, NotGiven, split
from truepenny.sandbox.credential.use import MOST_USES, Kind, Uses
from truepenny.text.redact import Redactor

pytestmark = pytest.mark.anyio

SPECS = (
    CredentialSpec("MAIL_PASSWORD", frozenset({"mail"})),
    CredentialSpec("PIN", frozenset({"mail"})),
    CredentialSpec("OTHER_TOKEN", frozenset({"other"})),
    CredentialSpec("STATE_FILE", frozenset({"notes"}), proxy_only=True),
    CredentialSpec("FORGE_TOKEN", frozenset({"notes"})),
)
TASK = {
    "PATH": "/usr/bin",
    "MAIL_PASSWORD": "correct-horse-battery",
    "PIN": "123",
    "STATE_FILE": "/state/of/notes.sqlite",
}
PROGRAMS = {"mail": ("/opt/mail", "-q"), "notes": ("/opt/notes",), "unselected": ("/opt/x",)}


class Runs:
    """A runner that notes what it was asked, and answers."""

    def __init__(self, answer: ProgramRun | Exception | None = None) -> None:
        self.answer = answer
        self.asked: list[tuple[tuple[str, ...], dict[str, str]]] = []

    async def __call__(
        self, tool: str, words: tuple[str, ...], env: Mapping[str, str]
    ) -> ProgramRun:
        self.asked.append((words, dict(env)))
        if self.answer is None:
            await anyio.sleep_forever()
        if isinstance(self.answer, Exception):
            raise self.answer
        assert self.answer is not None
        return self.answer


DONE = ProgramRun("out", "err", 3)


@asynccontextmanager
async def serving(
    folder: Path,
    run: Runner | None = None,
    redactor: Redactor | None = None,
    *,
    program_seconds: float = 30.0,
    request_seconds: float = 10.0,
) -> AsyncGenerator[Path]:
    made = split(TASK, SPECS, host={}, selected={"notes"})
    proxy = CredentialProxy(
        made,
        PROGRAMS,
        run or Runs(DONE),
        redactor or Redactor(),
        program_seconds=program_seconds,
        request_seconds=request_seconds,
    )
    path = folder / "c"
    with anyio.fail_after(30):
        async with proxy.listening(path, ME):
            yield path


async def ask(path: Path, request: object) -> dict[str, object]:
    return json.loads(await talk(path, json.dumps(request).encode() + b"\n"))


async def test_a_credential_of_the_task_is_handed_out(tmp_path: Path) -> None:
    async with serving(tmp_path) as path:
        answer = await ask(path, {"type": "credential", "name": "MAIL_PASSWORD"})
    assert answer == {"value": "correct-horse-battery"}


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("FORGE_TOKEN", "credential_not_present"),
        ("OTHER_TOKEN", "not_authorized_credential"),
        ("STATE_FILE", "not_authorized_credential"),
        ("PATH", "not_authorized_credential"),
        ("TRUEPENNY_MASTER_KEY", "not_authorized_credential"),
        ("ANTHROPIC_API_KEY", "not_authorized_credential"),
        ("PIN", "credential_not_maskable"),
        ("", "not_authorized_credential"),
    ],
)
async def test_every_other_name_has_a_reason_and_a_line_without_values(
    tmp_path: Path, name: str, reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG, "truepenny"):
        async with serving(tmp_path) as path:
            answer = await ask(path, {"type": "credential", "name": name})
    assert answer["reason"] == reason
    assert answer.keys() == {"error", "reason"}
    assert f"reason={reason} name={name!r}" in caplog.text
    assert not any(value in caplog.text for value in ("correct-horse", "123", "/state/of"))


async def test_values_are_known_to_the_redactor_before_anybody_can_ask(tmp_path: Path) -> None:
    redactor = Redactor()
    async with serving(tmp_path, redactor=redactor):
        masked = redactor.text("it is correct-horse-battery in /state/of/notes.sqlite").text
    assert masked == "it is [REDACTED:MAIL_PASSWORD] in [REDACTED:STATE_FILE]"


async def test_a_tool_runs_with_its_own_environment_alone(tmp_path: Path) -> None:
    runs = Runs(DONE)
    async with serving(tmp_path, runs) as path:
        answer = await ask(path, {"tool": "mail", "args": ["send", "--to", "a b"]})
        await ask(path, {"tool": "notes", "args": []})
    assert answer == {"stdout": "out", "stderr": "err", "returncode": 3}
    base = {"PATH": "/usr/bin", "STATE_FILE": "/state/of/notes.sqlite"}
    assert runs.asked == [
        (
            ("/opt/mail", "-q", "send", "--to", "a b"),
            base | {"MAIL_PASSWORD": "correct-horse-battery", "PIN": "123"},
        ),
        (("/opt/notes",), base),
    ]


@pytest.mark.parametrize("tool", ["unselected", "other", "../mail", "/bin/sh", ""])
async def test_another_tool_is_refused_with_the_list(tmp_path: Path, tool: str) -> None:
    runs = Runs(DONE)
    async with serving(tmp_path, runs) as path:
        answer = await ask(path, {"tool": tool, "args": []})
    assert answer["reason"] == "unknown_tool"
    assert answer["returncode"] == 1
    assert answer["authorized_tools"] == ["mail", "notes"]
    assert runs.asked == []


async def test_outputs_are_masked_then_bounded_and_the_rest_is_counted(tmp_path: Path) -> None:
    secret = "correct-horse-battery"
    # The cut would go through the secret if it came first.
    text = "x" * (MOST_TEXT - 8) + secret
    async with serving(tmp_path, Runs(ProgramRun(text, "\0" * 2 * MOST_TEXT, 0))) as path:
        answer = await ask(path, {"tool": "mail", "args": []})
    assert answer["stdout"] == "x" * (MOST_TEXT - 8) + "[REDACTE"
    assert answer["stderr"] == "\0" * MOST_TEXT
    assert answer["omitted"] == {"stdout": len("[REDACTED:MAIL_PASSWORD]") - 8, "stderr": MOST_TEXT}


async def test_a_program_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    async with serving(tmp_path, Runs(None), program_seconds=0.05) as path:
        answer = await ask(path, {"tool": "mail", "args": []})
    assert (answer["reason"], answer["returncode"]) == ("timeout", 124)


async def test_a_program_that_cannot_start_says_nothing_of_ours(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    runs = Runs(OSError("no /opt/mail with correct-horse-battery"))
    async with serving(tmp_path, runs) as path:
        answer = await ask(path, {"tool": "mail", "args": []})
    assert answer["reason"] == "could_not_run"
    assert "horse" not in json.dumps(answer)
    assert "horse" not in caplog.text


async def test_the_end_of_the_task_ends_a_running_program(tmp_path: Path) -> None:
    asked, ended = anyio.Event(), anyio.Event()

    async def run(tool: str, words: tuple[str, ...], env: Mapping[str, str]) -> ProgramRun:
        asked.set()
        try:
            await anyio.sleep_forever()
        finally:
            ended.set()
        raise AssertionError

    async with serving(tmp_path, run) as path:
        stream = await anyio.connect_unix(path)
        await stream.send(b'{"tool": "mail", "args": []}\n')
        await asked.wait()
    assert ended.is_set()
    assert not path.exists()
    await stream.aclose()


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"\xff\xfe",
        b"[]",
        b"null",
        b"1e999",
        b'"credential"',
        b"{}",
        b'{"type": "credential"}',
        b'{"type": "other", "name": "MAIL_PASSWORD"}',
        b'{"type": "credential", "name": ["MAIL_PASSWORD"]}',
        b'{"type": "credential", "name": "MAIL_PASSWORD", "tool": "mail"}',
        b'{"type": "credential", "name": "x", "name": "MAIL_PASSWORD"}',
        b'{"type": "credential", "name": "MAIL_PASSWORD\\u0000"}',
        b'{"tool": "mail"}',
        b'{"tool": "mail", "args": "send"}',
        b'{"tool": "mail", "args": null}',
        b'{"tool": "mail", "args": [1]}',
        b'{"tool": "mail", "args": ["a\\u0000b"]}',
        b'{"tool": "mail", "args": ["\\ud800"]}',
        b'{"tool": 1, "args": []}',
        b"[" * 50_000,
        b'{"a":' * 8_000,
    ],
)
async def test_what_is_no_request(tmp_path: Path, line: bytes) -> None:
    with pytest.raises(BadRequest):
        read_request(line)
    runs = Runs(DONE)
    async with serving(tmp_path, runs) as path:
        answer = json.loads(await talk(path, line + b"\n"))
    assert answer["reason"] == "bad_request"
    assert runs.asked == []


async def test_sizes_are_bounded_at_both_ends(tmp_path: Path) -> None:
    many = {"tool": "mail", "args": ["x"] * (MOST_ARGUMENTS + 1)}
    async with serving(tmp_path) as path:
        assert (await ask(path, many))["reason"] == "bad_request"
        got = await talk(path, b"x" * 1_000_000)
        assert got == b"" or json.loads(got)["reason"] == "request_too_large"
        got = await talk(path, b"x" * REQUEST_BYTES, end=False)
        assert json.loads(got)["reason"] == "request_too_large"
    line = encode({"value": "x" * ANSWER_BYTES})
    assert len(line) < ANSWER_BYTES
    assert json.loads(line)["reason"] == "could_not_run"
    assert len(encode({"stdout": "\0" * MOST_TEXT, "stderr": "\0" * MOST_TEXT})) < ANSWER_BYTES


async def test_one_request_a_connection(tmp_path: Path) -> None:
    request = b'{"type": "credential", "name": "MAIL_PASSWORD"}\n'
    async with serving(tmp_path) as path:
        answer = json.loads(await talk(path, request + request))
    assert answer["reason"] == "bad_request"


async def test_a_silent_peer_is_sent_away(tmp_path: Path) -> None:
    async with serving(tmp_path, request_seconds=0.05) as path:
        assert json.loads(await talk(path, b'{"type"', end=False))["reason"] == "timeout"
        assert await talk(path) == b""


async def test_one_too_many_is_told_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_REQUESTS", 1)
    asked = anyio.Event()

    async def run(tool: str, words: tuple[str, ...], env: Mapping[str, str]) -> ProgramRun:
        asked.set()
        await anyio.sleep_forever()
        raise AssertionError

    async with serving(tmp_path, run) as path, await anyio.connect_unix(path) as stream:
        await stream.send(b'{"tool": "mail", "args": []}\n')
        await asked.wait()
        assert json.loads(await talk(path))["reason"] == "too_many_requests"
    assert not set(os.listdir(tmp_path))


async def test_each_request_is_a_use_without_values(tmp_path: Path) -> None:
    made = split(TASK, SPECS, host={}, selected={"notes"})

    def admit(tool: str, arguments: tuple[str, ...]) -> Denied | None:
        return Denied(Reason.ARGUMENTS, "no") if "drop" in arguments else None

    runs = Runs(DONE)
    proxy = CredentialProxy(made, PROGRAMS, runs, Redactor(), admit=admit)
    async with proxy.listening(tmp_path / "c", ME):
        mark = proxy.uses.mark()
        await ask(tmp_path / "c", {"tool": "mail", "args": ["correct-horse-battery"]})
        denied = await ask(tmp_path / "c", {"tool": "mail", "args": ["drop", "x"]})
        await ask(tmp_path / "c", {"tool": "other\nforged", "args": []})
        await ask(tmp_path / "c", {"type": "credential", "name": "MAIL_PASSWORD"})
        await ask(tmp_path / "c", {"type": "credential", "name": "FORGE_TOKEN"})
        await ask(tmp_path / "c", {"type": "credential", "name": "correct-horse-battery"})
        await talk(tmp_path / "c", b"{}\n")
    assert denied["reason"] == "arguments_not_allowed"
    assert len(runs.asked) == 1
    assert [use.record() for use in proxy.uses.since(mark)] == [
        {"program": "mail", "arguments": 1, "exit": 3},
        {"program": "mail", "arguments": 2, "refusal": "arguments_not_allowed"},
        {"program": r"'other\nforged'", "arguments": 0, "refusal": "unknown_tool"},
        {"credential": "MAIL_PASSWORD"},
        {"credential": "FORGE_TOKEN", "refusal": "credential_not_present"},
        {"credential": "[REDACTED:MAIL_PASSWORD]", "refusal": "not_authorized_credential"},
        {"unreadable": "", "refusal": "bad_request"},
    ]
    assert [use.line() for use in proxy.uses.since(mark)][:4] == [
        "mail with 1 argument: exit 3",
        "mail with 2 arguments: arguments_not_allowed",
        r"'other\nforged' with 0 arguments: unknown_tool",
        "MAIL_PASSWORD: value handed out",
    ]


@pytest.mark.parametrize("more", [b"", b"more"])
async def test_a_program_ends_when_nobody_waits_for_it_any_more(
    tmp_path: Path, more: bytes
) -> None:
    asked, ended = anyio.Event(), anyio.Event()

    async def run(tool: str, words: tuple[str, ...], env: Mapping[str, str]) -> ProgramRun:
        asked.set()
        try:
            await anyio.sleep_forever()
        finally:
            ended.set()
        raise AssertionError

    proxy = CredentialProxy(split(TASK, SPECS, host={}), PROGRAMS, run, Redactor())
    with anyio.fail_after(30):
        async with proxy.listening(tmp_path / "c", ME) as state:
            stream = await anyio.connect_unix(tmp_path / "c")
            await stream.send(b'{"tool": "mail", "args": []}\n')
            await asked.wait()
            (use,) = proxy.uses.since()
            assert use.record() == {"program": "mail", "arguments": 0, "running": True}
            if more:
                await stream.send(more)  # one request a connection
                await ended.wait()
            await stream.aclose()
            await ended.wait()
            while state.open:
                await anyio.lowlevel.checkpoint()
    assert use.refusal == "client_gone"


async def test_what_the_runner_stopped_is_told_with_what_it_wrote(tmp_path: Path) -> None:
    stopped = ProgramRun("half", "", 137, Reason.OUTPUT)
    async with serving(tmp_path, Runs(stopped)) as path:
        answer = await ask(path, {"tool": "mail", "args": []})
    assert (answer["reason"], answer["stdout"]) == ("output_too_large", "half")
    assert answer["returncode"] == 137


def test_uses_are_bounded_and_what_is_gone_is_counted() -> None:
    uses = Uses()
    for number in range(MOST_USES + 5):
        uses.add(Kind.CREDENTIAL, f"N{number}")
    assert len(uses.since()) == MOST_USES
    assert (uses.omitted(), uses.omitted(3), uses.omitted(5)) == (5, 2, 0)
    assert [use.name for use in uses.since(MOST_USES + 4)] == [f"N{MOST_USES + 4}"]
    assert len(uses.add(Kind.PROGRAM, "x" * 500).name) < 200


def test_a_value_that_is_not_handed_is_its_tools_alone() -> None:
    specs = (CredentialSpec("MAIL_PASSWORD", frozenset({"mail"}), handed=False),)
    made = split(TASK, specs, host={})
    assert made.environment("mail")["MAIL_PASSWORD"] == "correct-horse-battery"
    assert "MAIL_PASSWORD" not in made.model
    assert made.lookup("MAIL_PASSWORD") is NotGiven.NOT_AUTHORISED
    assert not made.hands_out
    assert ("MAIL_PASSWORD", "correct-horse-battery") in list(made.secrets())


async def test_one_too_many_stands_among_the_uses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_REQUESTS", 0)
    made = split(TASK, SPECS, host={}, selected={"notes"})
    proxy = CredentialProxy(made, PROGRAMS, Runs(DONE), Redactor())
    with anyio.fail_after(30):
        async with proxy.listening(tmp_path / "c", ME):
            await talk(tmp_path / "c")
    assert [use.line() for use in proxy.uses.since()] == ["a request: too_many_requests"]
