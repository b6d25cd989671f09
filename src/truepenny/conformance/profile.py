"""How a known MCP server is called and read, as data: `adapters/*.toml`.

What a server says in words is found by patterns; each names what the words mean there. A server
that is not known is called by what its schema suggests and read by its structured fields and its
error flag alone: nothing is guessed from text.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from truepenny.errors import ConfigurationError

ADAPTERS = Path(__file__).parent / "adapters"

FORMAT = 1

COMMAND_NAMES = ("command", "cmd", "script", "code", "line", "commandLine")
DIRECTORY_NAMES = (
    "cwd", "workdir", "working_dir", "workingDir", "working_directory", "workingDirectory",
    "directory", "dir",
)  # fmt: skip
SECOND_NAMES = ("timeout", "timeout_seconds", "timeoutSeconds", "timeout_s")
MILLISECOND_NAMES = ("timeout_ms", "timeoutMs", "timeout_millis")
TOOL_WORDS = ("bash", "shell", "command", "exec", "run", "terminal", "process")
"""What argument and tool names of shell servers are made of, most telling first."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


Patterns = tuple[str, ...]


class Words(_Strict):
    """Patterns over the whole text (multi-line). A group, where there is one, is the value."""

    exit_code: Patterns = ()
    zero: Patterns = ()
    """Words that are there for exit code 0 alone."""
    signal: Patterns = ()
    timed_out: Patterns = ()
    interrupted: Patterns = ()
    truncated: Patterns = ()
    output: Patterns = ()
    """The group is what the command wrote."""

    @field_validator("*")
    @classmethod
    def _compiles(cls, patterns: Patterns) -> Patterns:
        for pattern in patterns:
            try:
                re.compile(pattern)
            except re.error as error:
                raise ValueError(f"{pattern!r} is no pattern: {error}") from error
        return patterns


class Fields(_Strict):
    """Names of fields, of the structured content or of JSON in the text (`json_text`)."""

    exit_code: tuple[str, ...] = (
        "exit_code", "exitCode", "returncode", "return_code", "returnCode",
    )  # fmt: skip
    signal: tuple[str, ...] = ("signal",)
    timed_out: tuple[str, ...] = ("timed_out", "timedOut")
    interrupted: tuple[str, ...] = ("interrupted", "aborted", "killed")
    truncated: tuple[str, ...] = ("truncated", "isTruncated", "output_truncated")
    bytes_written: tuple[str, ...] = ("bytes", "total_bytes", "totalBytes")
    stdout: tuple[str, ...] = ("stdout",)
    stderr: tuple[str, ...] = ("stderr",)
    output: tuple[str, ...] = ("output",)


class Profile(_Strict):
    """One server. `servers` are the names it gives itself in the handshake."""

    format: int = FORMAT
    servers: tuple[str, ...] = ()
    tool: str | None = None
    command: str | None = None
    form: Literal["line", "argv"] | None = None
    wrap: tuple[str, ...] = ()
    """Words before the line where the tool takes no shell line itself."""
    directory: str | None = None
    directory_tool: str | None = None
    """Another tool that sets the folder of the calls after it; `directory` is its argument."""
    timeout: str | None = None
    unit: Literal["s", "ms"] | None = None
    environment: dict[str, str] = {}
    """What the server needs to allow a shell at all."""
    arguments: dict[str, Any] = {}
    """Further arguments of every call."""
    zero_unless_flagged: bool = False
    """It documents that a code other than 0 sets the error flag: no flag is code 0."""
    json_text: bool = False
    words: Words = Words()
    fields: Fields = Fields()
    note: Annotated[str, Field(max_length=400)] = ""

    @model_validator(mode="after")
    def _whole(self) -> Profile:
        if self.directory_tool is not None and self.directory is None:
            raise ValueError("directory_tool needs the name of its argument in directory")
        return self


def profiles() -> dict[str, Profile]:
    """Read the shipped ones, by file name."""
    return {path.stem: read_profile(path) for path in sorted(ADAPTERS.glob("*.toml"))}


def read_profile(path: Path) -> Profile:
    """Read one; raises ConfigurationError for a file that says something else."""
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
        if data.get("format") != FORMAT:
            raise ConfigurationError(f"is not of format {FORMAT}", where=str(path))
        return Profile.model_validate(data)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, ValidationError) as error:
        raise ConfigurationError(str(error), where=str(path)) from error


def chosen_tool(profile: Profile, tools: Mapping[str, Mapping[str, Any]]) -> Profile:
    """Return the profile with the tool and every argument name filled in.

    `tools` are the input schemas by tool name. Raises ConfigurationError where no tool takes a
    command.
    """
    name = profile.tool or next(
        (tool for tool in _by_word(tools) if _first(COMMAND_NAMES, _properties(tools[tool]))), None
    )
    if name is None or name not in tools:
        raise ConfigurationError(
            f"no tool {name!r}" if name else "no tool takes a command",
            where="server",
            remedy=f"Name one with --server-tool; there are: {', '.join(sorted(tools)) or 'none'}.",
        )
    properties = _properties(tools[name])
    command = profile.command or _first(COMMAND_NAMES, properties)
    if command is None or command not in properties:
        raise ConfigurationError(
            f"{name} has no argument {command!r}" if command else f"{name} takes no command",
            where="server",
            remedy=f"Name it in a profile; there are: {', '.join(sorted(properties)) or 'none'}.",
        )
    seconds, milliseconds = _first(SECOND_NAMES, properties), _first(MILLISECOND_NAMES, properties)
    timeout = profile.timeout or seconds or milliseconds
    form = "argv" if properties[command].get("type") == "array" else "line"
    return profile.model_copy(
        update={
            "tool": name,
            "command": command,
            "form": profile.form or form,
            "wrap": profile.wrap or (("bash", "-c") if form == "argv" else ()),
            "directory": profile.directory or _first(DIRECTORY_NAMES, properties),
            "timeout": timeout,
            "unit": profile.unit or ("ms" if timeout in MILLISECOND_NAMES else "s"),
        }
    )


def _by_word(tools: Iterable[str]) -> list[str]:
    def rank(name: str) -> int:
        found = (at for at, word in enumerate(TOOL_WORDS) if word in name.lower())
        return next(found, len(TOOL_WORDS))

    return sorted(tools, key=rank)


def _properties(schema: Mapping[str, Any]) -> Mapping[str, Mapping[str, Any]]:
    return schema.get("properties", {})


def _first(names: Iterable[str], there: Mapping[str, Any]) -> str | None:
    return next((name for name in names if name in there), None)
