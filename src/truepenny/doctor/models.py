"""Checks of the models: what is configured has what it needs. Nothing is asked over the network."""

from __future__ import annotations

from truepenny.errors import TruepennyError
from truepenny.model.catalog import available, find

from .check import Finding, Level, Surroundings, ok

PROBE = "`truepenny models --probe` asks it."


async def default_model(around: Surroundings) -> list[Finding]:
    """The model that answers when none is named can be used."""
    loaded = around.loaded
    if isinstance(loaded, TruepennyError):
        return [Finding(Level.UNKNOWN, "the settings cannot be read", "Mend them first.")]
    entry = find(None, loaded.settings, around.env)
    if entry.wire == "builtin":
        return ok(f"{entry.name}: answers by rules, without a language model")
    return ok(f"{entry.name} over {entry.wire}; not asked now. {PROBE}")


async def keys(around: Surroundings) -> list[Finding]:
    """Each configured provider has its key and address."""
    loaded = around.loaded
    if isinstance(loaded, TruepennyError):
        return [Finding(Level.UNKNOWN, "the settings cannot be read", "Mend them first.")]
    entries = [e for e in available(loaded.settings, around.env) if e.wire != "builtin"]
    findings = [
        Finding(Level.WARN, f"{entry.name}: {entry.problem}", entry.remedy)
        for entry in entries
        if entry.problem
    ]
    if findings:
        return findings
    return ok(f"{len({entry.provider for entry in entries})} configured")
