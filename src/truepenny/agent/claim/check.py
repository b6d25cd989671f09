"""One verdict for each sentence of an answer, read against the results that it cites."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Sequence

from truepenny.agent.evidence import citations

from .anchor import Anchor, anchors, bare, stems
from .assertion import cleared_after, denied_before, is_denial
from .lookup import held, missing, names_in
from .sentence import QUOTED, Sentence, sentences
from .source import Source
from .verdict import Claim, Claims, Verdict

Find = Callable[[str], Source | None]
"""Gives the recorded result of a call, None where it is not at hand."""

MOST_CHECKED = 300
"""Sentences looked up; one costs up to a tenth of a second over 2 MB of results."""

_ADVICE = re.compile(
    r"(?:to (?:see|fix|verify|confirm|check|find|learn|get|undo|prove)\b|then |next,? |first,? |"
    r"finally,? |please )*(?:set|check|run|restore|increase|raise|lower|roll|restart|delete|remove|"
    r"add|create|verify|look|ask|fix|change|scale|drain|cordon|review|consider|make|give|use|"
    r"correct|update|free|wait|try|see|confirm|inspect|renew|rotate|point|let|find|tell|name|move|"
    r"put|grant|replace|reduce|repair|apply|push|build|start|stop|mount|install|clean|read|pin|"
    r"admit|grow|pull|listen|state|allow|rebuild|declare|compare|take|keep|open|close|turn|switch|"
    r"expand|spread|label|bind|enable|disable|"
    r"bring|investigate|watch|monitor|re-?run|rename|edit|measure)\b(?!\s+(?:is|was|are|were|has)\b)",
    re.IGNORECASE,
)
_MODAL = re.compile(
    r"\b(?:should|would|recommend|suggest|you (?:can|could|may|might|must))\b", re.I
)
_OF_ITSELF = re.compile(
    r"(?:no language model was used|not (?:checked|read|looked at)\b|in short\b|and \d+ more$|"
    r"i (?:looked|found nothing|only|could|can|did|do|have not|will|am|need)\b|"
    r"this (?:rests|answer|report)\b|to see more\b|here is\b|let me\b|"
    r"nothing (?:was|is) changed\b)",
    re.IGNORECASE,
)
_JUDGEMENT = re.compile(r"\W*(?:cause|confidence|severity|impact)\b\W*:", re.IGNORECASE)
_REACH = re.compile(
    r"what i (?:looked at|could not look at)|not (?:checked|looked at).*|could not be looked at"
)
_HOW_IT_ENDED = re.compile(
    r"\b(?:refused|denied|forbidden|not allowed|failed|timed out|interrupted|did not run|cut|"
    r"truncated|partial|could not be (?:read|run)|unreachable|invalid)\b",
    re.IGNORECASE,
)
_NAMED = re.compile(r"\b(?:named|called)\W*$", re.IGNORECASE)
_NOT_THERE = re.compile(r"not ?found|no such|does(?: not|n['’]t) exist", re.IGNORECASE)
_UNABLE = re.compile(
    r"\b(?:cannot|can['’]t|could not|couldn['’]t|does not say|do not say)\b", re.IGNORECASE
)
"""What something is unable to do is a statement, and no absence from a result."""
_ALSO_DENIES = re.compile(r"\b(?:absent|missing|lacks?|exists nowhere|is empty|are empty)\b", re.I)


def check(answer: str, known: Container[str], find: Find) -> Claims:
    """Return the verdicts. `known` are the ids of calls that were made."""
    found = list(sentences(answer))
    judged = [_judge(one, known, find) for one in found[:MOST_CHECKED]]
    left = f"not checked: the answer has more than {MOST_CHECKED} sentences"
    judged += [
        Claim(one.text, one.start, one.end, Verdict.UNKNOWN, because=left)
        for one in found[MOST_CHECKED:]
    ]
    return Claims(tuple(judged))


def _judge(one: Sentence, known: Container[str], find: Find) -> Claim:
    cited = citations(one.text, known)
    if not cited.resolved and not cited.unresolved and one.above:
        cited = citations(one.above, known)
    calls = cited.resolved

    def verdict(found: Verdict, because: str = "", lost: Sequence[str] = ()) -> Claim:
        return Claim(one.text, one.start, one.end, found, calls, tuple(lost), because)

    found = anchors(one.text)
    if not calls and not cited.unresolved and _asserts_nothing(one, found):
        return verdict(Verdict.NO_OBSERVATION)
    if cited.unresolved:
        lost = cited.unresolved
        kind = Verdict.NOT_CONTAINED if calls else Verdict.UNCITED
        return verdict(kind, "it cites a call that was never made", lost)
    if not calls:
        return verdict(Verdict.UNCITED, "it cites no call")
    sources = [find(call) for call in calls]
    at_hand = [source for source in sources if source is not None]
    if len(at_hand) < len(sources):
        return verdict(Verdict.UNKNOWN, "the result of a cited call is not at hand")
    return verdict(*_against(one.text, found, at_hand))


def _asserts_nothing(one: Sentence, found: Sequence[Anchor]) -> bool:
    text = bare(one.text).strip(" _>")
    if text.endswith("?") or _OF_ITSELF.match(text) or _REACH.fullmatch(one.heading):
        return True
    if _ADVICE.match(text) or (_MODAL.search(text) and not found):
        return True
    if text.endswith(":") and not found:
        return True
    # A class of cause is a judgement of ours; with a number or a name in it, it is more than that.
    words = [
        a
        for a in found
        if a.kind == "number" or (a.kind == "name" and re.search(r"[\d/.-]", a.text))
    ]
    return bool(_JUDGEMENT.match(text)) and not words


def _against(
    text: str, found: Sequence[Anchor], sources: Sequence[Source]
) -> tuple[Verdict, str, Sequence[str]]:
    if blind := [source for source in sources if not source.observed]:
        return _of_the_call(text, found, sources, blind)
    plain = QUOTED.sub(lambda match: " " * len(match[0]), bare(text))
    plain = _UNABLE.sub(lambda match: " " * len(match[0]), plain)
    commands = {source.command for source in sources}
    gone = [a for a in found if a.text not in commands and _denied(plain, a)]
    asserted = [anchor for anchor in found if anchor not in gone]
    word = _denied_word(plain) if not gone else ""
    if gone or word or _ALSO_DENIES.search(plain):
        if partial := [source.call for source in sources if not _shows_absence(source, plain)]:
            why = f"{', '.join(partial)} is not a whole result, so it shows no absence"
            return Verdict.NOT_CONTAINED, why, ()
        names = names_in(asserted)
        if there := [anchor.text for anchor in gone if held(anchor, sources, names)]:
            return Verdict.NOT_CONTAINED, "what it denies is in the cited output", there
    if lost := [anchor.text for anchor in missing(asserted, sources)]:
        return Verdict.NOT_CONTAINED, "not in the cited output", lost
    if asserted or gone:
        return Verdict.CONTAINED, "", ()
    if word and not any(
        word in stems(line.path) + stems(line.value)
        for source in sources
        for block in source.blocks
        for line in block.lines
    ):
        return Verdict.CONTAINED, "", ()
    return Verdict.UNKNOWN, "nothing in it can be looked up", ()


def _shows_absence(source: Source, text: str) -> bool:
    """Whether a result may carry a denial: a whole one, or the target's own "not found"."""
    if source.whole:
        return True
    told = source.complete and source.outcome == "target_failed"
    return told and bool(_NOT_THERE.search(text) and _NOT_THERE.search(source.text))


