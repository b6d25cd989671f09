"""Shell lines: run by bash with `pipefail`, and the status of each stage of the last pipeline.

The line is handed to bash exactly as it is, so that its own messages and line numbers are those of
the line. Where it has a pipe, a startup file of ours is read first, from memory (`BASH_ENV`): it
sets an exit trap that reports `PIPESTATUS` through a descriptor of its own, and removes itself
from the environment. A line that replaces its shell, is killed, or sets an exit trap of its own
reports nothing, and one that does not end in that pipeline is not counted: unknown is `None`.

In bubblewrap's namespace each line has that trap, and it counts the processes that are there as
well: with the shell ends the namespace and whatever the line left in it, before we could look.
"""

from __future__ import annotations

import fcntl
import os
import re
import secrets
import shutil
import signal
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from truepenny.sandbox.level import Level
from truepenny.sandbox.sandbox import Sandbox
from truepenny.system.clock import Clock
from truepenny.text.redact import Redactor

from .command import CaptureLimits, Command
from .ending import ExitFact
from .execution import Execution
from .habit import stops_early
from .outcome import Classification, Marker, classify
from .process import OnOutput, run

SHELL = "bash"

FALLBACK = "/bin/sh"
"""Where there is no bash; it has neither `pipefail` nor stage statuses, and the result says so."""

NO_BASH = "there is no bash here: run by sh, so the status of a pipeline is its last stage's alone"

SIGPIPE_CODE = 128 + signal.SIGPIPE
"""What a shell reports for a stage that was writing to nobody."""

_STARTUP = frozenset({"BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS", "PS4", "PROMPT_COMMAND"})
_FUNCTION = re.compile(r"BASH_FUNC_.*(?:%%|\(\))")

_REPORT = """\
unset BASH_ENV
exec {script}<&-
trap '! {{ builtin printf "%s " {token} "$?" "${{PIPESTATUS[@]}}" >&{report}
{count}}} >/dev/null 2>&1' EXIT
"""
# Negated, `set -e` does not end the shell by a status of ours where the line closed a descriptor.

_COUNT = """\
builtin set +efu
builtin set -- /proc/[0-9]*
for REPLY; do
  IFS= builtin read -r OPTARG <"$REPLY/stat" && case ${{OPTARG##*")"}} in
    " "[XZ]" "*) ;;
    *) builtin printf . >&{report} ;;
  esac
done
"""
# A point for each process that is not dead yet. A subshell would be one more.

_SHOWN = re.compile(
    r"XTRACEFD|(?:^|[;&|({\n]|\b(?:then|else|do)\s)\s*"
    r"(?:ulimit\s+-\w*[fn]|set\s[^;&|\n]*(?:-\w*v|verbose)|trap\s*(?:-p|[;&|)\n]|$))"
)
"""Lines that would show the trap in their own output, or whose limits its report would run into.
They are run without it: what they say matters more than the status of their stages."""

_OURS = 2
"""Of those: the shell itself, and the first process of bubblewrap's namespace."""

_REPORT_BYTES = 4096
"""Room for what comes back: the statuses of a thousand stages. Full, it may be cut: no report."""

_LOWEST = 640
"""The descriptors of both files are no lower: a line that opens 3 or 200 for itself must not have
our report written into its file. Below the usual limit of 1024."""


def clean_of_startup(env: Mapping[str, str]) -> dict[str, str]:
    """Return the environment without what makes a shell run or switch on something at its start."""
    return {
        name: value
        for name, value in env.items()
        if name not in _STARTUP and not _FUNCTION.fullmatch(name)
    }


def with_pipefail(env: Mapping[str, str]) -> dict[str, str]:
    """Return the environment for a program that starts shells itself: theirs have `pipefail`."""
    return {**clean_of_startup(env), "SHELLOPTS": "pipefail"}


def line_command(
    line: str,
    *,
    env: Mapping[str, str],
    cwd: Path | None = None,
    stdin: bytes | None = None,
    timeout: float | None = 60.0,
    limits: CaptureLimits | None = None,
    redactor: Redactor | None = None,
    sandbox: Sandbox | None = None,
    offload: Path | None = None,
) -> Command:
    """Return the command that runs a line; what the fields mean is in `Command`."""
    env = clean_of_startup(env)
    shell = shutil.which(SHELL, path=env.get("PATH", os.defpath))
    options = () if shell is None else ("-o", "pipefail")
    # Two dashes, or a line that begins with one would be read as options.
    argv = (FALLBACK if shell is None else SHELL, *options, "-c", "--", line)
    return Command(
        argv, env, cwd, stdin, timeout, limits or CaptureLimits(), redactor, sandbox, offload
    )


async def run_line(
    command: Command, *, on_output: OnOutput | None = None, clock: Clock | None = None
) -> Execution:
    """Run a command of `line_command`; `exit.stages` are the statuses of its last pipeline."""
    line = command.argv[-1]
    if command.argv[0] != SHELL:
        execution = await run(command, on_output=on_output, clock=clock)
        return replace(execution, remarks=(*execution.remarks, NO_BASH))
    alone = command.sandbox is not None and command.sandbox.containment.level is Level.BWRAP
    asked = ("|" in line or alone) and not _SHOWN.search(line)
    if not asked or not hasattr(os, "memfd_create"):
        # Nothing to report, or nothing to hand the startup file over in. Without an exit trap
        # bash may replace itself by the program, whose signal we then see.
        return await run(command, on_output=on_output, clock=clock)
    try:
        report = _Report(counts=alone)
    except OSError:
        # Out of descriptors, or too few may be open: the statuses stay unknown.
        return await run(command, on_output=on_output, clock=clock)
    try:
        execution = await run(report.told(command), on_output=on_output, clock=clock)
        statuses, left = report.read()
    finally:
        report.close()
    if left is not None:
        execution = replace(execution, leftovers=max(execution.leftovers or 0, left))
    return with_stages(line, execution, statuses)


