"""The list of checks: complete, with where each comes from and what it does."""

from __future__ import annotations

import shlex
from typing import Any

from truepenny.execute.ending import Outcome
from truepenny.model.message import Text
from truepenny.tool.result import Facts, Result

from .brief import MESSAGE, brief
from .catalog import Catalog
from .check import FRONTEND, Check, NumericRule, PerfRule

FRONTEND_DOES = (
    "looks at .html .htm .css .js .mjs .cjs files of `path`: balance of tags and brackets, local "
    "references, script syntax (node), loading (a headless browser)"
)


def listing(catalog: Catalog) -> Result:
    """Return all checks; nothing is left out of the list, so it is short for each."""
    lines = [_line(check) for check in catalog.checks]
    lines.append(f"{FRONTEND} [built in]: {FRONTEND_DOES}")
    lines += [f"from {source}: {note}" for source, note in catalog.sources.items()]
    if catalog.skipped:
        names = ", ".join(brief(repr(name)) for name in catalog.skipped)
        lines.append(f"not listed, for their names cannot be ids: {names}")
    detail = {
        "checks": [_json(check) for check in catalog.checks]
        + [{"id": FRONTEND, "kind": FRONTEND, "place": "built in", "does": FRONTEND_DOES}],
        "sources": dict(catalog.sources),
        "skipped": list(catalog.skipped),
    }
    return Result(Outcome.SUCCESS, (Text("\n".join(lines) + "\n"),), Facts(detail=detail))


def does(check: Check) -> str:
    """Return what a check does in one line: the words it runs, and how it is judged."""
    words = brief(shlex.join(check.argv), MESSAGE)
    where = f" in {check.cwd}" if check.cwd else ""
    match check.rule:
        case NumericRule(reference, tolerance):
            limits = {
                "relative": tolerance.relative,
                "absolute": tolerance.absolute,
                "ulp": tolerance.ulp,
            }
            given = ", ".join(f"{name} {one!r}" for name, one in limits.items() if one is not None)
            return f"runs `{words}`{where}, compares its numbers with {reference} ({given})"
        case PerfRule(relative, budget, baseline):
            against = f"{budget:g} ms" if budget is not None else str(baseline)
            return f"times `{words}`{where} against {against} (+{relative:.0%})"
        case None:
            return f"runs `{words}`{where}, judged by its exit status"


def _line(check: Check) -> str:
    said = f": {check.description}" if check.description else ""
    tags = f" #{' #'.join(check.tags)}" if check.tags else ""
    return f"{check.id} [{check.place}] {does(check)}{said}{tags}"


def _json(check: Check) -> dict[str, Any]:
    return {
        "id": check.id,
        "kind": str(check.kind),
        "place": check.place,
        "does": does(check),
        "description": check.description,
        "cwd": check.cwd,
        "timeoutMs": check.timeout_ms,
        "tags": list(check.tags),
    }
