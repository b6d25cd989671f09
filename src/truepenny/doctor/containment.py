"""Checks of what holds commands: each starts something for real and looks at what happened."""

from __future__ import annotations

import os
from pathlib import Path

import anyio.to_thread

from truepenny.config.settings import Settings
from truepenny.errors import TruepennyError
from truepenny.sandbox.level import Level, LimitLayout
from truepenny.system.scratch import scratch_folder

from .check import Finding, Surroundings, fail, ok, skip, warn
from .check import Level as Grade

PROBE_SECONDS = 10.0
"""A held command that does nothing ends within milliseconds."""


def _settings(around: Surroundings) -> Settings:
    """Return the settings, or the defaults where they cannot be read: `settings` tells of that."""
    return Settings() if isinstance(around.loaded, TruepennyError) else around.loaded.settings


async def sandbox(around: Surroundings) -> list[Finding]:
    """Every level is tried; the one that commands would get is named, or why there is none."""
    from truepenny.sandbox.account import account_for
    from truepenny.sandbox.choice import ORDER, PROBES

    wanted = _settings(around).sandbox
    account = account_for(Path("/"), wanted.account)
    found: list[Finding] = []
    works: list[Level] = []
    for level in ORDER:
        probe = await anyio.to_thread.run_sync(PROBES[level], account)
        if probe.works:
            works.append(level)
            found += ok(f"{level}: {probe.detail}, as {account.name}")
        else:
            needed = wanted.level in ("auto", str(level))
            grade = Grade.WARN if needed else Grade.OK
            found.append(Finding(grade, f"{level}: {probe.detail}", probe.remedy if needed else ""))
    if wanted.level == "none":
        found += warn(
            "sandbox.level is none: commands have all rights of their account",
            "Remove sandbox.level from the settings.",
        )
    elif wanted.level == "auto" and not works:
        found += fail("nothing here can hold a command: they are refused", _remedies(found))
    elif wanted.level != "auto" and Level(wanted.level) not in works:
        found += fail(f"sandbox.level is {wanted.level}, which does not work", _remedies(found))
    return found


def _remedies(found: list[Finding]) -> str:
    return " ".join(dict.fromkeys(one.remedy for one in found if one.remedy))


async def bubblewrap(around: Surroundings) -> list[Finding]:
    """The installed bubblewrap has no published fault that is open to a command."""
    from truepenny.sandbox.bwrap.program import installed

    program = await anyio.to_thread.run_sync(installed)
    if program is None:
        return skip("not installed", "Install bubblewrap (`apt install bubblewrap`).")
    if not program.faults:
        return ok(f"{program}, no known fault")
    return [
        Finding(
            Grade.WARN,
            f"{program}: {fault.name}, {fault.what}",
            f"Install {'.'.join(map(str, fault.fixed))} or newer.",
        )
        for fault in program.faults
    ]


async def limits(around: Surroundings) -> list[Finding]:
    """A control group is made with all its limits, and removed again."""
    from truepenny.sandbox.cgroup import layout, open_group, sweep
    from truepenny.sandbox.plan import ResourceLimits

    def tried() -> list[Finding]:
        found: list[Finding] = []
        swept = sweep()
        group = open_group(ResourceLimits())
        if group is None:
            return warn(
                f"by {LimitLayout.RLIMITS}: each process is held alone, a whole run is not",
                "Run as a systemd unit with `Delegate=yes`, or as root.",
            )
        try:
            found += ok(f"memory, processes and processor time of a run, by {layout()}")
        finally:
            gone = group.remove()
        if not gone:
            found += warn("a probe's group could not be removed", "Look for truepenny-* groups.")
        if swept.removed:
            found += ok(f"{len(swept.removed)} groups of dead runs were removed")
        return found

    return await anyio.to_thread.run_sync(tried)


async def account(around: Surroundings) -> list[Finding]:
    """Commands never run as root: one is started, and who it is is read from outside."""
    from truepenny.execute.command import Command
    from truepenny.execute.process import run
    from truepenny.sandbox.account import account_for
    from truepenny.sandbox.choice import open_sandbox
    from truepenny.sandbox.plan import Profile
    from truepenny.sandbox.planning import plan_for

    wanted = _settings(around).sandbox
    who = account_for(Path("/"), wanted.account)
    with scratch_folder("doctor") as folder:
        if who.drop:
            os.chown(folder, who.uid, who.gid)
        plan = plan_for(Profile.COMMAND, folder, who, wanted.model_copy(update={"network": "none"}))
        held = open_sandbox(plan, wanted.level)
        script = "id -u; cat /etc/shadow 2>/dev/null | head -c 1; echo x > probe; cat probe"
        env = {"PATH": os.defpath}
        done = await run(
            Command(("/bin/sh", "-c", script), env, folder, None, PROBE_SECONDS, sandbox=held)
        )
    level = str(held.containment.level)
    if done.failure is not None:
        return fail(f"a command did not start: {done.failure.message}", "See the check `sandbox`.")
    if done.exit.observed != 0:
        return fail(f"a held command cannot work in its folder ({level})", "Please report this.")
    uid = done.stdout.text.split("\n", 1)[0]
    if uid == "0" or done.stdout.text != f"{uid}\nx\n":
        return fail(
            f"a held command is uid {uid} and sees more than it should", "Please report this."
        )
    return ok(f"commands are {who.name} (uid {uid}), held by {level}")


async def network(around: Surroundings) -> list[Finding]:
    """The network that the settings give to commands can be had here."""
    wanted = _settings(around).sandbox
    if wanted.network == "host":
        return warn(
            "commands reach whatever this machine reaches",
            "Set sandbox.network to none or proxy.",
        )
    if wanted.network == "none":
        return ok("commands have no network")
    from truepenny.sandbox.account import account_for
    from truepenny.sandbox.network.way_out import way_out

    async with way_out(wanted.allow_hosts, account_for(Path("/"), wanted.account)):
        hosts = ", ".join(wanted.allow_hosts)
    if not hosts:
        return warn("the proxy lets nothing through", "Name hosts in sandbox.allow_hosts.")
    return ok(f"only {hosts}, through a proxy that opens here")
