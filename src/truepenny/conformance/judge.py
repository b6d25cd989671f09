"""Comparing an account with what a truthful one says. Silence is its own verdict: `not_told`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from .case import Case, Expect
from .observed import Observed

MOST_SHOWN = 200
"""Characters of an observation in a report: enough to recognise it."""

_CODE_IN_TEXT = r"(?i)(?:exit|code|status|return)[^0-9\n]{{0,24}}(?<![0-9]){code}(?![0-9])"
"""A number that is called an exit code, not any number."""

_ESCAPED = re.compile(r"(?i)\\x[89a-f][0-9a-f]|<[89a-f][0-9a-f]>|(?:invalid|not)(?: valid)? utf-?8")
"""Bytes above 0x7f as people write them, or the words for it: more than a replacement mark."""

_CONTROLS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]"
)


class Verdict(StrEnum):
    """What became of an expectation, and of a case."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_TOLD = "not_told"
    """The tool does not say: it is not wrong, and nobody can rely on it."""
    NOT_RUN = "not_run"
    """This machine lacks what the case needs."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One expectation against one observation; both in short words."""

    expectation: str
    verdict: Verdict
    expected: str
    observed: str


@dataclass(frozen=True, slots=True)
class Outside:
    """What the driver itself saw: seconds, processes left, the folder, a call afterwards."""

    seconds: float
    left: tuple[str, ...] = ()
    work: Path = Path()
    usable: bool | None = None


def judge(case: Case, seen: Observed | None, outside: Outside) -> tuple[Finding, ...]:
    """Return a finding for each expectation. `seen` None: the call was taken back, as planned."""
    findings = list(_outside(case.expect, outside))
    if seen is None:
        return tuple(findings)
    if seen.died:
        findings.append(Finding("answer", Verdict.FAILED, "an answer", short(seen.died)))
        return tuple(findings)
    findings += _facts(case.expect, seen)
    findings += _texts(case.expect, seen)
    return tuple(findings)


def verdict(findings: tuple[Finding, ...]) -> Verdict:
    """Return the verdict of a case: wrong beats silent beats right."""
    found = {finding.verdict for finding in findings}
    for one in (Verdict.FAILED, Verdict.NOT_TOLD):
        if one in found:
            return one
    return Verdict.PASSED


def _outside(expect: Expect, outside: Outside) -> Iterator[Finding]:
    if expect.ended_within is not None:
        yield _true(
            "ended_within", outside.seconds <= expect.ended_within,
            f"{expect.ended_within:g} s", f"{outside.seconds:.1f} s",
        )  # fmt: skip
    if expect.no_process_left is not None:
        yield _true(
            "no_process_left", not outside.left, "none", "; ".join(outside.left) or "none"
        )  # fmt: skip
    for name in expect.files_present:
        there = (outside.work / name).exists()
        yield _true("files_present", there, f"{name} is there", "it is" if there else "it is not")
    for name in expect.files_absent:
        there = (outside.work / name).exists()
        yield _true("files_absent", not there, f"no {name}", "there is" if there else "there is no")
    if expect.usable_after is not None:
        yield _true(
            "usable_after", outside.usable is True,
            "the next call works", "it works" if outside.usable else "it does not",
        )  # fmt: skip


def _facts(expect: Expect, seen: Observed) -> Iterator[Finding]:
    for name in (
        "exit_code", "failure_told", "flagged", "timed_out", "interrupted", "truncated",
        "stage_failure", "bytes_written",
    ):  # fmt: skip
        wanted: Any = getattr(expect, name)
        if wanted is not None:
            yield _equal(name, wanted, getattr(seen, name))
    if expect.signal is not None:
        told = seen.signal
        if told is None and seen.exit_code is not None:
            told = seen.exit_code - 128 if seen.exit_code > 128 else -seen.exit_code
        yield _equal("signal", expect.signal, told)
    if expect.whole_or_told is not None:
        yield _whole(expect.whole_or_told, seen)
    if expect.sandbox_told is not None:
        yield _equal("sandbox_told", expect.sandbox_told, True if seen.sandbox else None)
    if expect.undecodable_told is not None:
        escaped = True if _ESCAPED.search(seen.text) else seen.undecodable
        yield _equal("undecodable_told", expect.undecodable_told, escaped)


