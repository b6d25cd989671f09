"""How an admitted line is run, so that whatever it prints can be masked.

A document is masked by its structure, and text by the names beside its values. A filter behind
kubectl can take both away, so a document reaches a filter masked already or not at all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from truepenny.command.check import check
from truepenny.command.kubectl import KubectlCommand
from truepenny.command.kubectl import Refusal as NoRead
from truepenny.command.kubectl import read as read_kubectl
from truepenny.command.program.grammar import Program
from truepenny.command.refusal import Refusal
from truepenny.command.shell import SimpleCommand
from truepenny.diagnose.sanitize.choice import form_for
from truepenny.diagnose.sanitize.form import DESCRIBE, LOGS, Form

RAW = "get --raw"
"""The verb of a command that asks for one of the few admitted paths; none of them has secrets."""

_NAMELESS = ("cm", "configmap", "configmaps", "secret", "secrets")
"""Kinds of which `describe` writes names and values on lines of their own."""


@dataclass(frozen=True, slots=True)
class ReadLine:
    """An admitted line. `verbs` are those of its kubectl commands, `reads` the commands without
    the raw ones.

    `alone` are the arguments of a line that is one kubectl command and nothing else. `document`
    are those of a first stage that prints JSON or YAML, and `behind` the text of what reads it.
    `described` says that any other line shows what `kubectl describe` prints, `lone` that it is
    one command.
    """

    text: str
    verbs: tuple[str, ...] = ()
    reads: tuple[KubectlCommand, ...] = ()
    alone: tuple[str, ...] | None = None
    document: tuple[str, ...] | None = None
    behind: str = ""
    described: bool = False
    lone: bool = False


def read_line(text: str, extra: Mapping[str, Program] | None = None) -> ReadLine | Refusal:
    """Judge a line for this machine and say how it is run. Pure. A refusal has passed `check`
    with its hint."""
    admitted = check(text, "local", extra=extra)
    if isinstance(admitted, Refusal):
        return admitted
    line = admitted.line
    asked = {at: found for at, one in enumerate(line.commands) if (found := _asked(one))}
    verbs = tuple(one.verb for one in asked.values())
    reads = tuple(one.read for one in asked.values() if one.read is not None)
    first, read = line.commands[0], asked[0].read if 0 in asked else None
    if read is not None and not (first.redirections or first.assignments or line.end):
        arguments = first.argv[1:]
        if len(line.commands) == 1:
            return ReadLine(text, verbs, reads, alone=arguments)
        if _is_document(read) and len(asked) == 1 and set(line.operators) == {"|"}:
            behind = text[line.commands[1].start :]
            return ReadLine(text, verbs, reads, document=arguments, behind=behind)
    forms: list[Form] = []
    at = 0
    for stages in line.pipelines():
        for place, command in enumerate(stages):
            one = asked.get(at)
            at += 1
            if one is not None and one.read is not None:
                if refusal := _beyond_masking(one.read, feeds=place + 1 < len(stages)):
                    return refusal
                forms.append(form_for([command.argv]))
        if at - 1 not in asked:
            forms.append(form_for([command.argv for command in stages]))
    other = next((form for form in forms if form not in (LOGS, DESCRIBE)), None)
    if other is not None:
        message = f"{other.meaning}: that can be masked only where it is the whole answer"
        return Refusal("output_form", other.name, message)
    lone = len(line.commands) == 1
    return ReadLine(text, verbs, reads, described=DESCRIBE in forms, lone=lone)


@dataclass(frozen=True, slots=True)
class _Asked:
    """A kubectl command; without `read` it asks for a raw path."""

    verb: str
    read: KubectlCommand | None = None


def _asked(command: SimpleCommand) -> _Asked | None:
    if command.argv[0].rpartition("/")[2] != "kubectl":
        return None
    read = read_kubectl(command.argv[1:])
    return _Asked(RAW) if isinstance(read, NoRead) else _Asked(read.verb, read)


def _is_document(command: KubectlCommand) -> bool:
    return command.output in ("json", "yaml")


def _beyond_masking(read: KubectlCommand, *, feeds: bool) -> Refusal | None:
    if _is_document(read):
        return Refusal(
            "document_in_line",
            f"-o {read.output}",
            "a document is masked where it is the whole answer, or the first stage of the one"
            " pipeline of a line, without redirections",
            read.line,
        )
    kinds = {kind.split(".")[0] for kind in read.resources}
    if feeds and read.verb == "describe" and not kinds.isdisjoint(_NAMELESS):
        return Refusal(
            "names_lost",
            f"describe {','.join(read.resources)}",
            "a filter would part the values from the names by which they are masked",
            read.line,
        )
    return None
