"""Our own reader of one line of bash: quotes, words, operators and redirections, and no more.

It knows the lexical rules of bash's manual (sections Quoting and Shell Grammar) for simple
commands joined by `|`, `|&`, `&&`, `||`, `;` and `&`. Everything else is a fault, never a guess:
whoever uses it fails closed (spec/field.md B4).
"""

from __future__ import annotations

import re
import unicodedata

from truepenny.command.refusal import Refusal

from .ansi import decode
from .word import (
    BRACE,
    GLOB,
    PARAMETER,
    TILDE,
    Line,
    Piece,
    Redirection,
    SimpleCommand,
    Word,
)

MAX_CHARS = 8192
"""Longer than any line a person writes; a script goes through a file."""

MAX_WORDS = 1024

KEYWORDS = frozenset(
    [
        "if",
        "then",
        "else",
        "elif",
        "fi",
        "case",
        "esac",
        "for",
        "select",
        "while",
        "until",
        "do",
        "done",
        "in",
        "function",
        "time",
        "coproc",
        "{",
        "}",
        "!",
        "[[",
        "]]",
        "[",
    ]
)
"""Words that change the grammar where a command begins; `[` has its own in the second reading."""

_PLAIN = re.compile(r"[A-Za-z0-9_./:,@%+^=\-]+")
_UNUSABLE = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f]")
_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PARAMETER = re.compile(
    r"\$(?:([A-Za-z_][A-Za-z0-9_]*|[0-9?$!#@*_-])|\{([A-Za-z_][A-Za-z0-9_]*)\})"
)
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=")
_DOUBLE = re.compile(r'[^"\\$`]+')
_EXPANDS = re.compile(r"[*?\[{~]")
_DESCRIPTOR = re.compile(r"[0-9]{1,2}")
_HIDDEN = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs")
"""Characters that do not show, or show as a blank that bash does not split at."""


class Fault(Exception):
    """The line is not one that this reader knows. Carries the refusal."""

    def __init__(self, rejected_by: str, matched: str, message: str) -> None:
        super().__init__(message)
        self.refusal = Refusal(rejected_by, matched, message)


def read(text: str) -> Line | Refusal:
    """Read a line by the rules of bash, or say what is beyond them here. Pure."""
    try:
        _usable(text)
        return _Reader(text).line()
    except Fault as fault:
        return fault.refusal