class _Report:
    """The startup file and the file that the statuses come back in, both in memory.

    The second has a fixed size, so that a stage that writes to every descriptor it finds neither
    waits for a reader nor takes memory; what it wrote there is no report.
    """

    def __init__(self, *, counts: bool) -> None:
        self._token = secrets.token_hex(8)
        self._script = _memory("truepenny-line")
        try:
            self._back = _memory("truepenny-stages", os.MFD_ALLOW_SEALING)
            os.ftruncate(self._back, _REPORT_BYTES)
            fcntl.fcntl(self._back, fcntl.F_ADD_SEALS, fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK)
        except BaseException:
            os.close(self._script)
            raise
        count = _COUNT.format(report=self._back) if counts else ""
        text = _REPORT.format(
            script=self._script, report=self._back, token=self._token, count=count
        )
        os.write(self._script, text.encode("ascii"))
        os.lseek(self._script, 0, os.SEEK_SET)

    def close(self) -> None:
        """Close both."""
        os.close(self._script)
        os.close(self._back)

    def told(self, command: Command) -> Command:
        """Return the command with the startup file and the descriptors."""
        startup = f"/dev/fd/{self._script}"
        passed = (*command.descriptors, self._script, self._back)
        held = command.sandbox
        if held is None or held.containment.level is Level.BWRAP:
            # Bubblewrap hands variables over on the inside.
            env = {**command.env, "BASH_ENV": startup}
            return replace(command, env=env, descriptors=passed)
        # Set behind the words of the sandbox: those must not read it, and some refuse it for that.
        argv = ("env", f"BASH_ENV={startup}", *command.argv)
        return replace(command, argv=argv, descriptors=passed)

    def read(self) -> tuple[tuple[int, ...] | None, int | None]:
        """Return the exit status and then those of the stages, and how many processes were left;
        None for what was not told, or not told alone."""
        data = os.pread(self._back, _REPORT_BYTES, 0).rstrip(b"\0")
        words = data.split()
        if not words or words[0] != self._token.encode() or len(data) == _REPORT_BYTES:
            return None, None
        points = words.pop() if not words[-1].strip(b".") else b""
        try:
            statuses = tuple(map(int, words[1:]))
        except ValueError:
            return None, None
        # Without the shell itself it was no count.
        return statuses, len(points) - _OURS if len(points) >= _OURS else None


def _memory(name: str, flags: int = 0) -> int:
    """Return a file in memory with a descriptor from `_LOWEST` on. Raises OSError."""
    made = os.memfd_create(name, flags | os.MFD_CLOEXEC)
    try:
        return fcntl.fcntl(made, fcntl.F_DUPFD_CLOEXEC, _LOWEST)
    finally:
        os.close(made)


def with_stages(line: str, execution: Execution, statuses: tuple[int, ...] | None) -> Execution:
    """Put the stages into the account where they are those of the end of the line.

    `statuses` are the shell's own and then those of the stages, as bash told them; None: untold.
    """
    code = execution.exit.observed
    if not statuses or statuses[0] != code or len(statuses) < 3:
        return execution
    from .stage import stages

    found, words = statuses[1:], stages(line)
    if words is None or len(words) != len(found):
        return execution
    benign = _benign(found, words)
    effective = code
    if benign and not any(_without(found, benign)):
        effective = 0
    remarks = execution.remarks
    if benign:
        names = ", ".join(words[index][0] if words[index] else "a stage" for index in benign)
        remarks += (
            f"{names}: ended by SIGPIPE because the next stage stops reading on purpose; no fault",
        )
    status = ExitFact(code, effective, execution.exit.signal, found)
    return replace(execution, exit=status, remarks=remarks, excused=benign)


def _without(found: tuple[int, ...], benign: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(status for index, status in enumerate(found) if index not in benign)


def _benign(found: tuple[int, ...], words: tuple[tuple[str, ...], ...]) -> tuple[int, ...]:
    """Return the stages before the last whose SIGPIPE was asked for by a stage after them."""
    excused: list[int] = []
    for index in range(len(found) - 2, -1, -1):
        # The next stage stops on purpose, or was itself ended by one that does.
        if found[index] == SIGPIPE_CODE and (stops_early(words[index + 1]) or index + 1 in excused):
            excused.insert(0, index)
    return tuple(excused)


def classify_line(
    execution: Execution, line: str, markers: tuple[Marker, ...] = ()
) -> Classification:
    """Return what a line came to; the program of its last stage says which codes find nothing."""
    from .habit import nothing_found
    from .stage import stages

    words = stages(line) if execution.exit.observed else None
    if words is not None and len(words) > 1 and execution.exit.stages is None:
        words = None  # Whose code it is nobody saw.
    codes = nothing_found(words[-1]) if words else ()
    return classify(execution, markers, no_match_codes=codes, shell=True)
