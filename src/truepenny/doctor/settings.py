"""Checks of the settings: readable, without slips, and every secret they name is there."""

from __future__ import annotations

from truepenny.config.secret import resolve
from truepenny.errors import ConfigurationError, TruepennyError

from .check import Finding, Level, Surroundings, ok


async def settings(around: Surroundings) -> list[Finding]:
    """The settings can be read; each warning is a finding."""
    loaded = around.loaded
    if isinstance(loaded, TruepennyError):
        raise loaded
    findings = [
        Finding(Level.WARN, f"{warning.where}: {warning.message}", warning.remedy)
        for warning in loaded.warnings
    ]
    return findings or ok(str(loaded.file) if loaded.file else "no file; all defaults")


async def redaction(around: Surroundings) -> list[Finding]:
    """Each secret that is to be redacted can be resolved; otherwise it would pass unseen."""
    loaded = around.loaded
    if isinstance(loaded, TruepennyError):
        return [Finding(Level.UNKNOWN, "the settings cannot be read", "Mend them first.")]
    findings: list[Finding] = []
    for number, value in enumerate(loaded.settings.redact.values):
        try:
            resolve(value, around.env)
        except ConfigurationError as error:
            detail = f"redact.values[{number}]: {error.where}: {error.message}"
            findings.append(Finding(Level.FAIL, detail, error.remedy))
    return findings or ok(f"{len(loaded.settings.redact.values)} values to redact")
