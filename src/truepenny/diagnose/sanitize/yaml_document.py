"""YAML that comes in pieces, redacted document by document."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, cast

from truepenny.diagnose.reader_document import sanitized
from truepenny.text.control import strip_control
from truepenny.text.redact import Redactor

from .document import MAX_VALUE, unsaid_kind
from .json_path import Step, line_of, select


class YamlStream:
    """Redacts YAML: each document between `---` lines is held whole, at most `MAX_VALUE`.

    With `steps` it returns what the path leads to. What is no YAML, or uses aliases, is redacted
    line by line where it cannot be a Secret, and `unread` is set; else it is not shown.
    """

    def __init__(self, redactor: Redactor, steps: Sequence[Step] | None = None) -> None:
        self.counts: dict[str, int] = {}
        self.unread = False
        self.lost = ""
        self.withheld = 0
        self._redactor = redactor
        self._steps = steps
        self._lines: list[str] = []
        self._size = 0
        self._rest = ""
        self._long = False

    def feed(self, text: str) -> str:
        """Take the next piece; return the documents that have ended."""
        *whole, self._rest = (self._rest + text).split("\n")
        out: list[str] = []
        for line in whole:
            if line.rstrip("\r") == "---" or line.startswith("--- "):
                out.append(self._close())
                if self._steps is None:
                    out.append("---\n")
                line = line[4:]
                if not line.strip():
                    continue
            self._add(f"{line}\n")
        if len(self._rest) > MAX_VALUE:
            self._add(self._rest)
            self._rest = ""
        return "".join(out)

    def finish(self) -> str:
        """Return the last document."""
        if self._rest:
            self._add(self._rest)
            self._rest = ""
        return self._close()

    def _add(self, line: str) -> None:
        self._size += len(line)
        if self._size > MAX_VALUE:
            self._long, self._lines = True, []
        else:
            self._lines.append(line)

    def _close(self) -> str:
        text, size, long = "".join(self._lines), self._size, self._long
        self._lines, self._size, self._long = [], 0, False
        if long:
            return self._withhold(size, f"a document is longer than {MAX_VALUE} characters")
        if not text.strip():
            return text if self._steps is None else ""
        try:
            value = load_yaml(strip_control(text))
        except ValueError as error:
            return self._unread(text, str(error))
        if not isinstance(value, (dict, list)):
            return self._unread(text, "it is no object")
        return self._shown(cast("dict[str, Any] | list[Any]", value), text)

    def _shown(self, value: dict[str, Any] | list[Any], text: str) -> str:
        from truepenny.diagnose.reader_document import yaml_text

        kind = unsaid_kind(value, "")
        clean, controls = sanitized(value)
        walk = self._redactor.walk()
        redacted = walk.value(clean, kind)
        self._count(walk.counts)
        if self._steps is not None:
            return "".join(line_of(one) for one in select(redacted, self._steps))
        if walk.counts or controls:
            return yaml_text(redacted)
        # Comments, and a name that comes twice, are no part of the structure.
        done = self._redactor.text(text)
        self._count(done.counts)
        return done.text

    def _unread(self, text: str, why: str) -> str:
        if _MAY_BE_SECRET.search(text):
            return self._withhold(len(text), why)
        self.unread = True
        done = self._redactor.text(strip_control(text))
        self._count(done.counts)
        return done.text

    def _withhold(self, size: int, why: str) -> str:
        self.withheld += size
        self.lost = self.lost or why
        return ""

    def _count(self, counts: dict[str, int]) -> None:
        for name, count in counts.items():
            self.counts[name] = self.counts.get(name, 0) + count


_MAY_BE_SECRET = re.compile(
    r"^[\s\-]*[\"']?(?:data|stringData)[\"']?[ \t]*:|kind[\"']?[ \t]*:[ \t]*[\"']?\w*Secret",
    re.MULTILINE,
)
_ALIAS = re.compile(r"(?:^|[\s\[{,:-])[*&][A-Za-z0-9_]")


def load_yaml(text: str) -> Any:
    """Parse one document. Raises ValueError for what is none, is nested too deep, or shares parts:
    a small text with aliases may stand for a value that fits in no memory."""
    import yaml

    loader = _loader()
    try:
        if _ALIAS.search(text) and any(
            isinstance(event, yaml.AliasEvent)
            for event in yaml.parse(text, Loader=loader)  # pyright: ignore[reportUnknownMemberType]
        ):
            raise ValueError("it uses aliases")
        return yaml.load(text, Loader=loader)
    except yaml.YAMLError as error:
        raise ValueError(f"no YAML: {str(error).splitlines()[0]}") from None
    except RecursionError:
        raise ValueError("it is nested too deep") from None


def _loader() -> Any:
    """A safe loader that leaves dates what they are written as."""
    import yaml

    base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    made: Any = type("Loader", (base,), {})
    made.yaml_implicit_resolvers = {
        char: [one for one in resolvers if one[0] != "tag:yaml.org,2002:timestamp"]
        for char, resolvers in base.yaml_implicit_resolvers.items()
    }
    return made
