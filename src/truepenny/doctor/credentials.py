"""Check of credentials and programs outside of the sandbox: all of it, but no program is run."""

from __future__ import annotations

from truepenny.config.redaction import credential_values
from truepenny.config.settings import Settings
from truepenny.errors import TruepennyError
from truepenny.text.redact import Redactor

from .check import Finding, Level, Surroundings, fail, ok, skip, warn
from .execution import probe_workspace

ASK = """
import os, socket
s = socket.socket(socket.AF_UNIX)
s.settimeout(5)
s.connect(os.environ["TRUEPENNY_CREDENTIAL_SOCKET"])
s.sendall(b"{}\\n")
print(s.recv(4096).decode())
"""
"""A request that is none: whoever answers it so is the proxy."""

ANSWER = "bad_request"

PROBE_SECONDS = 10.0


async def credentials(around: Surroundings) -> list[Finding]:
    """Each value is there, each program can be executed, and a held command reaches the proxy."""
    if isinstance(around.loaded, TruepennyError):
        return [Finding(Level.UNKNOWN, "the settings cannot be read", "Mend them first.")]
    settings = around.loaded.settings
    if not settings.credentials and not settings.programs:
        return skip("none are set")
    return _values(settings, around) + await _opened(settings, around)


def _values(settings: Settings, around: Surroundings) -> list[Finding]:
    there = credential_values(settings, around.env)
    found = ok(f"credentials that are there: {', '.join(there)}") if there else []
    for name, one in settings.credentials.items():
        if name not in there:
            # Only a reference to a variable can be without a value.
            variable = one.value.get_secret_value().removeprefix("env:")
            found += fail(f"{name}: the variable {variable} is not set", f"Set {variable}.")
    return found


async def _opened(settings: Settings, around: Surroundings) -> list[Finding]:
    from truepenny.execute.command import Command
    from truepenny.execute.process import run
    from truepenny.sandbox.level import Level as Held
    from truepenny.sandbox.network.python import system_python
    from truepenny.sandbox.plan import Profile
    from truepenny.workspace.credential.binding import find_program
    from truepenny.workspace.credential.host_side import LANDLOCK
    from truepenny.workspace.opening import open_workspace

    found: list[Finding] = []
    with probe_workspace(settings) as (root, state):
        async with open_workspace(root, state, around.env, settings, Redactor()) as opened:
            workspace = opened.workspace
            clean = workspace.clean_environment()
            for name, program in settings.programs.items():
                path = find_program(program.argv[0], clean)
                if path is None:
                    found += fail(
                        f"{name}: {program.argv[0]} is not there, or cannot be executed",
                        f"Install it, or correct programs.{name}.argv.",
                    )
                else:
                    found += ok(f"{name}: {path}")
            held = workspace.sandbox(Profile.COMMAND)
            if held.containment.level is Held.LANDLOCK:
                return found + warn(f"out of reach: {LANDLOCK}", "Install bubblewrap.")
            words = (str(system_python()), "-I", "-S", "-c", ASK)
            env = workspace.environment(held)
            done = await run(Command(words, env, root, timeout=PROBE_SECONDS, sandbox=held))
    if ANSWER not in done.stdout.text:
        said = done.failure.message if done.failure else done.stderr.text.strip()[-200:]
        return found + fail(
            f"a held command does not reach the proxy: {said}", "Please report this."
        )
    return found + ok("a held command reaches the proxy")
