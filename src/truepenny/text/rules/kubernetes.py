"""Objects of Kubernetes that stand on one line: in a log, an annotation or a template's output."""

from __future__ import annotations

import re

from truepenny.text.rule import Rule, Span

MAX_OBJECT = 16_384
"""Characters on both sides of `data` in which the kind is looked for: a Secret with a certificate
chain and its metadata is smaller."""

_SECRET = re.compile(r"kind(?:\\{0,4}\"[ \t]*:[ \t]*\\{0,4}\"|:)\w*Secret(?![\w-])")


def _data(match: re.Match[str]) -> Span | None:
    """The values of a Secret: all between the braces, since names are no sign of what is secret."""
    text, at = match.string, match.start()
    begin = max(text.rfind("\n", 0, at) + 1, at - MAX_OBJECT)
    end = text.find("\n", at, at + MAX_OBJECT)
    end = min(len(text), at + MAX_OBJECT) if end < 0 else end
    if not _SECRET.search(text, begin, end):
        return None
    start, stop = match.span("json" if match.group("json") is not None else "map")
    return Span(start, stop, "}]\n") if text[start:stop].strip() else None


def _mapping(match: re.Match[str]) -> Span | None:
    """A mapping that begins here, on lines of its own."""
    text, at = match.string, match.end()
    lead = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
    if lead.strip(' \t-"'):
        return None
    return Span(at, at, "\n", "strings" if match.group("strings") else "data")


RULES = (
    Rule(
        "secret-mapping",
        ("stringData", "data:", 'data":'),
        r"(?P<strings>stringData)?(?:data)?\"?:[ \t]*\{?[ \t\r]*(?=\n)",
        (
            "stringData:\n  user: bob\n",
            '"stringData": {\n  "user": "bob"\n}',
            "data:\n  user: Ym9i\nkind: Secret\n",
            '"data": {\n  "user": "Ym9i"\n}',
        ),
        (
            "data:\n  color: darkblue\n  on: true\nkind: ConfigMap\n",
            "metadata:\n  name: Ym9i\n",
            '"data": {\n  "color": "blue"\n}',
            "payload data:\n  hello\n",
            "data:\n- Ym9i\n",
        ),
        locate=_mapping,
    ),
    Rule(
        "secret-data",
        ('data":', 'data\\":', 'Data":', 'Data\\":', "data:map[", "Data:map["),
        r"(?:data|Data)(?:\\{0,4}\"[ \t]*:[ \t]*\{(?P<json>[^{}\n]*)|:map\[(?P<map>[^\[\]\n]*))",
        (
            '{"apiVersion":"v1","data":{"user":"Ym9i"},"kind":"Secret"}',
            'patched {"kind": "Secret", "stringData": {"user": "bob"}}',
            '"{\\"kind\\":\\"Secret\\",\\"data\\":{\\"user\\":\\"Ym9i\\"}}"',
            "map[apiVersion:v1 data:map[user:Ym9i] kind:Secret]",
        ),
        (
            '{"apiVersion":"v1","data":{"color":"blue"},"kind":"ConfigMap"}',
            '{"kind":"Secret","data":{}}',
            '{"kind":"SecretStore","metadata":{"name":"a"},"data":{"color":"blue"}}',
            "map[data:map[color:blue] kind:ConfigMap]",
        ),
        locate=_data,
    ),
)