def _whole(size: int, seen: Observed) -> Finding:
    output = seen.text if seen.output is None else seen.output
    there = len(output.encode("utf-8", "surrogatepass"))
    wanted, found = f"{size} bytes, or truncated told", f"{there} bytes"
    if there >= size or seen.truncated:
        return Finding("whole_or_told", Verdict.PASSED, wanted, found)
    word = Verdict.NOT_TOLD if seen.truncated is None else Verdict.FAILED
    return Finding("whole_or_told", word, wanted, f"{found}, nothing said")


def _texts(expect: Expect, seen: Observed) -> Iterator[Finding]:
    output = seen.text if seen.output is None else seen.output
    for wanted in expect.output_contains:
        yield _true("output_contains", wanted in output, short(wanted), short(output))
    for unwanted in expect.output_lacks:
        yield _true("output_lacks", unwanted not in output, short(unwanted), short(output))
    if expect.output_order:
        places = _places(output, expect.output_order)
        yield _true("output_order", places, " … ".join(expect.output_order), short(output))
    if expect.output_empty is not None:
        if seen.output is None:
            yield Finding("output_empty", Verdict.NOT_TOLD, "told apart", short(seen.text))
        else:
            yield _equal("output_empty", expect.output_empty, not seen.output)
    for stream in ("stdout", "stderr"):
        text: str | None = getattr(seen, stream)
        for wanted in getattr(expect, f"{stream}_contains"):
            if text is None:
                yield Finding(f"{stream}_contains", Verdict.NOT_TOLD, short(wanted), "mixed")
            else:
                yield _true(f"{stream}_contains", wanted in text, short(wanted), short(text))
    yield from _read_by_a_model(expect, seen)


def _read_by_a_model(expect: Expect, seen: Observed) -> Iterator[Finding]:
    text = seen.text
    if expect.exit_in_text is not None and expect.exit_code is not None:
        found = re.search(_CODE_IN_TEXT.format(code=expect.exit_code), text)
        yield _true("exit_in_text", bool(found), f"exit code {expect.exit_code}", short(text))
    for wanted in expect.text_contains:
        yield _true("text_contains", wanted in text, short(wanted), short(text))
    if expect.text_contains_any:
        found = any(wanted.lower() in text.lower() for wanted in expect.text_contains_any)
        yield _true("text_contains_any", found, " | ".join(expect.text_contains_any), short(text))
    for unwanted in expect.text_lacks:
        yield _true("text_lacks", unwanted not in text, short(unwanted), short(text))
    if expect.text_at_most is not None:
        size = len(text.encode("utf-8", "surrogatepass"))
        yield _true("text_at_most", size <= expect.text_at_most, expect.text_at_most, size)
    for pieces in expect.secret_absent:
        secret = "".join(pieces)
        absent = secret not in text and secret not in seen.other
        # Never the secret itself: a report is published.
        yield _true(
            "secret_absent", absent, f"no {pieces[0]}…", "shown" if not absent else "masked"
        )
    if expect.controls_absent is not None:
        found = _CONTROLS.search(text)
        yield _true("controls_absent", not found, "none", f"U+{ord(found[0]):04X}" if found else "")


def _places(text: str, wanted: tuple[str, ...]) -> bool:
    at = 0
    for one in wanted:
        found = text.find(one, at)
        if found < 0:
            return False
        at = found + len(one)
    return True


def _true(name: str, holds: bool, expected: object, observed: object) -> Finding:
    word = Verdict.PASSED if holds else Verdict.FAILED
    return Finding(name, word, str(expected), str(observed))


def _equal(name: str, expected: object, observed: object) -> Finding:
    if observed is None:
        return Finding(name, Verdict.NOT_TOLD, short(str(expected)), "not told")
    return _true(name, expected == observed, short(str(expected)), short(str(observed)))


def short(text: str) -> str:
    """Return a text as it can be printed anywhere: one line, controls escaped, bounded."""
    if len(text) > MOST_SHOWN:
        text = f"{text[: MOST_SHOWN // 2]} … {text[-MOST_SHOWN // 2 :]}"
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in text)
