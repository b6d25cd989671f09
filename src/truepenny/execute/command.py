"""What to run, completely: nothing is taken from the surroundings that is not written here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from truepenny.sandbox.sandbox import Sandbox
from truepenny.text.bound import Limits
from truepenny.text.redact import Redactor

KEEP_STDOUT = Limits(bytes=64 * 1024)
"""Kept of standard output unless a caller needs other: above any tool's own view of it."""

KEEP_STDERR = Limits(bytes=16 * 1024)
"""Diagnostics are short; a flood of them keeps its beginning and its end."""

STOP_AFTER_BYTES = 256 * 1024 * 1024
"""Raw bytes of both streams together after which a process is stopped: nobody reads more."""


@dataclass(frozen=True, slots=True)
class CaptureLimits:
    """How much is kept and how much may be written.

    What goes beyond `stdout` and `stderr` is cut from the middle while the process runs on.
    Beyond `stop_after` raw bytes (both streams together) the process is stopped; None never stops.
    """

    stdout: Limits = KEEP_STDOUT
    stderr: Limits = KEEP_STDERR
    stop_after: int | None = STOP_AFTER_BYTES


@dataclass(frozen=True, slots=True)
class Command:
    """One process. `argv[0]` is a path, or a name looked up in the PATH of `env`.

    `env` is the whole environment. `stdin` None means /dev/null. `timeout` is in seconds, None for
    none. Without a `redactor` the captured text is as it was written: the caller sanitizes and
    redacts it. Without a `sandbox` it has all rights of this account. `offload` is a new file that
    takes the whole text of both streams, redacted, in the order it came, when something had to be
    left out of what is kept; it is removed again when nothing was. `descriptors` are passed on
    under their own numbers; the caller keeps and closes its copies. `conversation` are two of the
    caller's descriptors that become standard input and output (`converse` makes them): nothing of
    standard output is captured then, and `stdin` is not used.
    """

    argv: tuple[str, ...]
    env: Mapping[str, str]
    cwd: Path | None = None
    stdin: bytes | None = None
    timeout: float | None = 60.0
    limits: CaptureLimits = field(default_factory=CaptureLimits)
    redactor: Redactor | None = None
    sandbox: Sandbox | None = None
    offload: Path | None = None
    descriptors: tuple[int, ...] = ()
    conversation: tuple[int, int] | None = None
