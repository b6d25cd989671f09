"""From the words of a command to flags, values and operands, each of them checked; none skipped.

The rules are getopt's: short flags join and their value may be glued, long ones take `=`, `--`
ends the flags. Abbreviated long flags are refused, since what they stand for depends on the
version (spec/field.md B4 46); the hint spells them out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from truepenny.command.shell.word import GLOB, PARAMETER, Word

from .grammar import Flag, Grammar, Operand
from .value import DASHED, described, fits

_NUMBER = re.compile(r"-[0-9]{1,6}")
_SAFE_GLOB = re.compile(r"(?:/|\./)[A-Za-z0-9_./-]*")
_STATUS_ONLY = re.compile(r"\$(?!\?)")


@dataclass
class Fault(Exception):
    """An argument that may not be: a machine word, the token, a sentence, and what would pass.

    `instead` are whole argument lists (without the program) worth trying as a hint.
    """

    rejected_by: str
    matched: str
    message: str
    instead: tuple[tuple[str, ...], ...] = ()


@dataclass(slots=True)
class Arguments:
    """`grammar` is that of the last subcommand, `path` the subcommands that led to it."""

    grammar: Grammar
    path: tuple[str, ...] = ()
    flags: list[tuple[str, str | None]] = field(default_factory=list[tuple[str, "str | None"]])
    operands: list[Word] = field(default_factory=list[Word])

    def values(self, *names: str) -> list[str]:
        """Return the values of these spellings, in order."""
        return [value for name, value in self.flags if name in names and value is not None]

    def has(self, names: frozenset[str]) -> bool:
        """Whether one of these spellings is there."""
        return any(name in names for name, _ in self.flags)


def read(words: Sequence[Word], grammar: Grammar) -> Arguments:
    """Check every word after the program's name. Raises Fault at the first that may not be."""
    return _Reader(words, grammar).read()


