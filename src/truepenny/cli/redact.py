"""`truepenny redact`: what the redactor makes of a text, as a filter."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

from truepenny.errors import UsageError

from .failure import FAILED, Finished, say
from .workbench import Workbench

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from truepenny.diagnose.sanitize.form import Sanitizer

CHUNK = 64 * 1024
"""Bytes that are read at once."""


def _forms(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from click.shell_completion import CompletionItem

    from truepenny.diagnose.sanitize.form import FORMS

    return [
        CompletionItem(form.name, help=form.meaning)
        for form in FORMS.values()
        if form.name.startswith(incomplete)
    ]


@click.command(epilog="Example: truepenny redact --as k8s-json < pods.json")
@click.option(
    "--as",
    "form",
    metavar="FORM",
    default="logs",
    show_default=True,
    shell_complete=_forms,
    help="What comes in: logs, k8s-json, k8s-yaml, describe or env.",
)
@click.option(
    "--json-path",
    "path",
    metavar="PATH",
    help="Print only what PATH leads to, such as .items[].metadata.name (k8s-json, k8s-yaml).",
)
def redact(form: str, path: str | None) -> None:
    """Copy standard input to standard output without its secrets.

    Each becomes [REDACTED:rule]. What was redacted is counted on standard error; no notice means
    that nothing was. The values and rules of your settings (redact.values, redact.rules) count too.

    \b
    logs       log lines and any other text
    k8s-json   JSON of kubectl, crictl, helm or docker, by object kind
    k8s-yaml   YAML of kubectl or helm, by object kind
    describe   what kubectl describe prints
    env        what env or printenv prints

    Exits with 1 where a part could not be read by its structure and is not shown, or PATH leads
    nowhere.
    """
    from truepenny.diagnose.sanitize.form import FORMS
    from truepenny.diagnose.sanitize.json_path import parse_path

    chosen = FORMS.get(form)
    if chosen is None:
        raise UsageError(
            f"there is no form {form!r}", where="--as", remedy=f"There are: {', '.join(FORMS)}."
        )
    redactor = Workbench().redactor
    if path is None:
        sanitizer = chosen.open(redactor)
    elif chosen.project is None:
        raise UsageError(
            f"{form} has no structure that a path could follow",
            where="--json-path",
            remedy="Use it with --as k8s-json or --as k8s-yaml.",
        )
    else:
        sanitizer = chosen.project(redactor, parse_path(path))
    _filter(sanitizer)


def _filter(sanitizer: Sanitizer) -> None:
    from truepenny.diagnose.sanitize.json_document import JsonStream
    from truepenny.diagnose.sanitize.json_path import BadPath
    from truepenny.diagnose.sanitize.notice import notices
    from truepenny.diagnose.sanitize.yaml_document import YamlStream
    from truepenny.text.decode import Decoder

    decoder = Decoder()
    try:
        while data := _read():
            _write(sanitizer.feed(decoder.feed(data)))
        _write(sanitizer.feed(decoder.finish()) + sanitizer.finish())
    except BadPath as error:
        say(str(error))
        raise Finished(FAILED) from None
    if decoder.bad_count:
        first = decoder.bad[0].offset
        count = "1 byte is" if decoder.bad_count == 1 else f"{decoder.bad_count} bytes are"
        say(f"{count} not UTF-8, the first at {first}: written as \\xNN")
    for notice in notices(sanitizer):
        say(notice)
    if isinstance(sanitizer, (JsonStream, YamlStream)) and sanitizer.lost:
        raise Finished(FAILED)


def _read() -> bytes:
    try:
        return os.read(0, CHUNK)
    except OSError as error:
        raise UsageError(error.strerror or str(error), where="standard input") from error


def _write(text: str) -> None:
    """Write it at once: whoever follows a log must not wait for a full buffer."""
    if text:
        sys.stdout.write(text)
        sys.stdout.flush()
