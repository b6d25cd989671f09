"""What a person is shown before a call runs, and what counts as a yes."""

from __future__ import annotations

import io
import os
import pty

import pytest

from tests.tool.tools import tool
from tests.workspace.world import world
from truepenny.cli.approve import LONGEST_VALUE, ask, place_of, shown
from truepenny.config.settings import SandboxSettings
from truepenny.sandbox.plan import Profile
from truepenny.tool.contract import ActionClass
from truepenny.tool.decision import Decision, Verdict

CALL = tool(name="bash", action_class=ActionClass.EXECUTE)
ASKED = Decision(Verdict.ASK, "needs_approval", message="commands are asked first")


def question(**arguments: object) -> str:
    return shown(CALL, arguments, ASKED, io.StringIO())


def test_every_argument_is_shown() -> None:
    text = question(command="rm -r build", background=True)
    assert "bash (execute)" in text
    assert "command: rm -r build" in text
    assert "background: true" in text
    assert "commands are asked first" in text


def test_a_call_cannot_draw_on_the_terminal() -> None:
    text = question(command="echo ok\x1b[2K\rinnocent \u202eevil")
    assert not set("\x1b\r\u202e") & set(text)


def test_what_is_cut_is_said_and_the_end_is_shown() -> None:
    text = question(command="a" * LONGEST_VALUE + "; rm -r /")
    assert "rm -r /" in text
    assert "9 characters are not shown" in text


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("typed", "allowed"),
    [(b"y\n", True), (b" YES \n", True), (b"\n", False), (b"no\n", False), (b"yep\n", False)],
)
async def test_only_a_yes_is_a_yes(
    typed: bytes, allowed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert await answered(b"", typed, monkeypatch) is allowed


@pytest.mark.anyio
@pytest.mark.parametrize(("before", "after"), [(b"y\n", b"n\n"), (b"yes", b"\n")])
async def test_what_was_typed_before_the_question_answers_nothing(
    before: bytes, after: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not await answered(before, after, monkeypatch)


async def answered(before: bytes, after: bytes, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Ask at a terminal where `before` was typed already and `after` answers the question."""
    ours, theirs = pty.openpty()

    class Screen(io.StringIO):
        def flush(self) -> None:
            os.write(ours, after)

    try:
        with os.fdopen(os.dup(theirs), encoding="utf-8") as stdin:
            monkeypatch.setattr("sys.stdin", stdin)
            monkeypatch.setattr("sys.stderr", Screen())
            os.write(ours, before)
            return await ask(CALL, {"command": "ls"}, ASKED)
    finally:
        os.close(ours)
        os.close(theirs)


@pytest.mark.anyio
async def test_the_folder_is_named_with_what_holds_it_where_that_is_known() -> None:
    async with world("none") as made:
        workspace = made.workspace
        assert place_of(workspace) == f"{workspace.root}, held by nothing"
        workspace.sandbox_settings = SandboxSettings(level="auto")
        assert place_of(workspace) == str(workspace.root)
        workspace.sandbox(Profile.COMMAND)
        assert place_of(workspace).startswith(f"{workspace.root}, held by ")
        text = shown(CALL, {}, ASKED, io.StringIO(), place_of(workspace))
        assert f"  in: {workspace.root}, held by " in text