def _of_the_call(
    text: str, found: Sequence[Anchor], sources: Sequence[Source], blind: Sequence[Source]
) -> tuple[Verdict, str, Sequence[str]]:
    """Judge a sentence that cites a call which observed nothing: it may speak of that alone."""
    names = ", ".join(f"{source.call} ended as {source.outcome}" for source in blind)
    if not _HOW_IT_ENDED.search(bare(text)):
        return Verdict.NOT_CONTAINED, f"{names}: it shows nothing of its target", ()
    if lost := [anchor.text for anchor in missing(found, sources)]:
        return Verdict.NOT_CONTAINED, "not in the cited output", lost
    return Verdict.CONTAINED, "", ()


def _denied(text: str, anchor: Anchor) -> bool:
    """Whether the sentence says that the anchor is not so. A name is what it speaks about."""
    if anchor.kind == "number":
        return False
    before, after = text[: anchor.at], text[anchor.at + len(anchor.text) :]
    if before.count("(") > before.count(")"):
        before = before[before.rindex("(") :]  # What is in brackets is said beside the denial.
    if anchor.kind == "name":
        return _NAMED.search(before) is not None and denied_before(before)
    return denied_before(before) or cleared_after(after)


def _denied_word(text: str) -> str:
    """Return the first plain word that a denial reaches, as a stem; "" where there is no denial."""
    words = text.split()
    for place, word in enumerate(words):
        if is_denial(word):
            following = [stem for after in words[place + 1 :] for stem in stems(after)]
            return following[0] if following else ""
    return ""
