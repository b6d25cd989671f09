"""The forms of output that can hold secrets, and how each is sanitized: one table.

`line_safe` is for whoever shows output while it is still being written, as a background run does:
what such a sanitizer has returned stays right whatever comes later, and it never holds back more
than a window. A structural one may have to see the end before the beginning may be shown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from truepenny.text.control import ControlStripper
from truepenny.text.redact import Redactor

from .describe import DescribeStream
from .environment import EnvironmentStream
from .json_document import JsonStream
from .json_path import Step
from .yaml_document import YamlStream


class Sanitizer(Protocol):
    """Takes decoded text in pieces and returns it without secrets and control sequences."""

    @property
    def counts(self) -> Mapping[str, int]: ...
    def feed(self, text: str) -> str: ...
    def finish(self) -> str: ...


class LineStream:
    """Any text: control sequences are taken out, then each line is redacted."""

    def __init__(self, redactor: Redactor) -> None:
        self._stripper = ControlStripper()
        self._stream = redactor.stream()

    @property
    def counts(self) -> Mapping[str, int]:
        """What was masked, by rule."""
        return self._stream.counts

    def feed(self, text: str) -> str:
        """Take the next piece; return what is certain."""
        return self._stream.feed(self._stripper.feed(text))

    def finish(self) -> str:
        """Return the rest."""
        return self._stream.feed(self._stripper.finish()) + self._stream.finish()


@dataclass(frozen=True, slots=True)
class Form:
    """A form of output. `project` is set where parts can be taken out by a path."""

    name: str
    meaning: str
    line_safe: bool
    structural: bool
    open: Callable[[Redactor], Sanitizer]
    project: Callable[[Redactor, Sequence[Step]], Sanitizer] | None = None


LOGS = Form("logs", "log lines and any other text", True, False, LineStream)
JSON = Form(
    "k8s-json",
    "JSON of kubectl, crictl, helm or docker, by object kind",
    False,
    True,
    JsonStream,
    JsonStream,
)
YAML = Form(
    "k8s-yaml", "YAML of kubectl or helm, by object kind", False, True, YamlStream, YamlStream
)
DESCRIBE = Form("describe", "what kubectl describe prints", True, False, DescribeStream)
ENV = Form("env", "what env or printenv prints", True, False, EnvironmentStream)

FORMS: Mapping[str, Form] = {form.name: form for form in (LOGS, JSON, YAML, DESCRIBE, ENV)}
"""Every form by its name."""
