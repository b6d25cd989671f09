"""Views of a result: the text a model reads, the JSON a machine reads, the line a person reads.

A model reads header lines in square brackets, one blank line, then the target's own text. Nothing
the target wrote can come before that blank line, so it cannot pose as a fact.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from truepenny.model.message import Image, Text

from .result import NEVER_RAN, Completeness, Facts, Result

NO_OUTPUT = "(no output)"
_BREAKS = re.compile(r"[\x00-\x1f\x7f\u2028\u2029]+")


def model_content(result: Result, call_id: str = "") -> tuple[Text | Image, ...]:
    """Return what the model reads: facts first, then the content, images last."""
    body = result.text
    head = "\n".join(f"[{_BREAKS.sub(' ', line)}]" for line in _header(result, call_id))
    images = tuple(part for part in result.content if isinstance(part, Image))
    return (Text(f"{head}\n\n{body or NO_OUTPUT}"), *images)


def _header(result: Result, call_id: str) -> Iterator[str]:
    facts = result.facts
    first = [call_id] if call_id else []
    first.append(f"outcome {result.outcome}")
    if facts.cause:
        first.append(f"cause {facts.cause}")
    if facts.leg:
        first.append(f"leg {facts.leg}")
    if facts.reason:
        first.append(f"reason {facts.reason}")
    if facts.exit:
        first.extend(_exit(facts))
    if facts.sandbox != "none" or facts.completeness != NEVER_RAN:
        first.append(_contained(facts))
    first.append(f"{facts.duration:.2f} s")
    first.append(facts.completeness.state)
    yield " | ".join(first)
    if facts.command:
        yield f"command: {facts.command}"
    if facts.source:
        yield "from: " + ", ".join(f"{key} {value}" for key, value in facts.source.items())
    if facts.completeness.state != "complete":
        yield _missing(facts.completeness)
    if facts.bytes.discarded or facts.bytes.offloaded:
        yield _sizes(facts)
    yield from facts.notes
    if facts.redactions:
        rules = ", ".join(f"{rule} {count}" for rule, count in sorted(facts.redactions.items()))
        yield f"redacted {sum(facts.redactions.values())}: {rules}"
    if facts.hint:
        yield f"hint: {facts.hint}"


def _exit(facts: Facts) -> Iterator[str]:
    status = facts.exit
    if status is None:
        return
    if status.signal is not None:
        yield f"signal {status.signal}"
    yield f"exit {'unknown' if status.observed is None else status.observed}"
    if status.effective != status.observed:
        yield f"effective exit {'unknown' if status.effective is None else status.effective}"
    if status.stages is not None:
        yield "stages " + ",".join(map(str, status.stages))


def _contained(facts: Facts) -> str:
    words = [f"{name} {value}" for name, value in facts.containment.items() if value]
    return f"sandbox {facts.sandbox}" + (f" ({'; '.join(words)})" if words else "")


def _missing(completeness: Completeness) -> str:
    line = f"{completeness.state}: {completeness.reason or 'no reason known'}"
    if completeness.shown is not None:
        total = "unknown" if completeness.total is None else completeness.total
        line += f"; showing {completeness.shown} of {total} {completeness.unit}".rstrip()
    return f"{line}; next: {completeness.next}" if completeness.next else line


def _sizes(facts: Facts) -> str:
    sizes = facts.bytes
    line = f"bytes: {sizes.observed} observed, {sizes.kept} kept, {sizes.discarded} discarded"
    if sizes.offloaded:
        line += f", {sizes.offloaded} in {sizes.offload_path}"
    return line


def to_json(result: Result) -> dict[str, Any]:
    """Return the whole result as JSON values; images as type and size, not bytes."""
    facts, sizes, whole = result.facts, result.facts.bytes, result.facts.completeness
    return {
        "outcome": str(result.outcome),
        "failed": result.outcome.failed,
        "content": [
            {"type": "text", "text": part.text}
            if isinstance(part, Text)
            else {"type": "image", "media_type": part.media_type, "bytes": len(part.data)}
            for part in result.content
        ],
        "facts": {
            "duration": round(facts.duration, 6),
            "completeness": {
                "state": whole.state, "reason": whole.reason, "unit": whole.unit,
                "shown": whole.shown, "total": whole.total, "next": whole.next,
            },
            "redactions": dict(facts.redactions),
            "bytes": {
                "observed": sizes.observed, "kept": sizes.kept, "discarded": sizes.discarded,
                "offloaded": sizes.offloaded, "offload_path": sizes.offload_path,
            },
            "sandbox": facts.sandbox,
            "containment": dict(facts.containment),
            "exit": None if facts.exit is None else {
                "observed": facts.exit.observed, "effective": facts.exit.effective,
                "signal": facts.exit.signal,
                "stages": None if facts.exit.stages is None else list(facts.exit.stages),
            },
            "cause": facts.cause and str(facts.cause),
            "leg": facts.leg and str(facts.leg),
            "reason": facts.reason,
            "hint": facts.hint,
            "command": facts.command,
            "source": dict(facts.source),
            "notes": list(facts.notes),
            "detail": dict(facts.detail),
        },
    }  # fmt: skip


def summary(result: Result) -> str:
    """Return one short line for a person: outcome, what is special, how long."""
    facts, parts = result.facts, [str(result.outcome).replace("_", " ")]
    parts.extend(str(word) for word in (facts.cause, facts.leg, facts.reason) if word)
    if facts.exit and facts.exit.observed:
        parts.append(f"exit {facts.exit.observed}")
    if facts.completeness.state != "complete":
        parts.append(facts.completeness.state)
    if facts.redactions:
        parts.append(f"{sum(facts.redactions.values())} redacted")
    return f"{', '.join(parts)} ({facts.duration:.2f} s)"
