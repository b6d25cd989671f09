"""What data cannot say about a few programs, each as a function over their checked arguments.

A judge raises Fault. It sees what the grammar let through, and only ever narrows it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from truepenny.command.sensitive.metadata import metadata_host

from .arguments import Arguments, Fault

Judge = Callable[[Arguments], None]

_JQ_REACH = re.compile(
    r"\$ENV|\$__prog|(?<![.\w\"'$@-])(?:env|import|include|modulemeta|get_search_list|input_line_number"
    r"|getpath_env|debug_env)(?![\w\"'])(?!\s*:)"
)
_JQ_OPERATOR_ENV = re.compile(r"\\\(\s*env\b|\{\s*env\s*\}")
_YQ_REACH = re.compile(
    r"(?<![.\w-])(?:load\w*|strload|env|strenv|envsubst|eval|system|exec|filename_load)\s*(?=[(|)\s,\]}]|$)"
)
_URL = re.compile(
    r"(?:(?:https?)://)?(?:[A-Za-z0-9][A-Za-z0-9._-]*|\[[0-9A-Fa-f:.%]+\])(?::[0-9]{1,5})?"
    r"(?:[/?#][^\s\\]*)?",
    re.IGNORECASE,
)
_GUESSED = re.compile(r"(?:ftps?|dict|ldaps?|imaps?|smtps?|pop3s?)\.", re.IGNORECASE)
_SECRETS_API = re.compile(r"/apis?/.*secrets?(?:/|\?|#|$)", re.IGNORECASE)
_PS_COLUMNS = re.compile(r"[A-Za-z0-9_%,:= -]+")
_PS_LONG = re.compile(
    r"--(?:forest|no-headers?|headers?|deselect|cumulative|help|info|version"
    r"|(?:pid|ppid|sort|user|User|group|Group|tty|sid|cols|columns|width|lines|rows|format)"
    r"(?:=.+)?)"
)
_PS_BSD = re.compile(r"[aAcfghjklLmnNoOpqrsStTuUvVwxXZH]+")
_PS_UNIX = re.compile(r"-[AacCdefFgGHjlLmMnNoOpPqsStTuUVwxyZ]+")
_SUBSCRIPT = re.compile(r"\[")
_CONVERSION = re.compile(r"%[-+ #0]*(?:[0-9]+|\*)?(?:\.(?:[0-9]+|\*))?n")


def _jq(arguments: Arguments) -> None:
    for word in arguments.operands[:1]:
        match = _JQ_REACH.search(word.text) or _JQ_OPERATOR_ENV.search(word.text)
        if match is not None:
            raise Fault("expression", match[0], f"{match[0]!r} reaches beyond the input")


def _yq(arguments: Arguments) -> None:
    for word in arguments.operands[:1]:
        match = _YQ_REACH.search(word.text)
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


def _ps(arguments: Arguments) -> None:
    """Both dialects of ps; its `e` without a dash shows the environment of each process."""
    columns = False
    value = ""
    for word in arguments.operands:
        text = word.text
        if not word.literal or not text:
            raise Fault("expansion_in_flag", word.raw, "the arguments of ps are written out")
        if columns or value:
            shown = text[1:] if value.startswith("--sort") and text[:1] == "-" else text
            if (
                not _PS_COLUMNS.fullmatch(shown)
                or shown.startswith("-")
                or "environ" in text.lower()
            ):
                raise Fault("flag_value", text, "this is no list of columns, ids or names")
            columns, value = False, ""
        elif text.startswith("--"):
            name, equals, _ = text.partition("=")
            if not _PS_LONG.fullmatch(text) or "environ" in text.lower():
                raise Fault("flag", text, f"{text} is not one of the flags that may be used")
            value = name if not equals and name[2:] in _PS_TAKES else ""
        elif text.startswith("-"):
            columns, value = _ps_dashed(text)
        elif text.isdecimal() or re.fullmatch(r"[0-9]+(?:,[0-9]+)+", text):
            continue
        else:
            columns, value = _ps_bsd(text)
    if columns or value:
        raise Fault("flag_value", value, "a value is missing")


_PS_TAKES = frozenset(
    (
        *("pid", "ppid", "sort", "user", "User", "group", "Group", "tty", "sid"),
        *("cols", "columns", "width", "lines", "rows", "format"),
    )
)


def _ps_dashed(text: str) -> tuple[bool, str]:
    body = text[1:]
    for at, letter in enumerate(body):
        if letter in "oO":
            rest = body[at + 1 :]
            if rest and (not _PS_COLUMNS.fullmatch(rest) or "environ" in rest.lower()):
                raise Fault("flag_value", rest, "this is no list of columns")
            return not rest, ""
        if letter in "pqCGUgstu":
            rest = body[at + 1 :]
            # `-aux` is read again as BSD flags where there is no user x, and `e` would count.
            if rest and letter in "uUG" and "e" in rest:
                raise Fault("flag", text, "write the user as a word of its own")
            if not rest:
                # `-u` and `-ef -u`: a user follows, unless the cluster is BSD-like (`-au`).
                return False, f"-{letter}"
            if letter in "pqCGg" or letter in "stU":
                if not _PS_COLUMNS.fullmatch(rest):
                    raise Fault("flag_value", rest, "this is no list of ids or names")
                return False, ""
    if not _PS_UNIX.fullmatch(text):
        raise Fault("flag", text, f"{text} is not one of the flags that may be used")
    return False, ""


def _ps_bsd(text: str) -> tuple[bool, str]:
    if "e" in text.partition("o")[0]:
        raise Fault("flag", text, "e shows the environment of each process")
    letters, option, rest = text.partition("o")
    if not option:
        letters, option, rest = text.partition("O")
    if letters and not _PS_BSD.fullmatch(letters):
        raise Fault("flag", text, f"{text} is not one of the flags that may be used")
    if option and rest and (not _PS_COLUMNS.fullmatch(rest) or "environ" in rest.lower()):
        raise Fault("flag_value", rest, "this is no list of columns")
    if option:
        return not rest, ""
    return False, text[-1] if text and text[-1] in "kpqtU" else ""


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
