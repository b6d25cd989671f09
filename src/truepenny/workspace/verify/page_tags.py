"""Tags of an HTML text: their balance, what they refer to, the scripts and styles inside.

One pass from front to back that never goes back, so a hostile page costs no more than its length.
What ends by itself in HTML (`<p>`, `<li>`, table parts) may be left open.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

from .page_finding import Problem, Reference, Status

VOID = frozenset({
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source",
    "track", "wbr",
})  # fmt: skip

OPTIONAL_END = frozenset({
    "body", "caption", "colgroup", "dd", "dt", "head", "html", "li", "optgroup", "option", "p",
    "rp", "rt", "tbody", "td", "tfoot", "th", "thead", "tr",
})  # fmt: skip

RAW_TEXT = frozenset({"script", "style", "textarea", "title", "xmp", "iframe", "noframes"})
"""Up to its own end tag nothing inside is a tag."""

FOREIGN = frozenset({"svg", "math"})
"""Inside, `<x/>` closes itself."""

REFERRING = {
    "audio": ("src",), "embed": ("src",), "iframe": ("src",), "img": ("src", "srcset"),
    "input": ("src",), "link": ("href",), "object": ("data",), "script": ("src",),
    "source": ("src", "srcset"), "track": ("src",), "video": ("src", "poster"), "a": ("href",),
    "area": ("href",),
}  # fmt: skip
"""Which attributes of which tags name another file."""

MAX_PROBLEMS = 20
"""Of one text; after the first few the rest follow from them."""

_NAME = re.compile(r"[A-Za-z][^\s/>]*")
_ATTRIBUTE = re.compile(
    r"[\s/]*([^\s\"'>/=]+)(?:\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'=<>`]+)))?"
)
_TAG_END = re.compile(r"[\s/]*>")
_SCRIPT_TYPES = frozenset({"", "text/javascript", "application/javascript", "module"})


@dataclass(frozen=True, slots=True)
class Inline:
    """Text of a script or style inside the page. `line` is where it begins."""

    text: str
    line: int
    module: bool = False


@dataclass(slots=True)
class Page:
    """What one pass over a page found. `rebased` says that a `<base href>` moves its references."""

    tags: int = 0
    problems: list[Problem] = field(default_factory=list[Problem])
    references: list[Reference] = field(default_factory=list[Reference])
    scripts: list[Inline] = field(default_factory=list[Inline])
    styles: list[Inline] = field(default_factory=list[Inline])
    rebased: bool = False


def read_page(text: str) -> Page:
    """Read a whole HTML text."""
    reader = _Reader(text)
    reader.read()
    return reader.page


class _Reader:
    def __init__(self, text: str) -> None:
        self.page = Page()
        self._text = text
        self._at = 0
        self._counted, self._line = 0, 1
        self._open: list[tuple[str, int]] = []
        self._names: Counter[str] = Counter()  # of what is open, to ask without a search
        self._foreign = 0
        self._unsaid = 0

    def read(self) -> None:
        problems = self.page.problems
        while (at := self._text.find("<", self._at)) >= 0:
            self._at = at
            if len(problems) >= MAX_PROBLEMS:
                problems.append(Problem(self._here(), "not read any further", Status.SKIP))
                return
            if not self._one():
                break
        for name, line in self._open:
            if name not in OPTIONAL_END:
                self._say(line, f"<{name}> is never closed")
        if self._unsaid:
            problems.append(Problem(problems[-1].line, f"{self._unsaid} further problems"))

    def _one(self) -> bool:
        """Take what begins here; False where the text ends inside."""
        text, at = self._text, self._at
        if text.startswith("<!--", at):
            return self._to("-->", at + 4, "a comment is never closed")
        if text.startswith("<![CDATA[", at) and self._foreign:
            return self._to("]]>", at + 9, "a CDATA section is never closed")
        if text.startswith(("<!", "<?"), at):
            return self._to(">", at + 2, "a declaration is never closed")
        closing = text.startswith("</", at)
        name = _NAME.match(text, at + 1 + closing)
        if name is None:
            self._at = at + 1  # A bare `<` is text.
            return True
        if closing:
            line = self._here()
            if not self._to(">", name.end(), f"</{name[0]} does not end"):
                return False
            self._close(name[0].lower(), line)
            return True
        return self._tag(name[0].lower(), name.end())

    def _tag(self, name: str, at: int) -> bool:
        line, attributes = self._here(), dict[str, str]()
        while not (end := _TAG_END.match(self._text, at)):
            found = _ATTRIBUTE.match(self._text, at)
            if found is None:
                self._say(line, f"<{name}> does not end: an attribute or a quote is broken")
                return False
            value = next((part for part in found.groups()[1:] if part is not None), "")
            attributes.setdefault(found[1].lower(), value)
            at = found.end()
        self._at = end.end()
        self.page.tags += 1
        self._refer(name, attributes, line)
        closed_itself = "/" in end[0]
        if name in VOID or (closed_itself and (self._foreign or name in FOREIGN)):
            return True
        if closed_itself:
            message = f"<{name}/> does not close itself in HTML: it stays open"
            self.page.problems.append(Problem(line, message, Status.WARN))
        if name in RAW_TEXT and not self._foreign:
            return self._raw(name, attributes, line)
        self._foreign += name in FOREIGN
        self._open.append((name, line))
        self._names[name] += 1
        return True

    def _raw(self, name: str, attributes: dict[str, str], line: int) -> bool:
        start = self._at
        begins = self._here()
        end = re.compile(rf"</{name}\s*>", re.IGNORECASE).search(self._text, start)
        if end is None:
            self._say(line, f"<{name}> is never closed")
            return False
        body, self._at = self._text[start : end.start()], end.end()
        kind = attributes.get("type", "").strip().lower()
        if name == "style":
            self.page.styles.append(Inline(body, begins))
        elif name == "script" and "src" not in attributes and kind in _SCRIPT_TYPES:
            self.page.scripts.append(Inline(body, begins, kind == "module"))
        return True

    def _close(self, name: str, line: int) -> None:
        if name in VOID:
            self._say(line, f"</{name}> closes nothing: <{name}> has no end")
            return
        if not self._names[name]:
            self._say(line, f"</{name}> closes nothing")
            return
        while self._open:
            opened, since = self._open.pop()
            self._names[opened] -= 1
            self._foreign -= opened in FOREIGN
            if opened == name:
                return
            if opened not in OPTIONAL_END:
                self._say(line, f"</{name}> comes while <{opened}> of line {since} is open")

    def _refer(self, name: str, attributes: dict[str, str], line: int) -> None:
        if name == "base" and attributes.get("href"):
            self.page.rebased = True
        for attribute in REFERRING.get(name, ()):
            value = attributes.get(attribute, "").strip()
            if attribute == "srcset":
                places = [part.split()[0] for part in value.split(",") if part.split()]
            else:
                places = [value] if value else []
            self.page.references.extend(Reference(place, line) for place in places)

    def _to(self, end: str, start: int, problem: str) -> bool:
        at = self._text.find(end, start)
        if at < 0:
            self._say(self._here(), problem)
            return False
        self._at = at + len(end)
        return True

    def _here(self) -> int:
        """Return the line of where we are; only ever counted forward."""
        self._line += self._text.count("\n", self._counted, self._at)
        self._counted = max(self._counted, self._at)
        return self._line

    def _say(self, line: int, message: str) -> None:
        if len(self.page.problems) < MAX_PROBLEMS:
            self.page.problems.append(Problem(line, message))
        else:
            self._unsaid += 1
