"""A check of the way to hosts: each one is dialled and says a word."""

from __future__ import annotations

from truepenny.diagnose.host.host import Hosts
from truepenny.diagnose.host.probe import Probe, probe_all
from truepenny.errors import TruepennyError
from truepenny.system.user import current_user

from .check import Finding, Level, Surroundings, skip, unknown


async def hosts(around: Surroundings) -> list[Finding]:
    """Each bound host lets us in and runs a command."""
    loaded = around.loaded
    if isinstance(loaded, TruepennyError):
        return unknown("the settings cannot be read", "Mend them first.")
    bound = Hosts.from_settings(loaded.settings, around.env, around.directories)
    if not bound.names:
        return skip("none is bound")
    return [_found(one) for one in await probe_all(bound, current_user())]


def _found(one: Probe) -> Finding:
    if one.failure is None:
        way = f" by way of {', '.join(one.way[:-1])}" if len(one.way) > 1 else ""
        return Finding(Level.OK, f"{one.host.name}: {one.host.place}{way} in {one.seconds:.2f} s")
    failed = one.failure
    where = "" if failed.hop == one.host.name else f" at {failed.hop}"
    return Finding(
        Level.FAIL,
        f"{one.host.name}: {failed.hop_stage}{where}: {failed.message}",
        failed.remedy or f"Run: truepenny host test {one.host.name}",
    )