def _usable(text: str) -> None:
    if len(text) > MAX_CHARS:
        raise Fault("too_long", text[:40], f"the line has over {MAX_CHARS} characters")
    if not text.strip(" \t"):
        raise Fault("empty", "", "there is no command")
    if bad := _UNUSABLE.search(text):
        char = bad[0]
        if char in "\n\r":
            message = "a command is one line: no line breaks and no here-documents"
            raise Fault("newline", repr(char), message)
        raise Fault("control_character", repr(char), "the line has a control character")
    for match in _BEYOND_ASCII.finditer(text):
        if unicodedata.category(match[0]) in _HIDDEN:
            name = unicodedata.name(match[0], f"U+{ord(match[0]):04X}")
            raise Fault("hidden_character", repr(match[0]), f"the line has a hidden {name}")


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._size = len(text)
        self._at = 0
        self._commands: list[SimpleCommand] = []
        self._operators: list[str] = []
        self._count = 0
        self._begin()

    def _begin(self) -> None:
        self._words: list[Word] = []
        self._assignments: list[Word] = []
        self._redirections: list[Redirection] = []
        self._start = -1

    def line(self) -> Line:
        text, size = self._text, self._size
        while True:
            while self._at < size and text[self._at] in " \t":
                self._at += 1
            if self._at >= size:
                break
            char = text[self._at]
            if char in "|;" or (char == "&" and not text.startswith("&>", self._at)):
                self._operator()
                continue
            if self._start < 0:
                self._start = self._at
            if char in "<>&":
                self._redirection(None)
            elif char == "#":
                raise Fault("comment", text[self._at :][:40], "a line here has no comments")
            else:
                self._take(self._word())
        end = ""
        if self._start < 0:
            # A list may end with `;` or `&`; any other operator waits for a command.
            if not self._operators or self._operators[-1] not in (";", "&"):
                matched = self._operators[-1] if self._operators else ""
                raise Fault("syntax", matched, "a command is missing at the end")
            end = self._operators.pop()
        else:
            self._finish()
        return Line(text, tuple(self._commands), tuple(self._operators), end)

    def _operator(self) -> None:
        text, at = self._text, self._at
        pair = text[at : at + 2]
        operator = pair if pair in ("||", "|&", "&&") else text[at]
        if pair in (";;", ";&"):
            raise Fault("syntax", pair, f"{pair!r} belongs to a case construct")
        if self._start < 0:
            raise Fault("syntax", operator, f"there is no command before {operator!r}")
        self._finish()
        self._at += len(operator)
        self._operators.append(operator)

    def _finish(self) -> None:
        end = self._at
        while end > self._start and self._text[end - 1] in " \t":
            end -= 1
        self._commands.append(
            SimpleCommand(
                tuple(self._words),
                tuple(self._assignments),
                tuple(self._redirections),
                self._start,
                end,
            )
        )
        self._begin()

    def _take(self, word: Word) -> None:
        after = self._text[self._at : self._at + 1]
        if after and after in "<>":
            if _DESCRIPTOR.fullmatch(word.raw):
                self._redirection(int(word.raw))
                return
            if word.raw.isdecimal() or (word.raw.startswith("{") and word.raw.endswith("}")):
                raise Fault("redirection", word.raw, "the descriptor is not one that can be judged")
        self._count += 1
        if self._count > MAX_WORDS:
            raise Fault("too_long", "", f"more than {MAX_WORDS} words")
        if not self._words:
            first = word.pieces[0] if word.pieces else Piece("")
            if not first.quoted and not first.parameter:
                if match := _NAME.match(first.text):
                    if first.text.startswith("[", match.end()):
                        raise Fault("syntax", word.raw, "array elements are not assigned here")
                    if _ASSIGNMENT.match(first.text):
                        self._assignments.append(word)
                        return
                if word.raw in KEYWORDS:
                    raise Fault(
                        "shell_keyword",
                        word.raw,
                        f"{word.raw!r} begins a shell construct; write the commands out, with ';'",
                    )
        self._words.append(word)

    def _redirection(self, fd: int | None) -> None:
        text, at = self._text, self._at
        for operator in ("&>>", "<<<", "&>", ">>", ">|", ">&", "<<", "<>", "<&", ">", "<"):
            if text.startswith(operator, at):
                break
        else:
            raise Fault("redirection", text[at : at + 3], "this is no redirection")
        if operator in ("<<", "<<<", "<>"):
            raise Fault("redirection", operator, "text is not handed to a command in the line")
        if text.startswith("(", at + len(operator)):
            raise Fault("substitution", operator + "(", "no process substitution")
        self._at = at + len(operator)
        while self._at < self._size and text[self._at] in " \t":
            self._at += 1
        if self._at >= self._size or text[self._at] in "|&;<>()#":
            raise Fault("syntax", operator, f"{operator!r} needs a target")
        target = self._word()
        after = text[self._at : self._at + 1]
        if after and after in "<>" and target.raw.isdecimal():
            raise Fault("redirection", target.raw, "two redirections run into each other")
        dup = operator in (">&", "<&") and target.raw != "-"
        if dup and not _DESCRIPTOR.fullmatch(target.raw):
            raise Fault("redirection", target.raw, f"{operator!r} is followed by a descriptor")
        self._redirections.append(Redirection(operator, target, fd))

    def _word(self) -> Word:
        """Read one word from `self._at`; the caller knows that one begins there."""
        text, size, start = self._text, self._size, self._at
        match = _PLAIN.match(text, start)
        if match is not None:
            at = match.end()
            if at >= size or text[at] in " \t|&;<>":
                # The common word: nothing in it means anything to bash.
                self._at = at
                value = match[0]
                return Word(value, value, (Piece(value),), start=start)
        pieces: list[Piece] = []
        bare: list[str] = []
        at = start
        while at < size:
            char = text[at]
            if char in " \t|&;<>":
                break
            match = _PLAIN.match(text, at)
            if match is not None:
                bare.append(match[0])
                at = match.end()
                continue
            if char in "'\"\\$`(":
                if char == "\\":
                    if at + 1 >= size:
                        raise Fault("syntax", "\\", "the line ends with a backslash")
                    self._escapable(text[at + 1])
                    found, at = [Piece(text[at + 1], quoted=True)], at + 2
                elif char == "'":
                    found, at = self._single(at)
                elif char == '"':
                    found, at = self._double(at)
                elif char == "$":
                    found, at = self._dollar(at, quoted=False)
                    if found is None:
                        bare.append("$")
                        continue
                elif char == "`":
                    raise _substitution("`")
                else:
                    raise Fault("subshell", "(", "no subshells, functions or arrays")
                if bare:
                    pieces.append(Piece("".join(bare)))
                    bare = []
                pieces.extend(found)
                continue
            if char == ")":
                raise Fault("subshell", ")", "no subshells, functions or arrays")
            if not char.isascii():
                raise Fault(
                    "beyond_ascii", char, "characters beyond ASCII stand only inside quotes"
                )
            bare.append(char)
            at += 1
        if bare:
            pieces.append(Piece("".join(bare)))
        self._at = at
        return word_of(text[start:at], tuple(pieces), start)

    def _escapable(self, char: str) -> None:
        if not char.isascii():
            raise Fault("beyond_ascii", char, "characters beyond ASCII stand only inside quotes")

    def _single(self, at: int) -> tuple[list[Piece], int]:
        end = self._text.find("'", at + 1)
        if end < 0:
            raise Fault("unclosed_quote", self._text[at : at + 40], "a single quote is not closed")
        return [Piece(self._text[at + 1 : end], quoted=True)], end + 1

    def _double(self, at: int) -> tuple[list[Piece], int]:
        text, size, begin = self._text, self._size, at
        pieces: list[Piece] = []
        chars: list[str] = []
        at += 1
        while at < size:
            match = _DOUBLE.match(text, at)
            if match is not None:
                chars.append(match[0])
                at = match.end()
                continue
            char = text[at]
            if char == '"':
                if chars or not pieces:
                    pieces.append(Piece("".join(chars), quoted=True))
                return pieces, at + 1
            if char == "\\":
                following = text[at + 1 : at + 2]
                # Between double quotes a backslash escapes only these (and a line break).
                chars.append(following if following and following in '$`"\\' else char + following)
                at += 2
                continue
            if char == "`":
                raise _substitution("`")
            found, at = self._dollar(at, quoted=True)
            if found is None:
                chars.append("$")
                continue
            if chars:
                pieces.append(Piece("".join(chars), quoted=True))
                chars = []
            pieces.extend(found)
        raise Fault("unclosed_quote", text[begin : begin + 40], "a double quote is not closed")

    def _dollar(self, at: int, *, quoted: bool) -> tuple[list[Piece] | None, int]:
        """Read what `$` begins; None where it stands for itself."""
        text = self._text
        following = text[at + 1 : at + 2]
        if following == "(":
            raise _substitution(text[at : at + 3] if text.startswith("$((", at) else "$(")
        if following == "[":
            raise _substitution("$[")
        match = _PARAMETER.match(text, at)
        if match is not None:
            name = match[1] or match[2]
            return [Piece(name, quoted=quoted, parameter=True)], match.end()
        if following == "{":
            raise Fault("parameter", "${", "no parameter expansion with operators")
        if not quoted and following == '"':
            raise Fault("parameter", '$"', "no translated strings")
        if not quoted and following == "'":
            return self._ansi(at)
        return None, at + 1

    def _ansi(self, at: int) -> tuple[list[Piece], int]:
        text, size, end = self._text, self._size, at + 2
        while end < size and text[end] != "'":
            end += 2 if text[end] == "\\" else 1
        if end >= size:
            raise Fault("unclosed_quote", text[at : at + 40], "a quote is not closed")
        value = decode(text[at + 2 : end])
        if value is None:
            raise Fault(
                "escape", text[at : end + 1], "an escape whose value depends on the machine"
            )
        return [Piece(value, quoted=True)], end + 1


