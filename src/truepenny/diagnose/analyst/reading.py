"""How a question was read where its words did not settle it, so that a wrong reading shows."""

from __future__ import annotations

import re
from collections.abc import Iterator

from truepenny.diagnose.triage.subject import KIND_WORDS, find_subject, words_of

from .intent import Question
from .plan import Plan
from .playbook import playbooks, vocabulary

MOST_WORDS = 6
"""Unknown words quoted; a pasted text has many."""
SHORTEST = 3
"""Letters of a word worth quoting: shorter ones (`im`, `x`) name nothing in any language."""

# Of any language, as they were written; with what an apostrophe joins, so that no half is quoted.
_WORD = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*")


def readings(plan: Plan, question: Question) -> Iterator[str]:
    """Say which name was taken for another, or that no word of the question names anything here.

    What was piped in is context and not asked by a person: its words are not counted.
    """
    asked = question.text.partition("<untrusted ")[0]
    if plan.subject.guessed:
        ignored = vocabulary().ignored
        for word in dict.fromkeys(words_of(asked)):
            meant = find_subject(word, plan.subject.objects, ignored)
            if meant.guessed and meant.objects:
                ref = meant.objects[0]
                where = f"{ref.namespace}/" if ref.namespace else ""
                yield f'Nothing here is called "{word}": I took it for {ref.kind} {where}{ref.name}'
    elif plan.subject.empty and not plan.absent:
        unknown = [w for w in dict.fromkeys(_WORD.findall(asked)) if _unknown(w.lower(), plan)]
        if unknown:
            quoted = ", ".join(f'"{word}"' for word in unknown[:MOST_WORDS])
            more = f" and {len(unknown) - MOST_WORDS} more" if len(unknown) > MOST_WORDS else ""
            yield f"Words that name nothing here: {quoted}{more}. I looked at the whole instead"


def _unknown(word: str, plan: Plan) -> bool:
    """Whether a word is neither a word of questions that is known nor the cluster's own name."""
    if len(word) < SHORTEST or not word.isalpha() or word == plan.look.name:
        return False
    understood = vocabulary().ignored | vocabulary().refresh | vocabulary().steps
    understood |= vocabulary().proof | vocabulary().listing | {"demo", "practice"}
    if word in understood or word.removesuffix("s") in understood | KIND_WORDS.keys():
        return False
    return not any(word in playbook.words for playbook in playbooks())
