"""The escapes of `$'…'` as bash decodes them."""

from __future__ import annotations

import re

_ESCAPE = re.compile(
    r"\\(?:(?P<octal>[0-7]{1,3})|x(?P<hex>[0-9A-Fa-f]{1,2})|u(?P<u>[0-9A-Fa-f]{1,4})"
    r"|U(?P<U>[0-9A-Fa-f]{1,8})|(?P<char>.))",
    re.DOTALL,
)
_NAMED = {
    "a": "\a",
    "b": "\b",
    "e": "\x1b",
    "E": "\x1b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
    "\\": "\\",
    "'": "'",
    '"': '"',
    "?": "?",
}


def decode(body: str) -> str | None:
    """Return the value of what stands between `$'` and `'`, or None where it is not certain.

    Uncertain are NUL (bash cuts the word there), bytes and code points beyond ASCII (they depend
    on the locale), and control escapes with `\\c`.
    """
    if "\\" not in body:
        return body
    out: list[str] = []
    at = 0
    for match in _ESCAPE.finditer(body):
        out.append(body[at : match.start()])
        at = match.end()
        char = match["char"]
        if char is not None:
            if char == "c" or not char.isascii():
                return None
            # Bash keeps the backslash of an escape that it does not know.
            out.append(_NAMED.get(char, f"\\{char}"))
            continue
        octal = match["octal"]
        code = int(octal, 8) if octal else int(match["hex"] or match["u"] or match["U"], 16)
        if not 0 < code < 0x80:
            return None
        out.append(chr(code))
    out.append(body[at:])
    return "".join(out)
