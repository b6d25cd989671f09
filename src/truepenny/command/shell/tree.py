"""The second reading: what tree-sitter's grammar of bash makes of the same line.

It is reduced to a flat sequence of words, redirections and operators in the order of the line,
which is what the first reading is compared with. A node outside the short list below, a parse
error or a missing token ends it: None.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .ansi import decode
from .grammar import parse

if TYPE_CHECKING:
    from tree_sitter import Node

Token = tuple[str, ...]
"""`("w", value)`, `(">", descriptor, target)` by operator, or `("o", operator)`."""

_CONTAINERS = frozenset(
    (
        "program",
        "list",
        "pipeline",
        "command",
        "redirected_statement",
        "command_name",
        "variable_assignments",
    )
)
_OPERATORS = frozenset(("|", "|&", "&&", "||", ";", "&"))
_BARE = frozenset(("word", "number", "variable_name", "test_operator", "special_variable_name"))
_BACKSLASH = re.compile(r"\\(.)", re.DOTALL)
_IN_DOUBLE = re.compile(r'\\([$`"\\])')
_PARAMETER = re.compile(
    r"\$(?:([A-Za-z_][A-Za-z0-9_]*|[0-9?$!#@*_-])|\{([A-Za-z_][A-Za-z0-9_]*)\})"
)


class _Unreadable(Exception):
    """A node outside the list."""


def tokens(text: str) -> list[Token] | None:
    """Return the line as the grammar sees it, or None. Pure."""
    source = text.encode()
    root = parse(source).root_node
    if root.has_error:
        return None
    found: list[Token] = []
    try:
        _statement(source, root, found)
    except (_Unreadable, UnicodeDecodeError):
        return None
    return found


def _statement(source: bytes, node: Node, found: list[Token]) -> None:
    for child in node.children:
        kind = child.type
        if kind in _CONTAINERS:
            _statement(source, child, found)
        elif kind in _OPERATORS:
            found.append(("o", kind))
        elif kind == "file_redirect":
            _redirect(source, child, found)
        elif kind == "variable_assignment":
            found.append(("w", _assignment(source, child)))
        else:
            found.append(("w", _value(source, child)))


def _redirect(source: bytes, node: Node, found: list[Token]) -> None:
    descriptor, operator, target = "", "", None
    rest: list[Token] = []
    for child in node.children:
        if child.type == "file_descriptor":
            descriptor = _slice(source, child)
        elif not operator:
            operator = child.type
            if operator in ("<&-", ">&-"):
                operator, target = operator[:2], "-"
        elif target is None:
            target = _value(source, child)
        else:
            # The grammar hangs the words that follow on the redirection.
            rest.append(("w", _value(source, child)))
    if target is None:
        raise _Unreadable
    found.append((operator, descriptor, target))
    found.extend(rest)


def _assignment(source: bytes, node: Node) -> str:
    parts: list[str] = []
    at = node.start_byte
    for child in node.children:
        if child.start_byte != at:
            raise _Unreadable
        at = child.end_byte
        if child.type in ("=", "+=", "variable_name"):
            parts.append(_slice(source, child))
        else:
            parts.append(_value(source, child))
    return "".join(parts)


def _slice(source: bytes, node: Node) -> str:
    return source[node.start_byte : node.end_byte].decode()


def _value(source: bytes, node: Node) -> str:
    kind = node.type
    if kind in _BARE or not node.is_named:
        text = _slice(source, node)
        return _BACKSLASH.sub(r"\1", text) if "\\" in text else text
    if kind == "raw_string":
        return _slice(source, node)[1:-1]
    if kind == "string":
        return _string(source, node)
    if kind in ("concatenation", "brace_expression"):
        return _joined(source, node)
    if kind in ("simple_expansion", "expansion"):
        return _parameter(_slice(source, node))
    if kind == "ansi_c_string":
        value = decode(_slice(source, node)[2:-1])
        if value is not None:
            return value
    raise _Unreadable(kind)


def _parameter(text: str) -> str:
    match = _PARAMETER.fullmatch(text)
    if match is None:
        raise _Unreadable(text)
    return f"\0{match[1] or match[2]}\0"


def _joined(source: bytes, node: Node) -> str:
    parts: list[str] = []
    at = node.start_byte
    for child in node.children:
        if child.start_byte != at:
            raise _Unreadable
        at = child.end_byte
        parts.append(_value(source, child))
    if at != node.end_byte:
        raise _Unreadable
    return "".join(parts)


def _string(source: bytes, node: Node) -> str:
    # By offsets, since the grammar gives blanks next to an expansion to neither of its nodes.
    parts: list[str] = []
    at = node.start_byte + 1
    for child in node.children:
        if child.type in ("simple_expansion", "expansion"):
            parts.append(_unescaped(source[at : child.start_byte]))
            parts.append(_parameter(_slice(source, child)))
            at = child.end_byte
        elif child.is_named and child.type != "string_content":
            raise _Unreadable(child.type)
    parts.append(_unescaped(source[at : node.end_byte - 1]))
    return "".join(parts)


def _unescaped(content: bytes) -> str:
    return _IN_DOUBLE.sub(r"\1", content.decode())
