"""The class of a line: that of its gravest command, `unknown` where it cannot be read.

A line that cannot be read is still searched for the names of what destroys, so that a quote out of
place does not make it look lighter. This is ergonomics: what holds is the sandbox (field.md B4).
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from truepenny.command.check import Admitted, check
from truepenny.command.refusal import Refusal
from truepenny.command.sensitive.place import normalised
from truepenny.command.shell import Line, SimpleCommand, read_line

from .rule import GRAVITY, RiskClass, Rule, by_program, recognised, rules

MAX_DEPTH = 3
"""How many `sh -c` are opened, one in the other."""

MAX_CHAIN = 6
"""Recognised commands in one chain of `&&`."""

_SHELLS = frozenset(("sh", "bash", "dash", "zsh", "ksh", "ash"))
_DASH_C = re.compile(r"-[a-zA-Z]*c[a-zA-Z]*")
_PASSING = {
    "env": re.compile(r"-[iu0]+|[A-Za-z_]\w*=.*"),
    "timeout": re.compile(r"-\S+|[0-9.]+[smhd]?"),
    "nice": re.compile(r"-n|-?[0-9]+|--adjustment=\S+"),
    "ionice": re.compile(r"-\S+|[0-9]"),
    "nohup": re.compile(r"(?!)"),
    "setsid": re.compile(r"-\S+"),
    "stdbuf": re.compile(r"-\S+"),
    "time": re.compile(r"-\S+"),
    "command": re.compile(r"-p"),
    "exec": re.compile(r"-\S+"),
    "xargs": re.compile(r"-\S+|[0-9]+|\{\}"),
    "watch": re.compile(r"-\S+|[0-9.]+"),
    "builtin": re.compile(r"(?!)"),
}
"""Programs that run the rest of their words, with the words of their own that are skipped."""

_ROOTS = ("/etc", "/usr", "/var", "/bin", "/sbin", "/run", "/lib", "/boot", "/dev", "/sys", "/proc")
_ROOTS_FINE = ("/var/tmp", "/var/folders", "/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty")
_TEMPORARY = ("/tmp", "/var/tmp", "/var/folders")
_WRITERS = frozenset(("tee", "cp", "mv", "ln", "mkdir", "touch", "install", "sed", "rm", "rmdir"))
_BOMB = re.compile(r":\s*\(\s*\)\s*\{.*\|.*&.*\}")
_PIPED_SHELL = re.compile(r"\b(?:curl|wget|fetch)\b.*\|\s*(?:sudo\s+)?(?:\S*/)?(?:ba|da|z|k)?sh\b")
_WORD = re.compile(r"[A-Za-z0-9_./~^@:=+,-]+")


@dataclass(frozen=True, slots=True)
class Risk:
    """`rules` name what made the class, gravest first. `unreadable` is the reader's machine word.

    `recognised` lines need no person at the level that edits alone; a line that cannot be read
    always needs one.
    """

    risk: RiskClass
    rules: tuple[str, ...] = ()
    recognised: bool = False
    unreadable: str = ""


def shell_projection(argv: Sequence[str]) -> str:
    """Return the line that stands for an argument list, for judging only; it is never run."""
    return shlex.join(argv)


def classify(text: str, *, workspace: str = "") -> Risk:
    """Return the risk of a line. Pure. `workspace` is the absolute folder where it may write."""
    return _classify(text, workspace, 0)


def _classify(text: str, workspace: str, depth: int) -> Risk:
    line = read_line(text)
    if isinstance(line, Refusal):
        return _unreadable(text, line.rejected_by)
    findings: list[tuple[RiskClass, str]] = []
    piped_into_shell = _PIPED_SHELL.search(text) is not None
    if piped_into_shell:
        findings.append((RiskClass.SYSTEM_MODIFY, "download_into_shell"))
    for command in line.commands:
        findings += _command(command, workspace, depth)
    away = any(command.argv[:1] in (("cd",), ("pushd",)) for command in line.commands)
    if away and any(risk is RiskClass.WRITE for risk, _ in findings) and _leaves(line, workspace):
        findings.append((RiskClass.SYSTEM_MODIFY, "writes_elsewhere"))
    findings.sort(key=lambda finding: GRAVITY.index(finding[0]), reverse=True)
    gravest = findings[0][0] if findings else RiskClass.READ
    names = tuple(dict.fromkeys(name for risk, name in findings if risk is gravest and name))
    unread = next((name for risk, name in findings if risk is RiskClass.UNKNOWN), "")
    return Risk(gravest, names, _recognised(line), unread)


def _unreadable(text: str, reason: str) -> Risk:
    """Search a line that cannot be read for what would be graver than not knowing."""
    if _BOMB.search(text):
        return Risk(RiskClass.SYSTEM_MODIFY, ("fork_bomb",), unreadable=reason)
    if _PIPED_SHELL.search(text):
        return Risk(RiskClass.SYSTEM_MODIFY, ("download_into_shell",), unreadable=reason)
    words = _WORD.findall(text)
    found: list[Rule] = []
    for at, word in enumerate(words):
        for rule in by_program().get(word.rpartition("/")[2], ()):
            grave = GRAVITY.index(rule.risk) > GRAVITY.index(RiskClass.UNKNOWN)
            if grave and rule.applies(" ".join(words[at + 1 :])):
                found.append(rule)
    if not found:
        return Risk(RiskClass.UNKNOWN, unreadable=reason)
    gravest = max((rule.risk for rule in found), key=GRAVITY.index)
    names = tuple(dict.fromkeys(rule.name for rule in found if rule.risk is gravest))
    return Risk(gravest, names, unreadable=reason)


def _command(command: SimpleCommand, workspace: str, depth: int) -> Iterator[tuple[RiskClass, str]]:
    for redirection in command.redirections:
        if redirection.operator.startswith(("<", ">&")):
            continue
        target = redirection.target
        if target.text in ("/dev/null", "/dev/stdout", "/dev/stderr"):
            continue
        yield _written(target.text, workspace, literal=target.literal)
    if not command.words:
        return
    yield from _argv(command.argv, workspace, depth, literal=command.literal)


def _argv(
    argv: Sequence[str], workspace: str, depth: int, *, literal: bool
) -> Iterator[tuple[RiskClass, str]]:
    name = argv[0].rpartition("/")[2]
    rest = list(argv[1:])
    if not literal and argv[0].startswith("$"):
        yield RiskClass.UNKNOWN, "program"
        return
    if name in _SHELLS:
        yield from _shell(rest, workspace, depth)
        return
    about = by_program().get(name, ())
    arguments = " ".join(rest)
    matched = [rule for rule in about if rule.applies(arguments)]
    for rule in matched:
        yield rule.risk, rule.name
    if name == "sudo" or name == "doas":
        while rest and (rest[0].startswith("-") or "=" in rest[0]):
            rest.pop(0)
        if rest:
            yield from _argv(rest, workspace, depth, literal=literal)
        return
    own = _PASSING.get(name)
    if own is not None:
        while rest and own.fullmatch(rest[0]):
            rest.pop(0)
        yield RiskClass.EXECUTE, f"runs_by_{name}"
        if rest:
            yield from _argv(rest, workspace, depth, literal=literal)
        return
    if name in _WRITERS and any(rule.risk is not RiskClass.READ for rule in matched):
        for word in rest:
            if not word.startswith("-") and ("/" in word or word.startswith("~")):
                yield _written(word, workspace, literal=True)
    if matched:
        return
    # Reads that are allowed on a node read here too; whatever else it is runs something.
    admitted = literal and isinstance(check(shell_projection(argv), "node"), Admitted)
    if admitted or name in _FILTERS or name in _MOVES:
        yield RiskClass.READ, ""
    else:
        yield RiskClass.EXECUTE, ""


_FILTERS = frozenset(
    (
        *("cat", "ls", "grep", "egrep", "fgrep", "head", "tail", "wc", "cut", "tr", "uniq"),
        *("sort", "nl", "echo"),
    )
)
"""Programs that write no file but by the rules about them; secrets are judged elsewhere."""

_MOVES = frozenset(("cd", "pushd", "popd"))


def _shell(rest: Sequence[str], workspace: str, depth: int) -> Iterator[tuple[RiskClass, str]]:
    at = next((at for at, word in enumerate(rest) if _DASH_C.fullmatch(word)), None)
    if at is None or at + 1 >= len(rest):
        yield RiskClass.EXECUTE, "script"
        return
    if depth >= MAX_DEPTH:
        yield RiskClass.UNKNOWN, "too_deep"
        return
    inner = _classify(rest[at + 1], workspace, depth + 1)
    yield inner.risk, ""
    for name in inner.rules:
        yield inner.risk, name
    if inner.unreadable and inner.risk is RiskClass.UNKNOWN:
        yield RiskClass.UNKNOWN, inner.unreadable


def _written(target: str, workspace: str, *, literal: bool) -> tuple[RiskClass, str]:
    """What writing to a path comes to; a path that is not certain counts as one outside."""
    if not literal or target.startswith("~"):
        return RiskClass.SYSTEM_MODIFY, "writes_outside"
    path = normalised(target)
    if path.startswith("/"):
        if _below(path, _TEMPORARY) or (workspace and _below(path, (workspace.rstrip("/"),))):
            return RiskClass.WRITE, "writes_files"
        if _below(path, _ROOTS) and not _below(path, _ROOTS_FINE):
            return RiskClass.SYSTEM_MODIFY, "writes_system"
        return RiskClass.SYSTEM_MODIFY, "writes_outside"
    if path == ".." or path.startswith("../"):
        return RiskClass.SYSTEM_MODIFY, "writes_outside"
    return RiskClass.WRITE, "writes_files"


def _below(path: str, folders: Sequence[str]) -> bool:
    return any(path == folder or path.startswith(f"{folder}/") for folder in folders)


def _leaves(line: Line, workspace: str) -> bool:
    """Whether a `cd` goes out of the workspace."""
    for command in line.commands:
        if command.argv[:1] not in (("cd",), ("pushd",)):
            continue
        target = command.argv[1] if len(command.argv) > 1 else "~"
        if target.startswith("~") or target == "-" or not command.literal:
            return True
        path = normalised(target)
        if path.startswith("/"):
            inside = workspace and PurePosixPath(path).is_relative_to(workspace)
            if not inside and not _below(path, _TEMPORARY):
                return True
        elif path == ".." or path.startswith("../"):
            return True
    return False


def _recognised(line: Line) -> bool:
    if len(line.commands) > MAX_CHAIN or line.end or any(op != "&&" for op in line.operators):
        return False
    shape = recognised()
    return all(
        command.literal
        and not command.redirections
        and not command.assignments
        and all(_WORD.fullmatch(word) for word in command.argv)
        and shape.fullmatch(" ".join(command.argv)) is not None
        for command in line.commands
    )


__all__ = ["MAX_DEPTH", "Risk", "RiskClass", "classify", "rules", "shell_projection"]
