"""The two dialects of ps, read so that the environment of processes is never shown.

Without a dash, `e` shows environments. And where ps cannot make sense of flags with a dash, it
reads the whole command line again as if they had none: `ps -ex` and `ps -eHT` show environments
(procps 4, found by trying all clusters of three letters). So a command with an `e` that could be
read that way has only flags that are known to go together.
"""

from __future__ import annotations

import re

from .arguments import Arguments, Fault

_COLUMNS = re.compile(r"[A-Za-z0-9_%,:= +-]+")
_NAMES = re.compile(r"[A-Za-z0-9_.,:/@-]+")
_LONG = re.compile(
    r"--(?:forest|no-headers?|headers?|deselect|cumulative|help|info|version)"
    r"|--(?:pid|ppid|sort|user|User|group|Group|tty|sid|cols|columns|width|lines|rows|format)"
    r"(?:=.+)?"
)
_LONG_SWITCH = re.compile(
    r"--(?:forest|no-headers?|headers?|deselect|cumulative|help|info|version)"
)
_DASHED = frozenset("AaCcdefFgGHjlLmMNoOpPqsStTuUVwxyZ")
_BSD = re.compile(r"[aAcfghjlLmnNrsStTuvVwxXZH]*[koOpqtU]?")
_TOGETHER = frozenset("AdefFlLyjHwoOpqCuUgG")
"""Flags with a dash that never make ps read again, in any combination of those tried."""

_PIDS = re.compile(r"[0-9]+(?:,[0-9]+)*")
_USUAL = (("aux",), ("-ef",), ("-eo", "pid,ppid,stat,args"))


def judge(arguments: Arguments) -> None:
    """Raise Fault for what may show an environment or is not understood."""
    words = arguments.operands
    letters: set[str] = set()
    undashed = named = False
    at = 0
    while at < len(words):
        word = words[at]
        text = word.text
        at += 1
        if not word.literal or not text:
            raise Fault("expansion_in_flag", word.raw, "the arguments of ps are written out")
        taker = ""
        if text.startswith("--"):
            if not _LONG.fullmatch(text):
                raise _unknown(text)
            name, equals, value = text.partition("=")
            if equals:
                _value(name, value)
            elif not _LONG_SWITCH.fullmatch(text):
                taker = name
        elif text.startswith("-"):
            taker, value = _dashed(text, letters)
            named |= "e" in value
        elif _PIDS.fullmatch(text):
            undashed = True
        else:
            undashed = True
            taker = _undashed(text)
        if taker:
            if at >= len(words):
                raise Fault("flag_value", text, f"{text} needs a value")
            value = words[at].text
            at += 1
            _value(taker, value)
            named |= taker in _NAMING and "e" in value
    if ("e" in letters or named) and (undashed or not letters <= _TOGETHER):
        raise Fault(
            "flag",
            " ".join(word.text for word in words),
            "ps may read these flags as e, which shows the environment of each process",
            _USUAL,
        )


_NAMING = frozenset(("-u", "-U", "-g", "-G", "-C", "-t", "-s", "-q"))
"""Flags whose value could be read again as a cluster of letters."""


def _dashed(text: str, letters: set[str]) -> tuple[str, str]:
    """Return the flag that takes the next word, or the value that was glued to one."""
    body = text[1:]
    for at, letter in enumerate(body):
        if letter not in _DASHED:
            raise _unknown(text)
        letters.add(letter)
        if letter in "oOpqCGUgstu":
            rest = body[at + 1 :]
            if not rest:
                return f"-{letter}", ""
            _value(f"-{letter}", rest)
            if letter not in "oOp":
                # A user that is not there makes ps read the cluster again (`-euT`).
                letters.add("glued")
            return "", rest if letter not in "oO" else ""
    return "", ""


def _undashed(text: str) -> str:
    """Return the flag that takes the next word, if the cluster ends with one."""
    columns = re.fullmatch(r"([a-zA-Z]*?)([oOk])(.+)", text)
    if columns is not None and _BSD.fullmatch(columns[1]):
        _value(columns[2], columns[3])
        return ""
    if "e" in text:
        raise Fault("flag", text, "e shows the environment of each process", _USUAL)
    if not _BSD.fullmatch(text):
        raise _unknown(text)
    return text[-1] if text[-1] in "koOpqtU" else ""


def _value(taker: str, value: str) -> None:
    shape = _COLUMNS if taker in _OF_COLUMNS else _NAMES
    signed = taker in ("--sort", "k")
    if (
        not shape.fullmatch(value)
        or (value.startswith("-") and not signed)
        or "environ" in value.lower()
    ):
        raise Fault("flag_value", value, f"this is no value of {taker}")


_OF_COLUMNS = frozenset(("-o", "-O", "o", "O", "k", "--format", "--sort"))


def _unknown(text: str) -> Fault:
    return Fault("flag", text, f"{text} is not one of the flags that may be used", _USUAL)
