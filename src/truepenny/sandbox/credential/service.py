"""The credential proxy of one task with all that the plan and the environment need to reach it.

    async with credential_service(split, programs, run, redactor, account) as service:
        sandbox = open_sandbox(service.into(plan), level)
        command = Command(argv, env=service.environment, sandbox=sandbox)

Each tool of the task has a stand-in inside, a program of its name on PATH that asks the proxy.
Where values may be asked for, `truepenny-credential NAME` prints one.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from truepenny.sandbox.network.python import copy_program, system_python
from truepenny.sandbox.plan import Account, Mode, Mount, Plan
from truepenny.system.clock import Clock
from truepenny.system.scope import check_component
from truepenny.system.scratch import scratch_folder
from truepenny.text.redact import Redactor

from . import client
from .proxy import Admit, CredentialProxy, Runner, admit_all
from .split import Split, with_path

ASKING = "truepenny-credential"
"""The program inside that prints a value, where any may be handed out."""


@dataclass(frozen=True, slots=True)
class CredentialService:
    """An open one. `environment` is the whole environment of what the model runs."""

    proxy: CredentialProxy
    environment: Mapping[str, str]
    _socket: Path | None
    _programs: tuple[Path, ...]

    def into(self, plan: Plan) -> Plan:
        """Return the plan with the socket and the stand-ins, at the same paths as outside."""
        why = "programs outside that it may ask for"
        mounts = (Mount(Mode.READ, path, why, path, required=True) for path in self._programs)
        plan = replace(plan, mounts=(*plan.mounts, *mounts))
        if self._socket is None:
            return plan
        socket = Mount(Mode.READ, self._socket, why, self._socket, required=True)
        return replace(plan, sockets=(*plan.sockets, socket))

    def barred(self, why: str) -> CredentialService:
        """Return it without the socket; the stand-ins are there and say why they do nothing."""
        inside = {name: v for name, v in self.environment.items() if name != client.SOCKET}
        return replace(self, environment=inside | {client.BARRED: why}, _socket=None)


@asynccontextmanager
async def credential_service(
    split: Split,
    programs: Mapping[str, tuple[str, ...]],
    run: Runner,
    redactor: Redactor,
    account: Account,
    *,
    admit: Admit = admit_all,
    clock: Clock | None = None,
) -> AsyncGenerator[CredentialService]:
    """Open the proxy of one task for processes of one account; see `CredentialProxy`.

    Raises PolicyDenied for a tool whose name is no file's name, CouldNotRun where no socket can
    be made or where no Python is there for the client.
    """
    proxy = CredentialProxy(split, programs, run, redactor, admit=admit)
    python = system_python()
    with scratch_folder("credential") as name:
        folder = name.resolve()
        if account.drop:
            os.chmod(folder, 0o711)  # it may go through, and see nothing
        program, socket, stand_ins = folder / "client.py", folder / "c.sock", folder / "bin"
        copy_program(Path(client.__file__), program)
        words = (str(python), "-I", "-S", str(program))
        asking: dict[str, tuple[str, ...]] = {tool: (*words, "tool", tool) for tool in proxy.tools}
        if split.hands_out:
            asking[ASKING] = (*words, "credential")
        _make_stand_ins(stand_ins, asking)
        async with proxy.listening(socket, account, clock=clock):
            inside = with_path(split.model, [stand_ins]) | {client.SOCKET: str(socket)}
            yield CredentialService(proxy, inside, socket, (program, stand_ins))


def _make_stand_ins(folder: Path, programs: Mapping[str, tuple[str, ...]]) -> None:
    folder.mkdir(mode=0o755)
    folder.chmod(0o755)
    for name, words in programs.items():
        path = folder / check_component(name, "tool")
        line = f'exec {shlex.join(words)} "$@"'
        path.write_text(f"#!/bin/sh\n{line}\n", encoding="utf-8")
        path.chmod(0o755)
