"""What the script tools have in common: finding the script, its words, and its final status."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from truepenny.execute.execution import Execution
from truepenny.text.bound import Limits, bound
from truepenny.tool.result import Result, invalid
from truepenny.tool.script import Script, UnknownScript

from .source import ScriptSource

MIN_SECONDS, DEFAULT_SECONDS, MAX_SECONDS = 1.0, 180.0, 300.0
"""For reaching the target and running together (diagnostics spec 2)."""

MOST_ARGUMENTS, ARGUMENT_CHARS = 64, 4096
"""Words after a script: more than any shipped one takes."""

KNOWN_SHOWN = 100
"""Scripts that are named where one is unknown."""

DOCUMENTATION_BYTES = 6000
"""Of a skill's text, told where its script is unknown (diagnostics spec 2)."""

_SHELLS = ("bash", "sh")

_STATUS = re.compile(r"status: ([a-z][a-z_]{0,63})")
"""A script's last line (diagnostics spec 7)."""

MEANING = (
    "Nothing judges what a script does: it is code of a skill. Its last line is `status: WORD`; a "
    "result without a status says nothing about the target."
)
"""In the description of each script tool."""


@dataclass(frozen=True, slots=True)
class Request:
    """A script to run, with the words after it."""

    script: Script
    words: tuple[str, ...]

    @property
    def argv(self) -> tuple[str, ...]:
        """The program and words that read the script from standard input."""
        program = self.script.interpreter
        reads = ("-s", "--") if program in _SHELLS else ("-",)
        return (program, *reads, *self.words)

    @property
    def stdin(self) -> bytes:
        """The script as it is sent. A shell reads all of it before it begins: a script that was
        cut on its way does not run in part, and no program in it eats the rest as its input."""
        body = self.script.body
        if self.script.interpreter not in _SHELLS:
            return body
        return b"{ " + body + b"\n} </dev/null\n"

    @property
    def line(self) -> str:
        """How it is told to a person."""
        return shlex.join((f"{self.script.skill}/{self.script.name}", *self.words))


def read_request(
    arguments: Mapping[str, Any], source: ScriptSource, context: str
) -> Request | Result:
    """Return what to run in a context (`local`, `node`, `pod`, `host`), or the result of a call
    that names none: `detail.known` lists what there is."""
    skill, name = arguments["skill"], arguments["script"]
    words = tuple(arguments.get("args", ()))
    if any("\0" in word for word in words):
        return invalid("args", "args: a word has a NUL character")
    try:
        script = source.script(skill, name)
    except UnknownScript as unknown:
        known = unknown.known
        more = f", and {len(known) - KNOWN_SHOWN} more" if len(known) > KNOWN_SHOWN else ""
        there = f"there are: {', '.join(known[:KNOWN_SHOWN]) or 'none'}{more}"
        text = bound(unknown.documentation, Limits(bytes=DOCUMENTATION_BYTES)).text
        message = f"{unknown.message}; {there}" + (f"\n{text}" if text else "")
        return invalid("unknown_script", message, known=list(known[:KNOWN_SHOWN]))
    if context not in script.contexts:
        fit = ", ".join(f"{place}_script" for place in script.contexts)
        message = f"{skill}/{name} is not made for {context}_script"
        return invalid("script_context", message, f"use {fit}", contexts=list(script.contexts))
    return Request(script, words)


def with_status(result: Result, execution: Execution, request: Request) -> Result:
    """Return the result with `detail.status`, what the script's last line says, and
    `detail.script`. The status is None where the script was ended or said none: that is no `ok`."""
    last = execution.stdout.text.rstrip("\n").rpartition("\n")[2]
    found = _STATUS.fullmatch(last)
    by_itself = execution.cause is None and result.facts.leg is None
    status = found[1] if found is not None and by_itself else None
    script = {"skill": request.script.skill, "name": request.script.name}
    detail = {**result.facts.detail, "script": script, "status": status}
    notes = result.facts.notes
    if status is None:
        notes = (*notes, _NO_STATUS)
    return result.with_facts(detail=detail, notes=notes)


_NO_STATUS = "the script's last line is no `status:` line: it did not say how its check ended"


def properties(longest: float = MAX_SECONDS) -> dict[str, Any]:
    """Return the arguments that every script tool takes."""
    name = {"type": "string", "minLength": 1, "maxLength": 128}
    return {
        "skill": name,
        "script": {**name, "description": "The file's name, as the skill tells it."},
        "args": {
            "type": "array",
            "maxItems": MOST_ARGUMENTS,
            "items": {"type": "string", "maxLength": ARGUMENT_CHARS},
            "description": "Words after the script, one per element.",
        },
        "timeout_seconds": {
            "type": "number",
            "minimum": MIN_SECONDS,
            "maximum": longest,
            "description": f"{min(DEFAULT_SECONDS, longest):g} unless given.",
        },
    }
