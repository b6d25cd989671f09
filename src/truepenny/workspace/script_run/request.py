"""What a call of `run_script` asks for, checked before anything runs."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from truepenny.text.redact import Redactor
from truepenny.text.sensitive import Strength, key_strength
from truepenny.tool.result import Result, invalid
from truepenny.workspace.argument import inside, no_folder, unusable_text

INTERPRETERS = (
    *("bash", "julia", "node", "octave", "perl", "python", "python3", "Rscript", "ruby", "sh"),
)
"""Names on PATH, never paths: which program answers to the name is recorded (tools spec 2.11)."""

UNBUFFERED = ("-u",)
"""What a Python gets unless the call lists options itself: else its log stays empty for long."""

MOST_ARGUMENTS = 64
ARGUMENT_BYTES = 4096
MOST_FILES = 64
PATH_CHARS = 512
MOST_VARIABLES = 32
VARIABLE = r"^[A-Z_][A-Z0-9_]*$"

DEFAULT_SECONDS = 600.0
MAX_SECONDS = 6 * 3600.0
"""The numbers of tools spec 2.11; what asks for longer gets this, and reads so."""


@dataclass(frozen=True, slots=True)
class Request:
    """One run to be made. Paths are real ones below the workspace; `inputs` and `outputs` by the
    names of the call. `clamped` says that less time is given than was asked for."""

    interpreter: str
    interpreter_args: tuple[str, ...]
    script: Path
    script_name: str
    args: tuple[str, ...]
    cwd: Path
    timeout: float
    clamped: bool = False
    inputs: Mapping[str, Path] = field(default_factory=dict[str, Path])
    outputs: Mapping[str, Path] = field(default_factory=dict[str, Path])
    env: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def words(self) -> tuple[str, ...]:
        """The words after the interpreter."""
        return (*self.interpreter_args, str(self.script), *self.args)


def read_request(arguments: Mapping[str, Any], root: Path) -> Request | Result:
    """Return what is to be run, or why not. The arguments fit the schema."""
    interpreter: str = arguments["interpreter"]
    if (wrong := _unusable(arguments)) is not None:
        return wrong
    script = inside(root, arguments["script"], "script")
    if isinstance(script, Result):
        return script
    if not script.is_file():
        what = "is not a regular file" if script.exists() else "is not there"
        hint = f"name a script file by its path from {root}, or write it first"
        return invalid("script", f"script {arguments['script']!r} {what}", hint)
    cwd = inside(root, arguments.get("cwd", "."), "cwd")
    if isinstance(cwd, Result):
        return cwd
    if not cwd.is_dir():
        return no_folder(root, arguments["cwd"])
    inputs = _files(root, arguments.get("inputs", ()), "inputs")
    outputs = _files(root, arguments.get("outputs", ()), "outputs")
    if isinstance(inputs, Result):
        return inputs
    if isinstance(outputs, Result):
        return outputs
    python = interpreter in ("python", "python3")
    given = arguments.get("interpreter_args")
    asked = arguments.get("timeout_ms")
    seconds = DEFAULT_SECONDS if asked is None else asked / 1000
    return Request(
        interpreter=interpreter,
        # An empty list is an instruction, too: no option at all.
        interpreter_args=tuple(given) if given is not None else UNBUFFERED if python else (),
        script=script,
        script_name=arguments["script"],
        args=tuple(arguments.get("args", ())),
        cwd=cwd,
        timeout=min(seconds, MAX_SECONDS),
        clamped=seconds > MAX_SECONDS,
        inputs=inputs,
        outputs=outputs,
        env=dict(arguments.get("env", {})),
    )


def learn_values(env: Mapping[str, str], redactor: Redactor) -> tuple[str, ...]:
    """Teach the redactor the values of declared variables; return the names of those it took.

    A path is not taken unless its name sounds secret: masked, it would make every later output
    unreadable. Words and numbers the redactor leaves out by itself.
    """
    learned: list[str] = []
    for name, value in env.items():
        strength = key_strength(name)
        if strength is Strength.NONE and value.startswith(("/", "./", "../", "~/")):
            continue
        if redactor.learn(value, name, certain=strength >= Strength.NORMAL):
            learned.append(name)
    return tuple(learned)


def _unusable(arguments: Mapping[str, Any]) -> Result | None:
    for what in ("args", "interpreter_args"):
        for text in arguments.get(what, ()):
            if wrong := unusable_text(text, f"one of {what}", ARGUMENT_BYTES):
                return wrong
    for name, value in arguments.get("env", {}).items():
        if not re.match(VARIABLE, name):
            return invalid("env", f"{name!r} is not a name of a variable ({VARIABLE})")
        if wrong := unusable_text(value, f"the value of {name}", ARGUMENT_BYTES):
            return wrong
    for what in ("script", "cwd"):
        if wrong := unusable_text(arguments.get(what, ""), what):
            return wrong
    return None


def _files(root: Path, names: Sequence[str], what: str) -> dict[str, Path] | Result:
    found: dict[str, Path] = {}
    for name in names:
        if wrong := unusable_text(name, f"one of {what}"):
            return wrong
        if name.startswith("/"):
            return invalid(what, f"{what}: {name!r} is not relative to the workspace")
        path = inside(root, name, f"one of {what}")
        if isinstance(path, Result):
            return path
        found.setdefault(name, path)
    return found
