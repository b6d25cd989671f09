"""May this line run there? The one pass from a text to an admitted line or a refusal.

The order is that of spec/diagnostics.md 3.2: syntax, segments, the pod's single command, names of
programs, what may not feed a pipe, each program's arguments, sensitive places. The first finding
answers, and its hint has passed this same check.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from . import kubectl_line
from .instead import ALTERNATIVES, FORBIDDEN, WRAPPERS, forbidden
from .program.arguments import Arguments, Fault
from .program.arguments import read as read_arguments
from .program.grammar import CONTEXTS, Context, Operand, Program
from .program.judge import JUDGES
from .program.load import programs
from .refusal import Refusal
from .sensitive.place import Match, find
from .shell import Line, Redirection, SimpleCommand, Word, read_line
from .shell.brace import expand
from .shell.word import BRACE, GLOB, PARAMETER, TILDE

MAX_COMMANDS = 32
"""Commands in a line; more is a script, and goes through one."""

MAX_HINTS = 6
"""Candidates that are tried for a hint."""

_FOLDERS = ("/bin/", "/sbin/", "/usr/bin/", "/usr/sbin/", "/usr/local/bin/", "/usr/local/sbin/")
"""A program named by its path counts as the program of that name only in these."""

_ASSIGNMENTS = {
    "LC_ALL": re.compile(r"[A-Za-z0-9_.@-]{1,32}"),
    "LANG": re.compile(r"[A-Za-z0-9_.@-]{1,32}"),
    "TZ": re.compile(r"[A-Za-z][A-Za-z0-9_+-]{0,30}(?:/[A-Za-z][A-Za-z0-9_+-]{0,30}){0,2}"),
    "COLUMNS": re.compile(r"[0-9]{1,4}"),
    "SYSTEMD_COLORS": re.compile(r"[01]"),
    "NO_COLOR": re.compile(r"1?"),
}
"""What may stand in front of a command, with its values: others change what a program loads."""

_SUBSTITUTION = re.compile(r"`|\$\(")
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")


@dataclass(frozen=True, slots=True)
class Admitted:
    """A line that may run in its context. `programs` are the names of its commands, in order."""

    line: Line
    context: Context
    programs: tuple[str, ...]


def check(
    text: str, context: str, *, extra: Mapping[str, Program] | None = None
) -> Admitted | Refusal:
    """Judge a line for a context: `local`, `node`, `pod` or `host`; any other is refused. Pure.

    `extra` are a site's own programs (`site.read`); a built-in of the same name wins.
    """
    place: Context | None = next((known for known in CONTEXTS if known == context), None)
    if place is None:
        return Refusal("context", context, "the context is local, node, pod or host")
    judged = _Check(text, place, extra or {}).run()
    if not isinstance(judged, _Refused):
        return judged
    for candidate in list(dict.fromkeys(judged.candidates))[:MAX_HINTS]:
        if candidate == text or not candidate:
            continue
        if isinstance(_Check(candidate, place, extra or {}).run(), Admitted):
            return replace(judged.refusal, hint=candidate)
    return judged.refusal


@dataclass
class _Refused(Exception):
    refusal: Refusal
    candidates: tuple[str, ...] = ()


class _Check:
    def __init__(self, text: str, context: Context, extra: Mapping[str, Program]) -> None:
        self._text = text
        self._context: Context = context
        self._extra = extra

    def run(self) -> Admitted | _Refused:
        try:
            return self._run()
        except _Refused as refused:
            return refused

    def _run(self) -> Admitted:
        text = self._text
        if "`" in text or "$(" in text:
            found = _SUBSTITUTION.search(text)
            matched = found[0] if found else ""
            message = "no command substitution, also inside quotes: run the inner command first"
            raise self._refused("substitution", matched, message)
        line = read_line(text)
        if isinstance(line, Refusal):
            raise _Refused(line, tuple(self._plainer(line)))
        if len(line.commands) > MAX_COMMANDS:
            raise self._refused("too_long", "", f"more than {MAX_COMMANDS} commands")
        if self._context == "pod":
            self._pod(line)
        for command in line.commands:
            self._surroundings(command)
        names = tuple(self._name(command) for command in line.commands)
        for stages in line.pipelines():
            for at, command in enumerate(stages):
                self._command(command, piped=at > 0, feeds=at + 1 < len(stages))
        return Admitted(line, self._context, names)

    def _refused(
        self, rejected_by: str, matched: str, message: str, candidates: Sequence[str] = ()
    ) -> _Refused:
        return _Refused(Refusal(rejected_by, matched[:200], message), tuple(candidates))

    def _with(self, command: SimpleCommand, words: Sequence[str]) -> str:
        """Return the line with other words for one command; redirections of it are left out."""
        text = self._text
        return text[: command.start] + shlex.join(words) + text[command.end :]

    def _plainer(self, refusal: Refusal) -> Iterator[str]:
        """Yield the line with what the reader could not take quoted or gone."""
        text, matched = self._text, refusal.matched
        if refusal.rejected_by == "comment":
            yield text[: text.rindex(matched)].rstrip() if matched in text else ""
        if refusal.rejected_by == "beyond_ascii":
            yield re.sub(r"(?<![\S])([^\s'\"\\]*[^\x00-\x7f][^\s'\"\\]*)", r"'\1'", text)
        if refusal.rejected_by == "shell_keyword" and matched in ("!", "time"):
            yield text.replace(f"{matched} ", "", 1)
        if refusal.rejected_by == "shell_keyword" and matched == "[":
            yield re.sub(r"(?:^|(?<=\s))\[\s+(.*?)\s+\](?=\s|;|$)", r"test \1", text)

    def _pod(self, line: Line) -> None:
        first = line.commands[0]
        alone = self._text[first.start : first.end]
        if len(line.commands) > 1 or line.end:
            matched = line.operators[0] if line.operators else line.end
            raise self._refused(
                "pod_single_command",
                matched,
                "a container gets one command, without a shell: no pipes and no lists",
                (alone, shlex.join(first.argv)),
            )
        if first.redirections or first.assignments:
            raise self._refused(
                "pod_single_command",
                alone,
                "a container gets one command, without a shell: no redirections, no assignments",
                (shlex.join(first.argv),),
            )
        for word in first.words:
            if word.expands:
                raise self._refused(
                    "pod_no_shell",
                    word.raw,
                    "there is no shell in the container that would expand this",
                    (shlex.join(first.argv),),
                )

    def _surroundings(self, command: SimpleCommand) -> None:
        for redirection in command.redirections:
            if not _harmless(redirection):
                target = redirection.target.raw
                raise self._refused(
                    "redirection",
                    f"{redirection.operator}{target}",
                    "output goes to the result or to /dev/null, and nothing is read by '<'",
                    (self._with(command, command.argv) if command.literal else "",),
                )
        for word in command.assignments:
            name, _, value = word.text.partition("=")
            shape = _ASSIGNMENTS.get(name)
            if shape is None or not word.literal or not shape.fullmatch(value):
                raise self._refused(
                    "assignment",
                    word.raw,
                    f"only {', '.join(sorted(_ASSIGNMENTS))} may be set for a command",
                    (self._with(command, command.argv) if command.words else "",),
                )
        if not command.words:
            raise self._refused("no_program", self._text[command.start :], "no program is named")

    def _name(self, command: SimpleCommand) -> str:
        word = command.words[0]
        if not word.literal:
            raise self._refused("program", word.raw, "the program is named as it is")
        spelled = word.text
        name = _program_name(spelled)
        program = self._program(name)
        if program is None:
            argv = command.argv
            base = spelled.rpartition("/")[2]
            candidates: list[str] = []
            if instead := ALTERNATIVES.get(base):
                candidates += [self._with(command, (*instead.split(), *argv[1:]))]
                candidates += [self._with(command, instead.split())]
            if base in WRAPPERS:
                candidates += [self._with(command, argv[at:]) for at in range(1, min(4, len(argv)))]
            if "/" in spelled and self._program(base):
                candidates.append(self._with(command, (base, *argv[1:])))
            message = f"{spelled} is not one of the programs that may run here"
            if forbidden(base):
                message = f"{spelled} runs whatever it is given, so it is never allowed"
            raise self._refused("program", spelled, message, candidates)
        if self._context not in program.contexts:
            raise self._refused(
                "context_program",
                name,
                f"{name} may not run in the context {self._context}, "
                f"only in: {', '.join(sorted(program.contexts))}",
            )
        return name

    def _program(self, name: str) -> Program | None:
        return programs().get(name) or self._extra.get(name)

    def _command(self, command: SimpleCommand, *, piped: bool, feeds: bool) -> None:
        name = _program_name(command.words[0].text)
        program = self._program(name)
        if program is None:  # pragma: no cover - `_name` came first
            raise self._refused("program", name, "unknown program")
        words = self._expanded(command)
        grammar = program.grammar
        if feeds and not grammar.feeds:
            raise self._refused(
                "pipe_source", name, f"{name} does not feed a pipe", (shlex.join(command.argv),)
            )
        if grammar.judge == "kubectl":
            self._kubectl(command, words, feeds=feeds)
            return
        try:
            arguments = read_arguments(words, grammar)
            if grammar.judge:
                JUDGES[grammar.judge](arguments)
        except Fault as fault:
            candidates = [self._with(command, (name, *instead)) for instead in fault.instead]
            if fault.rejected_by == "glob":
                candidates.insert(0, self._text.replace(fault.matched, f"./{fault.matched}"))
            message = f"{name}: {fault.message}"
            raise self._refused(fault.rejected_by, fault.matched, message, candidates) from None
        if feeds and not arguments.grammar.feeds:
            spelled = " ".join((name, *arguments.path))
            raise self._refused(
                "pipe_source",
                spelled,
                f"{spelled} does not feed a pipe; select from its output with json_path",
                (shlex.join(command.argv),),
            )
        self._places(name, arguments, words, shows_names=grammar.names)
        if program.family == "text" and self._context == "local":
            self._filter(command, arguments, piped=piped)

    def _expanded(self, command: SimpleCommand) -> list[Word]:
        words: list[Word] = []
        for word in command.words[1:]:
            if not word.expands:
                if _CONTROL.search(word.text) or _SUBSTITUTION.search(word.text):
                    raise self._refused(
                        "escape", word.raw, "escapes may not make control characters or commands"
                    )
                words.append(word)
                continue
            if TILDE in word.expands:
                raise self._refused(
                    "tilde",
                    word.raw,
                    "write the folder out instead of ~",
                    (self._text.replace("~/", "/root/"), self._text.replace(word.raw, "/root")),
                )
            found = expand(word) if BRACE in word.expands else (word,)
            if found is None:
                raise self._refused(
                    "braces",
                    word.raw,
                    "these braces cannot be judged; quote them or write the words out",
                    (self._with(command, command.argv),),
                )
            words += found
        return words

    def _kubectl(self, command: SimpleCommand, words: Sequence[Word], *, feeds: bool) -> None:
        for word in words:
            if PARAMETER in word.expands or GLOB in word.expands:
                quoted = self._with(command, command.argv)
                raise self._refused(
                    "expansion_in_flag", word.raw, "quote it or write it out", (quoted,)
                )
        refusal = kubectl_line.judge([word.text for word in words], piped=feeds)
        if refusal is not None:
            hint = refusal.hint
            raise _Refused(
                replace(refusal, hint=""),
                (self._with(command, shlex.split(hint)), hint) if hint else (),
            )

    def _places(
        self, name: str, arguments: Arguments, words: Sequence[Word], *, shows_names: bool
    ) -> None:
        files = _files(arguments)
        for word in words:
            match = find(word, file=word.text in files)
            # A list of names shows no content.
            listed = shows_names and match is not None and match.listable
            if match is not None and not listed:
                raise _Refused(
                    Refusal(
                        "sensitive_path",
                        match.text,
                        f"{name}: {match.text} is a sensitive place; {match.advice}",
                        expands_onto=match.expands_onto,
                    ),
                    tuple(_beside(match, self._context)),
                )

    def _filter(self, command: SimpleCommand, arguments: Arguments, *, piped: bool) -> None:
        """Filters on the agent's own machine read what a pipe gives them, never a file (3.6)."""
        name = command.words[0].text
        if not piped:
            raise self._refused(
                "not_piped", name, f"{name} only reads what a pipe gives it here; read is for files"
            )
        grammar = arguments.grammar
        free = 0 if arguments.has(grammar.expression_flags) else grammar.expression
        for word in arguments.operands[free:]:
            if word.text != "-":
                kept = [w for w in command.argv if w != word.text]
                raise self._refused(
                    "file_operand",
                    word.raw,
                    f"{name} only reads what a pipe gives it here, no file",
                    (self._with(command, kept),),
                )


