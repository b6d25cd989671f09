"""Writes the answer in Markdown: the verdict first, then evidence, next steps and reach."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from truepenny.diagnose.triage.coverage import coverage
from truepenny.diagnose.triage.finding import Confidence, Finding, ObjectRef, Severity
from truepenny.diagnose.triage.link import PAST, Incident

from .intent import Intent, Question
from .plan import SYMPTOMS, UNEXPLAINED, Plan
from .reading import readings
from .survey import FIRST

NO_MODEL = (
    "*No language model was used: this answer comes from Truepenny's built-in rules "
    "(`builtin/analyst`).*"
)
STALE = "This rests on what was read earlier in this session; ask for the state now to look again."
INTRODUCTION = (
    "I am Truepenny's built-in analyst. I diagnose Kubernetes: ask me why something fails, what is "
    "wrong in a namespace, or whether the cluster is healthy. I only read, and I cite what I read."
)
EXAMPLE = 'For example: "Why is checkout failing?" or "Is anything wrong in namespace shop?"'
FOREIGN = (
    "I can only diagnose Kubernetes, with built-in rules; I cannot help with that. Nothing was "
    "read or run. A configured language model can take other questions (`--model`)."
)
CHANGE = (
    "I only read; I change nothing, so I have not done that. Tell me what is wrong and I will look "
    "for the cause and say what to change."
)
MOST_SYMPTOMS = 6
MOST_OTHERS = 4
MOST_NOTES = 3
MOST_NAMES = 12


def write(plans: Sequence[Plan], question: Question, *, fresh: bool = True) -> str:
    """Return the answer for the clusters that were looked at.

    `fresh` is false when nothing was read for this question: what was read before may be old.
    """
    parts = [_one(plan, question, named=len(plans) > 1) for plan in plans]
    if not fresh:
        parts.append(STALE)
    return "\n\n".join([*parts, NO_MODEL])


def short(text: str) -> str:
    """Return an answer that needed no reading."""
    return f"{text}\n\n{NO_MODEL}"


def code(untrusted: str) -> str:
    """Quote text that anybody may have written so that Markdown shows it and does nothing else."""
    flat = " ".join(untrusted.replace("`", "'").split())
    return f"`{flat}`" if flat else "``"


def _one(plan: Plan, question: Question, *, named: bool) -> str:
    head = f"### Cluster {plan.look.name}\n\n" if named and plan.look.name else ""
    return head + "\n".join(_lines(plan, question))


def _lines(plan: Plan, question: Question) -> Iterator[str]:
    if plan.unreachable:
        yield from _unreachable(plan)
        return
    if plan.absent and plan.playbook is None:
        yield from _absent(plan)
        return
    misplaced = plan.subject.misplaced(whole=not plan.look.hidden)
    if misplaced:
        survey = [call.id for query in FIRST if (call := plan.look.answers.get(query.argv))]
        yield f"**{_capital(misplaced)}.** {' '.join(f'[{each}]' for each in survey)}"
        yield ""
    examination = plan.examination
    if examination is None:
        yield "**I could not finish looking, so I do not know.** The number of calls is used up."
        return
    asked = [each for each in examination.incidents if plan.subject.touches(each.objects)]
    others = [each for each in examination.incidents if each not in asked]
    if plan.subject.empty:
        asked, others = list(examination.incidents), []
    past = _past(plan) if not asked and not plan.subject.empty else []
    if past:
        yield from _nothing(plan, others, now=" now")
        yield from ["", "What is over:", ""]
        yield from _found(plan, past, question)
    elif not asked:
        yield from _nothing(plan, others)
        near = [each for each in others if _mentions(each, plan)] or others[:1]
        if near:
            yield from ["", "The nearest that is wrong:", ""]
            yield from _found(plan, near, question)
            others = [each for each in others if each not in near]
    elif question.intent is Intent.STEPS:
        yield f"**{_verdict(plan, asked[0])}**"
        yield from _steps(asked[0])
    else:
        yield from _found(plan, asked, question)
    if others:
        yield from ["", "**Also wrong, and not shown to be connected**", ""]
        yield from (_brief(each) for each in others[:MOST_OTHERS])
        if len(others) > MOST_OTHERS:
            yield f"- and {len(others) - MOST_OTHERS} more"
    if question.intent is not Intent.STEPS and not past:
        yield from _notes(plan)
    if plan.absent and plan.playbook:
        names = " or ".join(f'"{name}"' for name in plan.absent)
        limit = " that I could read" if plan.look.hidden else ""
        yield f"\nNothing here{limit} is called {names}; I looked at {plan.playbook.title}."
    yield from _reach(plan, question)


def _found(plan: Plan, asked: list[Incident], question: Question) -> Iterator[str]:
    first = asked[0]
    root = first.root
    yield f"**{_verdict(plan, first)}** {_cites(root)}".rstrip()
    yield ""
    yield f"- **Root:** {code_ref(root.object)} {_cites(root)}".rstrip()
    yield f"- **Cause:** {root.cause.replace('_', ' ')} (`{root.cause}`)"
    yield f"- **Confidence:** {root.confidence}, because {root.sure_because}"
    yield from ["", "**Evidence**", ""]
    yield from _evidence(root)
    if first.symptoms:
        yield from ["", "**Explained by this**", ""]
        for symptom in first.symptoms[:MOST_SYMPTOMS]:
            yield f"- {_capital(symptom.sentence)} {_cites(symptom)}"
            if question.intent is Intent.PROOF:
                yield from (f"  {line}" for line in _evidence(symptom))
        if len(first.symptoms) > MOST_SYMPTOMS:
            yield f"- and {len(first.symptoms) - MOST_SYMPTOMS} more"
    yield from _steps(first)
    if root.not_checked:
        yield from ["", "**Not checked for this cause**", ""]
        yield from (f"- {code(each)}" for each in root.not_checked)
    rest = asked[1:]
    if rest:
        yield from ["", f"**{'Another problem' if len(rest) == 1 else 'Other problems'}**", ""]
        for incident in rest[: MOST_OTHERS * 2]:
            yield _brief(incident)
        if len(rest) > MOST_OTHERS * 2:
            yield f"- and {len(rest) - MOST_OTHERS * 2} more"


def _past(plan: Plan) -> list[Incident]:
    """What was asked about and is over: where nothing is wrong now, that is the answer."""
    notes = plan.examination.notes if plan.examination else ()
    return [
        Incident(note, ())
        for note in notes
        if note.cause in PAST and plan.subject.touches([note.object])
    ]


def _mentions(incident: Incident, plan: Plan) -> bool:
    """Whether the evidence of an incident's root speaks of what was asked about."""
    names = {ref.name for ref in plan.subject.objects}
    return any(name in quote.excerpt for name in names for quote in incident.root.evidence)


