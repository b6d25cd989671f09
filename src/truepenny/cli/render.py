"""A run as a person sees it: the answer on stdout, what the agent does on stderr.

Text that a model writes before a call is narration, not the answer. It cannot be known while it
streams, so short text is held back until a call follows (narration, stderr) or it grows into an
answer (stdout).
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import IO, Any

from truepenny.agent.claim.verdict import MARKED
from truepenny.agent.event import (
    Error,
    Learned,
    ModelStarted,
    Notice,
    Quirk,
    Repaired,
    Retry,
    RunEvent,
    RunFinished,
    SteerDelivered,
    TextDelta,
    ThinkingDelta,
    ToolFinished,
    ToolProgress,
    ToolStarted,
)
from truepenny.text.control import ControlStripper

from .failure import detach
from .remedy import remedy
from .terminal import Progress, colourful, plain, style, width
from .wrap import Wrapped

GATE_CHARS = 280
"""Narration is shorter than this, answers are longer (assistant spec 2.2)."""

MOST_MARKED = 12
"""Doubtful sentences that are named; an answer with more of them is doubtful as a whole."""

_MARKS = {True: ("✗", "red"), False: ("✓", "green")}


class Output:
    """Standard output that may be closed by its reader: the work goes on and says so once."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream
        self.closed = False

    def wrapped(self) -> Wrapped | None:
        """Return what fits an answer to the terminal that it is, if it is one."""
        if not self._stream.isatty():
            return None
        return Wrapped(width(self._stream), colour=colourful(self._stream))

    def write(self, text: str) -> None:
        """Write and flush; nothing after the reader has gone. Other faults are raised."""
        if self.closed:
            return
        try:
            self._stream.write(text)
            self._stream.flush()
        except BrokenPipeError:
            self.closed = True
            detach(self._stream)