class _Reader:
    def __init__(self, words: Sequence[Word], grammar: Grammar) -> None:
        self._words = words
        self._at = 0
        self._arguments = Arguments(grammar)
        self._flags = dict(grammar.flags)
        self._why = dict(grammar.why)
        self._required = dict(grammar.required)

    def read(self) -> Arguments:
        arguments = self._arguments
        words, ended = self._words, False
        while self._at < len(words):
            word = words[self._at]
            text = word.text
            self._at += 1
            style = arguments.grammar.style
            if ended or style == "free" or text == "-" or text[:1] not in ("-", "+") or not text:
                self._operand(word)
            elif text == "--":
                ended = True
            elif word.expands:
                raise Fault("expansion_in_flag", word.raw, "a flag is written out")
            elif text[0] == "+":
                self._plus(word)
            elif style == "whole":
                self._whole(text)
            elif text.startswith("--"):
                self._long(text)
            else:
                self._cluster(text)
        self._finish()
        return arguments

    def _finish(self) -> None:
        arguments = self._arguments
        grammar = arguments.grammar
        if grammar.subcommands and not grammar.bare and not self._informs():
            choices = sorted(set(grammar.subcommands))
            raise Fault(
                "subcommand_needed",
                " ".join(arguments.path),
                "it needs one of: " + ", ".join(choices),
                tuple((*arguments.path, choice) for choice in choices[:4]),
            )
        self._place_operands(grammar.operands)
        missing = [spellings for spellings in self._required if not arguments.has(spellings)]
        if missing:
            adds = " ".join(self._required[spellings] for spellings in missing).split()
            rest = self._texts()[len(arguments.path) :]
            raise Fault(
                "required_flag",
                adds[0],
                f"without {' or '.join(sorted(missing[0])[:4])} it changes something or never"
                " ends by itself",
                ((*arguments.path, *adds, *rest),),
            )

    def _informs(self) -> bool:
        return self._arguments.has(frozenset(("-h", "--help", "-V", "--version", "-v")))

    def _expressed(self) -> bool:
        return self._arguments.has(self._arguments.grammar.expression_flags)

    def _texts(self) -> tuple[str, ...]:
        return tuple(word.text for word in self._words)

    def _operand(self, word: Word) -> None:
        arguments = self._arguments
        if arguments.grammar.subcommands and not arguments.operands:
            inner = arguments.grammar.subcommands.get(word.text) if word.literal else None
            if inner is not None:
                arguments.path = (*arguments.path, word.text)
                arguments.grammar = inner
                self._flags.update(inner.flags)
                self._why.update(inner.why)
                self._required.update(inner.required)
                return
            choices = sorted(set(arguments.grammar.subcommands))
            raise Fault(
                "subcommand",
                word.text,
                f"{word.text!r} is not one of: {', '.join(choices)}",
                (
                    arguments.path,
                    *((*arguments.path, choice) for choice in choices if choice in _USUAL),
                    (*arguments.path, choices[0]),
                ),
            )
        arguments.operands.append(word)

    def _place_operands(self, places: Sequence[Operand]) -> None:
        operands = self._arguments.operands
        at = 0
        for place in places:
            if place.many:
                for word in operands[at:]:
                    self._fit(place, word)
                return
            if at < len(operands):
                self._fit(place, operands[at])
                at += 1
            elif not place.optional and not self._informs() and not self._expressed():
                raise Fault("operand", "", f"an argument is missing: {described(place.kind)}")
        if at < len(operands):
            word = operands[at]
            raise Fault(
                "operand",
                word.raw,
                f"{word.text!r} is one argument too many here",
                (tuple(t for t in self._texts() if t != word.text),),
            )

    def _fit(self, place: Operand, word: Word) -> None:
        if GLOB in word.expands:
            wide = place.many and place.kind in ("path", "text")
            if not wide or not _SAFE_GLOB.match(word.text):
                raise Fault(
                    "glob",
                    word.raw,
                    "a pattern stands only where any number of files may stand, and begins with a"
                    " folder; quote it where it is meant as it is",
                    (self._texts(),),
                )
        if PARAMETER in word.expands and (
            self._arguments.grammar.style != "free" or _STATUS_ONLY.search(_parameters(word))
        ):
            raise Fault("parameter", word.raw, "variables are not read; write the value out")
        if word.text.startswith("-") and word.text != "-" and place.kind not in DASHED:
            if self._arguments.grammar.style != "free":
                raise Fault("operand", word.raw, "an argument after -- begins with a dash")
            return
        if not fits(place.kind, word.text):
            raise Fault("operand", word.raw, f"{word.text!r} is not {described(place.kind)}")

    def _plus(self, word: Word) -> None:
        """A token that begins with `+`: a flag of a few programs (lsof +D), else an operand."""
        flag = self._flags.get(word.text)
        if flag is not None:
            self._keep(flag, word.text, None)
        elif any(name.startswith("+") for name in self._flags):
            self._unknown(word.text)
        else:
            self._operand(word)

    def _whole(self, text: str) -> None:
        flag = self._flags.get(text)
        name, equals, value = text.partition("=")
        if flag is None and equals and (flag := self._flags.get(name)) and flag.arity != "none":
            self._keep(flag, text, value)
        elif flag is None:
            self._unknown(name)
        else:
            self._keep(flag, text, None)

    def _long(self, text: str) -> None:
        name, equals, value = text.partition("=")
        flag = self._flags.get(name)
        if flag is None:
            self._unknown(name)
        elif equals and flag.arity in ("none", "two"):
            raise Fault("flag_value", name, f"{name} takes no value after '='")
        else:
            self._keep(flag, text, value if equals else None)

    def _cluster(self, text: str) -> None:
        if self._arguments.grammar.number and _NUMBER.fullmatch(text):
            return
        # A few programs have flags like `-nn` and `-B1` that are no clusters.
        whole = self._flags.get(text)
        if whole is not None:
            self._keep(whole, text, None)
            return
        letters = text[1:]
        while letters:
            name, letters = f"-{letters[0]}", letters[1:]
            flag = self._flags.get(name)
            if flag is None:
                self._unknown(name, text)
            elif flag.arity == "none":
                self._arguments.flags.append((name, None))
            else:
                self._keep(flag, text, letters or None)
                return

    def _unknown(self, name: str, token: str = "") -> None:
        reason = self._why.get(name)
        at = self._at - 1
        texts = self._texts()
        without, before = (*texts[:at], *texts[at + 1 :]), texts[:at]
        shorter = (*texts[:at], *texts[at + 2 :])
        if reason is not None:
            raise Fault(
                "flag_refused",
                name,
                f"{name} is refused: {reason}",
                (before, shorter, without)
                if self._arguments.grammar.style == "whole"
                else (without, shorter, before),
            )
        meant = [flag for flag in self._flags if name.startswith("--") and flag.startswith(name)]
        if meant:
            full = list(texts)
            full[at] = meant[0] + full[at][len(name) :]
            raise Fault(
                "abbreviated_flag",
                name,
                f"{name} is an abbreviation; write {' or '.join(meant)}",
                (tuple(full), without),
            )
        fewer = list(self._texts())
        if token:
            fewer[at] = token.replace(name[1], "", 1)
            if fewer[at] == "-":
                del fewer[at]
        raise Fault(
            "flag",
            name,
            f"{name} is not one of the flags that may be used",
            (tuple(fewer), without, shorter, before),
        )

    def _keep(self, flag: Flag, token: str, value: str | None) -> None:
        arity = flag.arity
        if arity == "two":
            self._keep_one(flag, self._next(flag, token))
            self._keep_one(flag, self._next(flag, token))
            return
        if value is None and arity == "one":
            value = self._next(flag, token)
        elif value is None and arity == "spaced" and self._at < len(self._words):
            word = self._words[self._at]
            if word.literal and fits(flag.kind, word.text):
                value = word.text
                self._at += 1
        self._keep_one(flag, value)

    def _keep_one(self, flag: Flag, value: str | None) -> None:
        if value is not None and not fits(flag.kind, value):
            raise Fault(
                "flag_value", value, f"the value of {flag.name} is not {described(flag.kind)}"
            )
        self._arguments.flags.append((flag.name, value))

    def _next(self, flag: Flag, token: str) -> str:
        if self._at >= len(self._words):
            raise Fault("flag_value", token, f"{flag.name} needs a value")
        word = self._words[self._at]
        self._at += 1
        if word.expands:
            raise Fault(
                "expansion_in_flag",
                word.raw,
                f"the value of {flag.name} is quoted or written out",
                (self._texts(),),
            )
        if word.text.startswith("-") and word.text != "-" and flag.kind not in DASHED:
            raise Fault(
                "flag_value", word.text, f"the value of {flag.name} would begin with a dash"
            )
        return word.text


_USUAL = frozenset(("show", "list", "ls", "status", "inspect", "ps"))
"""Subcommands that are worth a hint where another was refused."""


def _parameters(word: Word) -> str:
    return "".join(f"${piece.text}" for piece in word.pieces if piece.parameter)
