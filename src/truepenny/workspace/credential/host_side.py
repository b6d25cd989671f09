"""The programs and credentials of one session, open: what commands inside can ask for."""

from __future__ import annotations

import os
import pwd
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from truepenny.sandbox.credential.service import ASKING, CredentialService, credential_service
from truepenny.sandbox.credential.use import Use
from truepenny.sandbox.plan import Account, Plan
from truepenny.system.scratch import scratch_folder
from truepenny.tool.contract import CallContext, Tool
from truepenny.tool.result import Result

from .binding import bind
from .program import HostPrograms

if TYPE_CHECKING:
    from truepenny.config.settings import Settings
    from truepenny.text.redact import Redactor

MOST_NOTES = 10
"""Uses that a model reads about; `detail` has all that the proxy keeps."""

LANDLOCK = "landlock cannot open one socket alone: install bubblewrap"


@dataclass(slots=True)
class HostSide:
    """An open one. `told` is what a model reads about it beside the tools that run commands."""

    service: CredentialService
    told: str
    _mark: int = 0
    _running: list[Use] = field(default_factory=list[Use])

    @property
    def environment(self) -> Mapping[str, str]:
        """The whole environment of commands."""
        return self.service.environment

    def into(self, plan: Plan) -> Plan:
        """Return the plan with the way to it."""
        return self.service.into(plan)

    def bar(self, why: str) -> None:
        """Take the way to it away: whoever asks inside is told why."""
        self.service = self.service.barred(why)
        self.told = f"{self.told} Now none of them answers: {why}."

    def uses(self) -> tuple[list[Use], int]:
        """Return the uses since the last time, those that ran then among them, and how many more
        there were that are not kept."""
        uses = self.service.proxy.uses
        missing = uses.omitted(self._mark)
        found = [*self._running, *uses.since(self._mark)]
        self._mark = uses.mark()
        self._running = [use for use in found if not use.over]
        return found, missing


@asynccontextmanager
async def host_side(
    root: Path,
    env: Mapping[str, str],
    clean: Mapping[str, str],
    settings: Settings,
    redactor: Redactor,
    account: Account,
) -> AsyncGenerator[HostSide]:
    """Open what the settings name for processes of one account in the workspace `root`.

    `env` is our own environment, `clean` that of commands. Raises ConfigurationError for settings
    that cannot be followed, CouldNotRun where the proxy cannot be opened.
    """
    with scratch_folder("programs") as name:
        folder = name.resolve() / "work"
        folder.mkdir(mode=0o700)
        bound = bind(settings, env, clean, _own(env, folder), root)
        programs = HostPrograms(settings.programs, bound.absent, folder)
        async with credential_service(
            bound.split, bound.programs, programs.run, redactor, account, admit=programs.admit
        ) as service:
            yield HostSide(service, _told(settings))


def _own(env: Mapping[str, str], folder: Path) -> dict[str, str]:
    """Return what a program outside has of ours: it is run by us, for us."""
    try:
        name = pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        name = str(os.getuid())
    home = env.get("HOME") or str(Path.home())
    return {"HOME": home, "USER": name, "LOGNAME": name, "TMPDIR": str(folder)}


def _told(settings: Settings) -> str:
    said = ""
    for name, program in settings.programs.items():
        words = ", ".join(f"`{entry}`" for entry in program.allow) or "none"
        about = f"{program.description.rstrip('.')}; " if program.description else ""
        said += f" {name} ({about}arguments: {words});"
    if said:
        said = f"Programs that run outside, reached by their names:{said[:-1]}."
    values = [name for name, one in settings.credentials.items() if not one.proxy_only]
    if values:
        said += f" `{ASKING} NAME` prints a secret: {', '.join(values)}."
    return said.strip()


def with_uses(tool: Tool, host: HostSide) -> Tool:
    """Return the tool with `Facts.detail["credential_uses"]`: what was asked of programs outside.

    A request does not tell whose it is: with commands in the background theirs are among them,
    also those from between two calls.
    """

    async def run(arguments: Mapping[str, Any], context: CallContext) -> Result:
        result = await tool.run(arguments, context)
        found, missing = host.uses()
        if not found:
            return result
        notes = [f"asked of outside: {use.line()}" for use in found[:MOST_NOTES]]
        if more := len(found) + missing - len(notes):
            notes.append(f"asked of outside: {more} further requests")
        detail = {"credential_uses": [use.record() for use in found]}
        if missing:
            detail["credential_uses"].insert(0, {"not_kept": missing})
        return result.with_facts(
            detail={**result.facts.detail, **detail}, notes=(*result.facts.notes, *notes)
        )

    return replace(tool, run=run)


def with_telling(tool: Tool, host: HostSide) -> Tool:
    """Return the tool with what can be asked for in its description."""
    return replace(tool, description=f"{tool.description} {host.told}")
