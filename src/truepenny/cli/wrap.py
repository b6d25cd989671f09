"""An answer on a terminal: lines break between words, and what is between `**` is bold.

Only what a person looks at goes through here; a file or a pipe gets the Markdown as it was written.
Code spans, code blocks and tables are never broken, so that a command can be copied in one piece.
"""

from __future__ import annotations

import re

from .terminal import cells

_BOLD, _PLAIN = "\x1b[1m", "\x1b[22m"
_STYLE = re.compile("\x1b\\[[0-9;]*m")
_MARK = re.compile(r"[-*>]|[0-9]{1,3}[.)]")
"""What begins an item: the lines after its first one stand below its text."""
_FENCE = "```"


class Wrapped:
    """Takes an answer in pieces and returns it for a terminal of `columns`.

    With `colour` a pair of `**` in one line becomes bold; a single one stays what it is. At most
    one word, code span or bold passage is held back until its end is known; `finish` returns it.
    """

    def __init__(self, columns: int, *, colour: bool) -> None:
        self._columns = columns
        self._colour = colour
        self._out: list[str] = []
        self._bold: str | None = None
        """What came since an opening `**` that is not closed yet."""
        self._stars = ""
        self._span = False
        """Inside a code span, seen before bold passages are told apart."""
        self._fenced = False
        self._new_line()

    def feed(self, text: str) -> str:
        """Take the next piece; return what can be shown."""
        for character in text:
            self._read(character)
        return self._taken()

    def finish(self) -> str:
        """Return what was held back."""
        self._literally()
        self._flush()
        return self._taken()

    def _read(self, character: str) -> None:
        """Tell bold passages apart, then place each character."""
        if character == "*" and not (self._span or self._fenced) and self._colour:
            self._stars += "*"
            return
        stars, self._stars = self._stars, ""
        if stars and self._bold is not None:
            if stars == "**" and self._bold and not self._bold[-1].isspace():
                passage, self._bold = self._bold, None
                self._put(_BOLD)
                self._put_all(passage)
                self._put(_PLAIN)
            else:
                self._bold += stars
        elif stars == "**" and not character.isspace():
            self._bold = ""
        else:
            self._put_all(stars)
        if character == "\n":
            self._literally()
            self._span = False
        elif character == "`":
            self._span = not self._span
        if self._bold is None:
            self._put(character)
        else:
            self._bold += character

    def _literally(self) -> None:
        """What is open at the end of a line was no bold passage, or is closed by the end."""
        passage, self._bold = self._bold, None
        stars, self._stars = self._stars, ""
        if passage and stars == "**":
            self._put(_BOLD)
            self._put_all(passage)
            self._put(_PLAIN)
        elif passage is not None:
            self._put_all(f"**{passage}{stars}")
        else:
            self._put_all(stars)

    def _put_all(self, text: str) -> None:
        for character in text:
            self._put(character)

    def _put(self, piece: str) -> None:
        """Add one character, or one style, to the word; end it where a word ends."""
        if piece == "\n":
            self._flush()
            self._out.append("\n")
            self._fenced ^= self._start == _FENCE
            self._new_line()
            return
        if len(self._start) < len(_FENCE) and not piece.isspace() and len(piece) == 1:
            self._start += piece
        if self._fenced or self._start[:1] == "|":
            self._flush()
            self._out.append(piece)
        elif piece == " " and not self._code:
            self._flush()
            self._spaces += 1
        else:
            self._code ^= piece == "`"
            self._word += piece

    def _flush(self) -> None:
        """Write the word, on the next line if it fits only there."""
        if not self._word:
            return
        word, self._word = self._word, ""
        bare = _STYLE.sub("", word)
        wide = cells(bare)
        if self._first:
            self._hang = self._spaces + (wide + 1 if _MARK.fullmatch(bare) else 0)
        room = self._columns - self._hang
        beyond = self._column + self._spaces + wide > self._columns
        if beyond and not self._first and wide <= room and self._column > self._hang:
            self._out.append("\n" + " " * self._hang)
            self._column = self._hang
        else:
            self._out.append(" " * self._spaces)
            self._column += self._spaces
        self._out.append(word)
        self._column = (self._column + wide) % self._columns if beyond else self._column + wide
        self._first = self._first and not bare
        self._spaces = 0

    def _new_line(self) -> None:
        self._word = ""
        self._spaces = self._column = self._hang = 0
        self._first = True
        self._code = False
        self._start = ""

    def _taken(self) -> str:
        text, self._out = "".join(self._out), []
        return text