class RunView:
    """Shows the events of one run."""

    def __init__(self, out: Output, err: IO[str] | None = None) -> None:
        self._out = out
        self._err = err or sys.stderr
        self._progress = Progress(self._err)
        self._stripper = ControlStripper()
        self._wrapped = out.wrapped()
        self._held = ""
        self._told = ""
        self._remarked = ""
        self._streaming = False
        self._ends_line = True
        self._calls: dict[str, ToolStarted] = {}

    def show(self, event: RunEvent) -> None:
        """Show one event."""
        match event:
            case TextDelta():
                self._text(event.text)
            case ThinkingDelta():
                self._progress.show("thinking …")
            case ModelStarted():
                self._narrated()
                if event.request > 1 or event.model != "builtin/analyst":
                    self._progress.show(f"waiting for {event.model} …")
            case ToolStarted():
                self._narrated()
                self._calls[event.call] = event
                self._progress.show(f"{described(event.tool, event.arguments)} …")
            case ToolProgress():
                self._progress.show(f"{event.tool}: {event.line}")
            case ToolFinished():
                self._finished(event)
            case RunFinished():
                self._end(event)
            case _:
                if line := remark(event):
                    self._line(line, "yellow")
                    self._remarked = line

    def clear(self) -> None:
        """Take the line of progress away, before somebody else writes."""
        self._progress.clear()

    def _text(self, text: str) -> None:
        self._add(self._stripper.feed(text))

    def _add(self, text: str) -> None:
        if self._streaming:
            self._answer(text)
            return
        self._held += text
        if len(self._held) > GATE_CHARS:
            self._streaming = True
            self._answer(self._held)
            self._held = ""

    def _answer(self, text: str) -> None:
        self._progress.clear()
        self._out.write(self._wrapped.feed(text) if self._wrapped else text)
        if text:
            self._ends_line = text.endswith("\n")

    def _narrated(self) -> None:
        """What was held turned out to come before a call."""
        self._add(self._stripper.finish())
        if self._held.strip():
            self._told = self._held.strip()
            self._line(self._told, "dim")
        self._held = ""
        if self._streaming:
            self._answer("\n\n" if not self._ends_line else "\n")
            self._streaming = False

    def _finished(self, event: ToolFinished) -> None:
        mark, colour = _MARKS[event.failed]
        started = self._calls.pop(event.call, None)
        what = event.facts.get("command") or described(
            event.tool, started.arguments if started else {}
        )
        if held := event.facts.get("detail", {}).get("hypothesis"):
            what = _hypothesis(held)
        sign = style(mark, colour, self._err)
        summary = style(plain(event.summary), "dim", self._err)
        self._progress.clear()
        self._tell(f"{sign} [{event.call}] {plain(what)}  {summary}\n")

    def _end(self, event: RunFinished) -> None:
        self._add(self._stripper.finish())
        self._progress.clear()
        # What came before a call was told on stderr, and is no answer because nothing follows it.
        begun = plain(event.answer).strip() != self._told
        if self._held:
            self._answer(self._held)
        elif not self._streaming and event.answer and event.answer_state != "none" and begun:
            self._answer(plain(event.answer))
        self._held = ""
        if self._wrapped:
            self._out.write(self._wrapped.finish())
        if not self._ends_line:
            self._out.write("\n")
        if not event.stop.completed:
            why = event.stop.message or event.stop.detail or "no reason known"
            said = "" if why == self._remarked else f": {why}"
            self._line(f"stopped ({event.stop.kind}){said}", "red")
            if advice := event.stop.failure and remedy(event.stop.failure):
                self._line(f"  {advice}", "red")
            if event.answer_state == "partial":
                left = "the answer above is partial" if begun else "no answer was begun"
                self._line(left, "red")
        if unresolved := event.evidence.get("unresolved"):
            self._line(f"cited but never called: {', '.join(unresolved)}", "red")
        self._doubt(event.claims)
        if not event.recorded:
            self._line("some of this run could not be written to its transcript", "red")

    def _doubt(self, claims: Mapping[str, Any]) -> None:
        """Name the sentences that a reader must not take as observed."""
        marked = [one for one in claims["sentences"] if one["verdict"] in MARKED]
        for one in marked[:MOST_MARKED]:
            lost = f": {', '.join(one['missing'])}" if one["missing"] else ""
            self._line(f"? {_short(one['text'])}", "yellow")
            self._line(f"    {one['because']}{_short(lost)}", "yellow")
        counts = claims["counts"]
        more = sum(counts[verdict] for verdict in MARKED) - len(marked[:MOST_MARKED])
        if more > 0:
            self._line(f"? and {more} more sentences without what they rest on", "yellow")

    def _tell(self, text: str) -> None:
        # A full disk behind stderr takes what is told on the way, not the answer.
        with suppress(OSError):
            self._err.write(text)
            self._err.flush()

    def _line(self, text: str, colour: str) -> None:
        self._progress.clear()
        self._tell(style(plain(text), colour, self._err) + "\n")


def _hypothesis(held: Mapping[str, Any]) -> str:
    """Return a hypothesis as one line: its state, how sure, and the calls on either side."""
    sides = [f"for {' '.join(held['supports'])}"] if held["supports"] else []
    sides += [f"against {' '.join(held['against'])}"] if held["against"] else []
    because = f"; explains {held['explains']}" if held["explains"] else ""
    line = f"{held['id']} {held['state']}, {held['confidence']}: {held['claim']}{because}"
    return f"{line} ({'; '.join(sides)})" if sides else line


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 160 else f"{line[:159]}…"


def described(tool: str, arguments: Any) -> str:
    """Return a call as one short line: the tool, then its arguments as words."""
    if not isinstance(arguments, Mapping):
        return tool
    words = [tool]
    for name, value in arguments.items():  # pyright: ignore[reportUnknownVariableType]
        if name == "args" and isinstance(value, list):
            words.extend(str(word) for word in value)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
        else:
            words.append(f"{name}={value}")
    line = " ".join(words)
    return line if len(line) <= 200 else f"{line[:199]}…"


def remark(event: RunEvent) -> str:
    """Return what a person should know of an event that is not text or a call; often nothing."""
    match event:
        case Notice() | Error():
            return event.message
        case Retry():
            return f"{event.kind}: {event.message}; asking again in {event.delay:g} s"
        case Learned():
            return f"learned of the model: {event.capability} = {event.value}"
        case Quirk():
            return f"the model's stream had a fault ({event.kind}): {event.detail}"
        case Repaired():
            return f"history repaired ({event.kind}): {event.detail}"
        case SteerDelivered():
            return "your message was passed on"
        case _:
            return ""
