"""What data cannot say about a few programs, each as a function over their checked arguments.

A judge raises Fault. It sees what the grammar let through, and only ever narrows it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from truepenny.command.sensitive.metadata import metadata_host

from .arguments import Arguments, Fault
from .ps import judge as _ps

Judge = Callable[[Arguments], None]

_JQ_REACH = re.compile(
    r"\$\s*(?:ENV|__prog)\w*"
    r"|(?<![.\w\"$@])(?:env|import|include|modulemeta|get_search_list)(?![\w\"])(?!\s*:)"
)
_PATH = re.compile(r"\.[A-Za-z_][\w-]*")
_YQ_REACH = re.compile(
    r"(?<![.\w])(?:load\w*|strload|env|strenv|envsubst|eval|system|exec|filename_load)"
    r"\s*(?=[(|)\s,\]}]|$)"
)
_URL = re.compile(
    r"(?:(?:https?)://)?(?:[A-Za-z0-9][A-Za-z0-9._-]*|\[[0-9A-Fa-f:.%]+\])(?::[0-9]{1,5})?"
    r"(?:[/?#][^\s\\]*)?",
    re.IGNORECASE,
)
_GUESSED = re.compile(r"(?:ftps?|dict|ldaps?|imaps?|smtps?|pop3s?)\.", re.IGNORECASE)
_SECRETS_API = re.compile(r"/apis?/.*secrets?(?:/|\?|#|$)", re.IGNORECASE)
_SUBSCRIPT = re.compile(r"\[")
_CONVERSION = re.compile(r"%[-+ #0]*(?:[0-9]+|\*)?(?:\.(?:[0-9]+|\*))?n")


def _jq(arguments: Arguments) -> None:
    for word in arguments.operands[:1]:
        match = _JQ_REACH.search(word.text)
        if match is not None:
            raise Fault("expression", match[0], f"{match[0]!r} reaches beyond the input")


def _yq(arguments: Arguments) -> None:
    """Two programs have this name; one of them hands its expression to jq."""
    _jq(arguments)
    for word in arguments.operands[:1]:
        match = _YQ_REACH.search(_PATH.sub(".key", word.text))
        if match is not None:
            raise Fault("expression", match[0], f"{match[0]!r} reaches beyond the input")


def _curl(arguments: Arguments) -> None:
    for name, value in arguments.flags:
        if value is None:
            continue
        if value.startswith("@"):
            raise Fault("file_value", value, "a value that begins with @ reads a file")
        if name in ("-w", "--write-out") and ("%output" in value or "%{stderr" in value):
            raise Fault("flag_value", value, "the format writes files")
        if name in ("-b", "--cookie") and "=" not in value:
            raise Fault("file_value", value, "a cookie without = is the name of a file")
        if name in ("-x", "--proxy"):
            _url(value)
        if name in ("-H", "--header") and "\n" in value:
            raise Fault("flag_value", value, "a header is one line")
    urls = [word.text for word in arguments.operands] + arguments.values("--url")
    if not urls and not arguments.has(frozenset(("-V", "--version"))):
        raise Fault("operand", "", "curl needs an address")
    for url in urls:
        _url(url)


def _url(url: str) -> None:
    scheme, separator, _ = url.partition("://")
    if separator and scheme.lower() not in ("http", "https"):
        raise Fault("scheme", url, "only http and https addresses are read")
    if _URL.fullmatch(url) is None or _GUESSED.match(url):
        raise Fault("scheme", url, "this is no plain http or https address")
    host = metadata_host(url)
    if host:
        raise Fault("sensitive_path", host, "instance metadata hands out credentials")
    if any(char in url for char in "{}[]") and "[" not in url.partition("/")[0] + url[:9]:
        raise Fault("scheme", url, "patterns in addresses are not used")
    if _SECRETS_API.search(url):
        raise Fault("secret_values", url, "the values of Secrets are not read")


def _printf(arguments: Arguments) -> None:
    words = arguments.operands
    if not words:
        raise Fault("operand", "", "printf needs a format")
    first = words[0].text
    if first.startswith("-") and first not in ("--", "-"):
        raise Fault("flag_refused", first, "printf -v sets a variable of the shell")
    form = words[1].text if first == "--" and len(words) > 1 else first
    if _CONVERSION.search(form):
        raise Fault("expression", "%n", "%n sets a variable of the shell")


def _test(arguments: Arguments) -> None:
    for word in arguments.operands:
        if word.text in ("-v", "-R"):
            raise Fault("flag_refused", word.text, "it evaluates names of the shell")
        if word.expands:
            continue
        if _SUBSCRIPT.search(word.text):
            raise Fault("expression", word.raw, "subscripts are evaluated by the shell")


JUDGES: Mapping[str, Judge] = {
    "curl": _curl,
    "jq": _jq,
    "printf": _printf,
    "ps": _ps,
    "test": _test,
    "yq": _yq,
}
"""By the name that the data gives (`judge = "…"`)."""
