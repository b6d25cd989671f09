"""The tool `hypothesis`: puts one hypothesis down, or changes it."""

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import Any

from truepenny.model.message import Text
from truepenny.tool.contract import CallContext, Plane, Tool
from truepenny.tool.outcome import Outcome
from truepenny.tool.result import Facts, Result, invalid

from .hypothesis import CONFIDENCES, MOST, MOST_CALLS, MOST_CHARS, STATES, Hypotheses, Hypothesis
from .silence import TOOL, Silence

_CALLS = {
    "type": "array",
    "items": {"type": "string", "maxLength": 128},
    "maxItems": MOST_CALLS,
}
PARAMETERS: Mapping[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["id", "claim", "state", "confidence"],
    "properties": {
        "id": {
            "type": "string",
            "pattern": "^h[0-9]{1,2}$",
            "description": "h1, h2, ...; the id of an earlier one changes that one.",
        },
        "claim": {"type": "string", "minLength": 1, "maxLength": MOST_CHARS},
        "state": {"enum": list(STATES)},
        "confidence": {"enum": list(CONFIDENCES)},
        "supports": {**_CALLS, "description": "Ids of calls whose output speaks for it."},
        "against": {**_CALLS, "description": "Ids of calls whose output speaks against it."},
        "explains": {
            "type": "string",
            "pattern": "^(h[0-9]{1,2})?$",
            "description": "Id of the hypothesis that this one is the cause of.",
        },
        "next_check": {
            "type": "string",
            "maxLength": MOST_CHARS,
            "description": "What would decide it.",
        },
    },
}
DESCRIPTION = (
    "Put down a hypothesis or change it: what may be the case, which calls speak for and against "
    "it, how sure you are and what would decide it. supported and rejected need at least one call."
)


def hypothesis_tool(held: Hypotheses, silence: Silence, calls: Container[str]) -> Tool:
    """Return the tool. `calls` are the ids of calls that were made: evidence names only those."""

    async def run(arguments: Mapping[str, Any], context: CallContext) -> Result:
        redactor = context.redactor
        one = Hypothesis(
            arguments["id"],
            redactor.text(arguments["claim"]).text,
            arguments["state"],
            arguments["confidence"],
            tuple(dict.fromkeys(arguments.get("supports", ()))),
            tuple(dict.fromkeys(arguments.get("against", ()))),
            arguments.get("explains", ""),
            redactor.text(arguments.get("next_check", "")).text,
        )
        if wrong := _wrong(one, held, calls, context.call_id):
            return invalid("hypothesis", wrong, "Name calls that were made, and known hypotheses.")
        changed = held.put(one)
        if changed:
            silence.broken()
        said = "put down" if changed else "is unchanged"
        detail = {"hypothesis": one.to_json(), "changed": changed, "held": len(held)}
        return Result(
            Outcome.SUCCESS,
            (Text(f"{one.id} {said}; {len(held)} are held."),),
            Facts(detail=detail),
        )

    return Tool(
        name=TOOL,
        description=DESCRIPTION,
        parameters=PARAMETERS,
        run=run,
        plane=Plane.INTERACT,
        concurrency="sequential",
        example={
            "id": "h1", "claim": "the memory limit is too low", "state": "open",
            "confidence": "medium", "supports": ["call_3"], "next_check": "the limit before",
        },
    )  # fmt: skip


def _wrong(one: Hypothesis, held: Hypotheses, calls: Container[str], own: str) -> str:
    """Return what is wrong with a hypothesis, "" if nothing is."""
    if held.get(one.id) is None and len(held) >= MOST:
        return f"{MOST} hypotheses are held already; change one of them"
    unknown = [call for call in (*one.supports, *one.against) if call not in calls or call == own]
    if unknown:
        return f"supports/against name calls that were never made: {', '.join(unknown)}"
    if one.state == "supported" and not one.supports:
        return "state supported needs a call in supports"
    if one.state == "rejected" and not one.against:
        return "state rejected needs a call in against"
    seen, above = {one.id}, one.explains
    while above:
        if above in seen:
            return f"explains leads in a circle: {one.id}"
        seen.add(above)
        found = held.get(above)
        if found is None:
            return f"explains names {above}, which is not held"
        above = found.explains
    return ""