def _program_name(spelled: str) -> str:
    """The name by which a program is looked up; a path elsewhere stays a path, and is unknown."""
    for folder in _FOLDERS:
        if spelled.startswith(folder):
            return spelled[len(folder) :]
    return spelled


def _harmless(redirection: Redirection) -> bool:
    target = redirection.target
    if not target.literal:
        return False
    if redirection.operator in (">", ">>", "&>", "&>>", ">|"):
        return target.text == "/dev/null" and redirection.fd in (None, 1, 2)
    return redirection.operator == ">&" and target.raw in ("1", "2", "-")


def _files(arguments: Arguments) -> frozenset[str]:
    """The words that the program opens as files, by the kinds of its grammar."""
    grammar = arguments.grammar
    free = 0 if arguments.has(grammar.expression_flags) else grammar.expression
    found: set[str] = set()
    if _opens(grammar.operands):
        found.update(word.text for word in arguments.operands[free:])
    for name, value in arguments.flags:
        flag = grammar.flags.get(name)
        if value is not None and flag is not None and flag.kind == "path":
            found.add(value)
    return frozenset(found)


@lru_cache(maxsize=512)
def _opens(places: tuple[Operand, ...]) -> bool:
    return any(place.kind == "path" for place in places)


def _beside(match: Match, context: str) -> Iterator[str]:
    """Yield what can be read where a place cannot."""
    if context == "local":
        yield "kubectl auth whoami"
        return
    place = match.place
    if match.listable and not match.expands_onto:
        yield shlex.join(("ls", "-l", match.text))
    if place == "process_memory":
        yield "ps -eo pid,args"
    elif place == "passwords":
        yield "getent passwd"
    elif place == "history":
        yield "uptime"
    elif place == "run_secrets":
        yield "mount"
    yield "id"


__all__ = ["FORBIDDEN", "Admitted", "Context", "check"]