def _verdict(plan: Plan, incident: Incident) -> str:
    """One sentence that names what was asked about and the cause."""
    root = incident.root
    sentence = _capital(root.sentence).rstrip(".")
    if root.cause in SYMPTOMS:
        return f"{sentence}, and what I could read does not say why."
    unsure = root.confidence is Confidence.LOW and root.cause not in UNEXPLAINED
    doubt = "probably " if unsure else ""
    asked = next((ref for ref in plan.subject.objects), None)
    names = {ref.name for ref in plan.subject.objects}
    related = {root.object.name, *(ref.name for ref in root.about)}
    if asked is None or names & related or not plan.subject.touches(incident.objects):
        return f"{'Probably: ' if doubt else ''}{sentence}."
    return f"For {asked.name} the cause {doubt}lies elsewhere: {root.sentence}."


def _nothing(plan: Plan, others: Sequence[Incident], *, now: str = "") -> Iterator[str]:
    examination = plan.examination
    gaps = bool(examination and (examination.gaps or examination.needs)) or bool(plan.skipped)
    what = ", ".join(dict.fromkeys(ref.name for ref in plan.subject.objects))
    what = what or ", ".join(f"namespace {space}" for space in plan.subject.namespaces)
    where = (
        f" with {what} itself"
        if what and others
        else f" with {what}"
        if what
        else " in this cluster"
        if not others
        else ""
    )
    where += now
    reach = coverage(plan.look.evidence, {})
    if not reach.counts:
        yield "**I could read nothing, so I do not know.**"
    elif gaps:
        yield f"**I found nothing wrong{where} in what I could read; some of it I could not read.**"
    else:
        yield f"**I found nothing wrong{where}.**"


def _unreachable(plan: Plan) -> Iterator[str]:
    answers = [each for each in plan.look.answers.values() if each.outcome != "success"]
    name = f" {plan.look.name}" if plan.look.name else ""
    yield f"**I could not read the cluster{name}, so I know nothing about its state.**"
    yield ""
    seen: set[tuple[str, str]] = set()
    for answer in answers:
        key = (answer.outcome, answer.reason)
        if key in seen:
            continue
        seen.add(key)
        spoken = [line for line in answer.body.splitlines() if line.strip()]
        # kubectl's last line is its verdict; what comes before are attempts.
        said = spoken[-1] if spoken else ""
        why = " ".join(part for part in (answer.outcome, answer.reason) if part)
        yield f"- [{answer.id}] `kubectl {' '.join(answer.argv)}`: {why}: {code(said[:300])}"
        if answer.hint:
            yield f"  - What to do: {code(answer.hint)}"
    if plan.unreachable == "forbidden":
        yield "- If you may read one namespace, name it in your question and I look there."


