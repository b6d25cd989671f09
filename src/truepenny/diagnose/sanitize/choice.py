"""Which form the output of a command has, from the command itself (spec/diagnostics.md 4).

The last stage of a pipeline writes what is read; an earlier one may have put values there without
their names. Values that a template picks out are judged by the template, since nothing beside them
says what they are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from truepenny.command.kubectl_parse import Parsed, parse
from truepenny.text.redact import Redactor
from truepenny.text.rule import mask
from truepenny.text.sensitive import Strength, key_strength

from .environment import EnvironmentStream
from .form import DESCRIBE, ENV, JSON, LOGS, YAML, Form

BARE = "bare-value"
"""The name under which values are masked that stand without theirs."""


class BareStream:
    """Masks each line that is not empty: what it holds has lost its name."""

    def __init__(self, _: Redactor) -> None:
        self.counts: dict[str, int] = {}
        self._begun = False

    def feed(self, text: str) -> str:
        """Take the next piece; nothing of it is shown but where lines end."""
        out: list[str] = []
        first, *others = text.split("\n")
        self._begun |= bool(first.strip())
        for part in others:
            out.append(self._masked() + "\n")
            self._begun = bool(part.strip())
        return "".join(out)

    def finish(self) -> str:
        """Return the mask of a last line that has no end."""
        return self._masked()

    def _masked(self) -> str:
        if not self._begun:
            return ""
        self._begun = False
        self.counts[BARE] = self.counts.get(BARE, 0) + 1
        return mask(BARE)


BARE_VALUES = Form("bare", "values without their names", True, False, BareStream)

_TEMPLATES = ("jsonpath", "go-template", "custom-columns", "template")
_SEGMENT = re.compile(r"[A-Za-z_][\w\\.-]*")
_VALUES = frozenset(
    {"data", "stringdata", "binarydata", "value", "env", "envs", "args", "command", "annotations"}
)
"""Fields whose values are named elsewhere: beside them, or not at all."""

_INSPECTORS: Mapping[str, tuple[str, ...]] = {
    "crictl": ("inspect", "inspecti", "inspectp"),
    "docker": ("inspect",),
    "podman": ("inspect",),
    "nerdctl": ("inspect",),
}
_ENVIRONMENTS = frozenset({"env", "printenv"})


def form_for(stages: Sequence[Sequence[str]]) -> Form:
    """Return the form of what a pipeline prints. Each stage is its words, the program first.

    What is not known is text.
    """
    if not stages or not stages[-1]:
        return LOGS
    if any(_bare(words) for words in stages if words):
        return BARE_VALUES
    words = stages[-1]
    program, arguments = words[0].rpartition("/")[2], words[1:]
    if program == "kubectl":
        return _kubectl(arguments)
    if program == "helm":
        return _helm(arguments)
    if program in _ENVIRONMENTS:
        return _environment(program, arguments)
    kinds = _INSPECTORS.get(program)
    if kinds and any(word in kinds for word in arguments):
        # A format of one's own picks values out, as a template does.
        own = any(word.startswith(("-f", "--format", "--template")) for word in arguments)
        return BARE_VALUES if own else JSON
    return LOGS


def _bare(words: Sequence[str]) -> bool:
    """Whether the stage prints values without names. Whatever reads them cannot give them back."""
    if words[0].rpartition("/")[2] != "kubectl":
        return False
    parsed, outputs = parse(words[1:]), _outputs(words[1:])
    if parsed.verb not in ("get", "") and not outputs:
        return False
    templates = [value for value in outputs if value.startswith(_TEMPLATES)]
    return any(_exposes(value, parsed) for value in templates)


def _exposes(template: str, parsed: Parsed) -> bool:
    """Whether a template can print what a name would have given away."""
    kind, _, expression = template.partition("=")
    if kind.endswith("file") or not expression:
        return True  # nobody here knows what it says
    if any("secret" in word.lower() for word in parsed.words[:1]):
        return True
    for segment in _SEGMENT.findall(expression):
        for part in re.split(r"(?<!\\)\.", segment):
            name = part.replace("\\", "").strip(".")
            if name.lower() in _VALUES or key_strength(name) >= Strength.NORMAL:
                return True
    return bool(re.search(r"\.\.|\.\*|\[\*\]\s*\}|\{\s*[.@$]\s*\}|range \$|printf", expression))


def _outputs(arguments: Sequence[str]) -> list[str]:
    """Return every declared output format; of several kubectl takes the last, we take them all."""
    found: list[str] = []
    for at, word in enumerate(arguments):
        following = arguments[at + 1] if at + 1 < len(arguments) else ""
        if word in ("-o", "--output"):
            found.append(following)
        elif word == "--template":
            found.append(f"go-template={following}")
        elif word.startswith("--template="):
            found.append(f"go-template={word.partition('=')[2]}")
        elif word.startswith("--output="):
            found.append(word.partition("=")[2])
        elif re.match(r"-[A-Za-z]*o", word) and not word.startswith("--"):
            rest = word.partition("o")[2].removeprefix("=")
            found.append(rest or following)
    return found


def _kubectl(arguments: Sequence[str]) -> Form:
    outputs = _outputs(arguments)
    last = outputs[-1] if outputs else ""
    if parse(arguments).verb == "describe":
        return DESCRIBE
    if "--raw" in arguments or any(word.startswith("--raw=") for word in arguments):
        return JSON
    return {"json": JSON, "yaml": YAML}.get(last, LOGS)


def _helm(arguments: Sequence[str]) -> Form:
    outputs = _outputs(arguments)
    if "json" in outputs[-1:]:
        return JSON
    return YAML if "get" in arguments[:1] and arguments[1:2] != ["notes"] else LOGS


def _environment(program: str, arguments: Sequence[str]) -> Form:
    names = [word for word in arguments if not word.startswith("-")]
    if not names:
        return ENV
    if program == "env":
        return LOGS  # it runs another program
    if len(names) > 1:
        return BARE_VALUES if any(key_strength(name) for name in names) else LOGS
    name = names[0]
    return Form(
        "env", f"the value of {name}", True, False, lambda red: EnvironmentStream(red, name)
    )
