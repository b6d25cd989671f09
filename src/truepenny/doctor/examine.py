"""Running all checks at once, each within its time."""

from __future__ import annotations

import anyio

from truepenny.errors import TruepennyError

from .check import Check, Checked, Finding, Level, Surroundings

CHECK_SECONDS = 15.0
"""One hung check (a dead network disk, say) must not keep the others from being seen."""


async def examine(checks: tuple[Check, ...], surroundings: Surroundings) -> list[Checked]:
    """Run the checks together and return them in their order; never raises for a check."""
    done: dict[str, Checked] = {}

    async def one(check: Check) -> None:
        done[check.name] = Checked(check.name, check.title, await _found(check, surroundings))

    async with anyio.create_task_group() as group:
        for check in checks:
            group.start_soon(one, check)
    return [done[check.name] for check in checks]


async def _found(check: Check, surroundings: Surroundings) -> tuple[Finding, ...]:
    try:
        with anyio.fail_after(CHECK_SECONDS):
            return tuple(await check.run(surroundings))
    except TimeoutError:
        detail = f"no answer within {CHECK_SECONDS:g} s"
        return (Finding(Level.UNKNOWN, detail, "Run it again; look at disk and network."),)
    except TruepennyError as error:
        where = f"{error.where}: " if error.where else ""
        return (Finding(Level.FAIL, f"{where}{error.message}", error.remedy),)
    except Exception as error:
        # The kind alone: a message may quote a setting, and a report is pasted into tickets.
        detail = f"the check itself failed: {type(error).__name__}"
        return (Finding(Level.UNKNOWN, detail, "Please report this."),)