def _absent(plan: Plan) -> Iterator[str]:
    names = " or ".join(f'"{name}"' for name in plan.absent)
    hidden = plan.look.hidden
    if hidden:
        yield f"**I found nothing called {names} in what I could read; some I could not read.**"
        yield ""
        for query in hidden:
            call = plan.look.answers.get(query.argv)
            why = (
                (call.reason or ("cut" if call.outcome == "success" else call.outcome))
                if call
                else ""
            )
            cite = f" [{call.id}]" if call else ""
            yield f"- Not read in full: {query.why}: {why}{cite}"
    else:
        yield f"**I found nothing called {names} in this cluster.**"
    odd = [row for row in plan.look.pods if row.suspicious]
    known = [ref for ref in plan.look.candidates if ref.kind in ("Deployment", "StatefulSet")]
    if odd:
        yield from ["", "Pods that do not look right:", ""]
        yield from (
            f"- {code(f'{r.namespace}/{r.name}')}: {r.status}, ready {r.ready}" for r in odd[:8]
        )
        if len(odd) > 8:
            yield f"- and {len(odd) - 8} more"
    if known:
        spaces: dict[str, list[str]] = {}
        for ref in known:
            spaces.setdefault(ref.namespace, []).append(ref.name)
        yield from ["", "There are:", ""]
        for space, found in sorted(spaces.items()):
            more = f" and {len(found) - MOST_NAMES} more" if len(found) > MOST_NAMES else ""
            yield f"- in namespace {space}: {', '.join(sorted(found)[:MOST_NAMES])}{more}"
    if not known and not odd:
        yield "I could not read what there is instead."
    survey = [plan.look.answers.get(query.argv) for query in FIRST]
    calls = ", ".join(f"[{each.id}]" for each in survey if each)
    yield f"\nLooked at: the names of pods, namespaces, workloads and services {calls}."


def _notes(plan: Plan) -> Iterator[str]:
    notes = plan.examination.notes if plan.examination else ()
    mine = [n for n in notes if plan.subject.empty or plan.subject.touches([n.object])]
    if mine:
        yield from ["", "**Seen, and no incident now**", ""]
        yield from (f"- {_capital(note.sentence)} {_cites(note)}" for note in mine[:MOST_NOTES])
        if len(mine) > MOST_NOTES:
            yield f"- and {len(mine) - MOST_NOTES} more"


def _reach(plan: Plan, question: Question) -> Iterator[str]:
    examination = plan.examination
    if examination is None:
        return
    reach = coverage(plan.look.evidence, examination.gaps)
    cluster = f" of cluster {plan.look.name}" if plan.look.name else ""
    yield from ["", "**What I looked at**", "", f"- {reach.sentence()}{cluster}"]
    if reach.counts and (back := reach.reach_back()):
        yield f"- {_capital(back)}"
    yield from (f"- {line}" for line in readings(plan, question))
    for line in reach.missing():
        yield f"- Not checked: {code(line) if ':' not in line else line}"
    if plan.scope and not plan.subject.empty:
        # Of kube-system only what serves others is read, and only where that was reached.
        seen = dict.fromkeys((*plan.scope, *reach.namespaces))
        yield f"- Not checked: namespaces other than {' and '.join(seen)}"
    if plan.skipped:
        yield f"- Not checked in full: {plan.skipped} namespaces whose pods look right in the table"
    for need in examination.needs:
        yield f"- Not read: {code(need.command)}"


def _steps(incident: Incident) -> Iterator[str]:
    if incident.root.steps:
        yield from ["", "**Next**", ""]
        for number, step in enumerate(incident.root.steps, 1):
            yield f"{number}. {step.text}" + (f" {code(step.command)}" if step.command else "")


def _brief(incident: Incident) -> str:
    root = incident.root
    mark = "" if root.severity is not Severity.WARNING else " (warning)"
    more = f"; explains {len(incident.symptoms)} symptoms" if incident.symptoms else ""
    quoted = f": {code(root.evidence[-1].excerpt)}" if root.evidence else ""
    return f"- {_capital(root.sentence)}{mark}{more} {_cites(root)}{quoted}"


def _evidence(finding: Finding) -> Iterator[str]:
    reads: dict[tuple[str, str], list[str]] = {}
    for quote in finding.evidence:
        reads.setdefault((quote.source, quote.command), []).append(quote.excerpt)
    for (source, command), excerpts in reads.items():
        yield f"- [{source}] {code(command)}"
        yield from (f"  - {code(excerpt)}" for excerpt in excerpts)


def _cites(finding: Finding) -> str:
    return " ".join(dict.fromkeys(f"[{quote.source}]" for quote in finding.evidence))


def code_ref(ref: ObjectRef) -> str:
    """Write an object for people."""
    where = f"{ref.namespace}/" if ref.namespace else ""
    return f"{ref.kind} `{where}{ref.name}`"


def _capital(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]
