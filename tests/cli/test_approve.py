"""What a person is shown before a call runs, and what counts as a yes."""

from __future__ import annotations

import io
import os
import pty

import pytest

from tests.tool.tools import tool
from truepenny.cli.approve import LONGEST_VALUE, ask, shown
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
    ours, theirs = pty.openpty()
    try:
        with os.fdopen(os.dup(theirs), encoding="utf-8") as stdin:
            monkeypatch.setattr("sys.stdin", stdin)
            os.write(ours, typed)
            assert await ask(CALL, {"command": "ls"}, ASKED) is allowed
    finally:
        os.close(ours)
        os.close(theirs)
