"""What a person sees of a run, from its events alone."""

from __future__ import annotations

import io

import pytest

from truepenny.agent.claim.verdict import Claims
from truepenny.agent.event import Error, ModelStarted, RunEvent, RunFinished, TextDelta
from truepenny.agent.stop import Stop, StopKind
from truepenny.cli.render import Output, RunView


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def seen(*events: RunEvent, terminal: bool = False) -> tuple[str, str]:
    """What the events put on stdout and on stderr."""
    out, err = Terminal() if terminal else io.StringIO(), io.StringIO()
    view = RunView(Output(out), err)
    for event in events:
        view.show(event)
    return out.getvalue(), err.getvalue()


def finished(answer: str, stop: Stop, state: str) -> RunFinished:
    cited, claims = {"resolved": (), "unresolved": ()}, Claims().to_json()
    return RunFinished("turn_1", stop, answer, state, {}, cited, claims, (), True, "session_1")  # type: ignore[arg-type]


REQUEST = ModelStarted("turn_1", "m", 2, 3)
COMPLETED = Stop(StopKind.COMPLETED)
ABORTED = Stop(StopKind.CANCELLED, message="the turn was aborted")


def test_what_was_told_before_a_call_is_not_given_as_a_partial_answer() -> None:
    told = "Now what runs in the cluster."
    out, err = seen(TextDelta("turn_1", told), REQUEST, finished(told, ABORTED, "partial"))
    assert out == ""
    assert err.count(told) == 1
    assert "partial" not in err


def test_an_answer_that_was_begun_is_shown_and_called_partial() -> None:
    begun = TextDelta("turn_1", "It is the disk")
    out, err = seen(begun, finished("It is the disk", ABORTED, "partial"))
    assert out == "It is the disk\n"
    assert "partial" in err


def test_what_went_wrong_is_said_once() -> None:
    why = "cannot connect to llm.example"
    stop = Stop(StopKind.MODEL_FAILED, message=why)
    _, err = seen(Error("turn_1", "network", why), finished("", stop, "none"))
    assert err.count(why) == 1
    assert "model_failed" in err


def test_markdown_is_for_files_and_bold_between_words_for_terminals(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    answer = f"**It is the disk.**\n\n- {'full ' * 20}"
    events = (TextDelta("turn_1", answer), finished(answer, COMPLETED, "final"))
    assert seen(*events)[0] == f"{answer}\n"
    shown = seen(*events, terminal=True)[0]
    assert shown.startswith("\x1b[1mIt is the disk.\x1b[22m\n")
    assert max(map(len, shown.splitlines()[1:])) <= 40
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in seen(*events, terminal=True)[0]