def _substitution(matched: str) -> Fault:
    return Fault(
        "substitution",
        matched,
        "no command substitution or arithmetic: run the inner command first",
    )


def word_of(raw: str, pieces: tuple[Piece, ...], start: int) -> Word:
    """Return the word of these pieces, with what bash may expand in it."""
    expands: set[str] = set()
    braces = ""
    for at, piece in enumerate(pieces):
        if piece.parameter:
            expands.add(PARAMETER)
        elif not piece.quoted:
            if _EXPANDS.search(piece.text) or braces:
                braces += piece.text
            if any(char in piece.text for char in "*?["):
                expands.add(GLOB)
            if "~" in piece.text and _tilde(piece.text, first=at == 0):
                expands.add(TILDE)
    if "{" in braces and _braced(braces):
        expands.add(BRACE)
    text = "".join(f"${piece.text}" if piece.parameter else piece.text for piece in pieces)
    return Word(raw, text, pieces, frozenset(expands), start)


def _tilde(text: str, *, first: bool) -> bool:
    # After `=` and `:` too: bash expands it there in a word that looks like an assignment.
    return (first and text.startswith("~")) or "=~" in text or ":~" in text


def _braced(text: str) -> bool:
    """Whether bash could find a brace expansion in these unquoted characters; wide on purpose."""
    inner = text[text.index("{") + 1 :]
    return "}" in inner and ("," in inner or ".." in inner)
