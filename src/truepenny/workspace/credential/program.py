"""Running a program outside of the sandbox for a command inside, as narrow as the settings say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from truepenny.config.settings import ProgramSettings
from truepenny.errors import CouldNotRun
from truepenny.execute.command import CaptureLimits, Command
from truepenny.execute.ending import Cause
from truepenny.execute.process import run
from truepenny.sandbox.credential.proxy import TIMED_OUT, Denied, ProgramRun
from truepenny.sandbox.credential.request import Reason
from truepenny.sandbox.credential.split import NotGiven
from truepenny.text.bound import Limits
from truepenny.tool.process_facts import remarks

OUTPUT_BYTES = 4 * 1024 * 1024
"""Of both streams together, raw: an answer holds 64 KiB of each, and more is counted. Beyond it
the program is stopped."""

BY_SIGNAL = 128
"""What a shell adds to the number of a signal."""


@dataclass(frozen=True, slots=True)
class HostPrograms:
    """The programs of the settings. `absent` names credentials of theirs that are not set.

    `folder` is where they run: a folder of ours and never the workspace, whose settings of git
    and of package managers would run there with our rights.
    """

    settings: Mapping[str, ProgramSettings]
    absent: Mapping[str, tuple[str, ...]]
    folder: Path

    def admit(self, tool: str, arguments: tuple[str, ...]) -> Denied | None:
        """Say why a call is not run, if it is not."""
        allow = self.settings[tool].allow
        if not allowed(allow, arguments):
            known = ", ".join(f"`{entry}`" for entry in allow) or "none"
            return Denied(Reason.ARGUMENTS, f"not with these arguments; allowed: {known}")
        if missing := self.absent.get(tool):
            return Denied(NotGiven.NOT_PRESENT, f"not set: {', '.join(missing)}")
        return None

    async def run(self, tool: str, words: tuple[str, ...], env: Mapping[str, str]) -> ProgramRun:
        """Run it to its end. Raises CouldNotRun where it does not start or its end is not seen."""
        limits = Limits(bytes=OUTPUT_BYTES)
        done = await run(
            Command(
                words,
                env,
                self.folder,
                timeout=self.settings[tool].timeout,
                limits=CaptureLimits(limits, limits, OUTPUT_BYTES),
            )
        )
        if done.failure is not None:
            raise CouldNotRun(done.failure.message, where=f"programs.{tool}")
        said = "".join(f"truepenny: {tool}: {remark}\n" for remark in remarks(done))
        out, err = done.stdout.text, done.stderr.text + said
        if done.cause is Cause.TIMEOUT:
            return ProgramRun(out, err, TIMED_OUT, Reason.TIMEOUT)
        stopped = Reason.OUTPUT if done.cause is Cause.OUTPUT_CAP else None
        if done.exit.signal is not None:
            return ProgramRun(out, err, BY_SIGNAL + done.exit.signal, stopped)
        if done.exit.observed is None:
            raise CouldNotRun("its end was not seen", where=f"programs.{tool}")
        return ProgramRun(out, err, done.exit.observed, stopped)


def allowed(entries: Sequence[str], arguments: Sequence[str]) -> bool:
    """Whether arguments are admitted: none at all, or exactly the words of an entry, where a `*`
    at its end stands for any number of further ones."""
    if not arguments:
        return True
    for entry in entries:
        words = entry.split()
        if words[-1] != "*":
            if list(arguments) == words:
                return True
        elif list(arguments[: len(words) - 1]) == words[:-1]:
            return True
    return False
