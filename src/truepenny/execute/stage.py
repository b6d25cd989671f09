"""The stages of a shell line's last pipeline: which program each of them runs.

Read from the syntax tree, never guessed from the text: where the tree is not whole, or the line
does not surely end in a pipeline or one plain command, there is no answer.
"""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from truepenny.command.shell.grammar import parse

if TYPE_CHECKING:
    from tree_sitter import Node

MOST_BYTES = 64 * 1024
"""Of a longer line nothing is read: it is a program, whose last line says little."""

_WORDS = frozenset({"word", "number", "string", "raw_string", "concatenation", "simple_expansion"})
_ENDING = frozenset({"exit", "return", "exec", "set", "shopt", "kill", "logout"})
"""Commands after which a shell may end sooner than its text."""

_OPAQUE = frozenset({"trap", "eval", "source", "."})
"""Commands that run what is not in sight."""

_PREFIXES = frozenset({"command", "builtin", "nohup", "time"})
"""Words before a program that pass its own exit code on."""


def stages(line: str) -> tuple[tuple[str, ...], ...] | None:
    """Return the words of each stage, quotes taken off; a stage that is no plain command is `()`.

    None where the line does not surely end in a pipeline or a plain command: where something
    before it has stages of its own or is not in sight. After `&&`, `||` or what may end the shell
    (`set -e`) there is an answer for a pipeline alone, which did run if there are several statuses;
    of a plain command nobody can tell whether it ran.
    """
    data = line.encode("utf-8", "surrogatepass")
    if len(data) > MOST_BYTES:
        return None
    root = parse(data).root_node
    if root.has_error:
        return None
    statements = [node for node in root.children if node.type not in ("comment", "\n", ";")]
    if not statements or not statements[-1].is_named:
        return None  # Nothing, or it ends with `&`: in the background its end is not this one's.
    *before, node = statements
    chained = False
    while node.type in ("redirected_statement", "list"):
        if node.type == "list":
            chained = True
            before += node.named_children[:-1]
            node = node.named_children[-1]
        else:
            node = node.child_by_field_name("body") or node.named_children[0]
    names = [_name(one) for one in before]
    if None in names or not _OPAQUE.isdisjoint(names):
        return None
    if node.type in ("command", "test_command"):
        sure = not chained and _ENDING.isdisjoint(names)
        return (_words(node),) if sure else None
    if node.type != "pipeline" or node.named_children[0].type == "negated_command":
        return None
    return tuple(_words(_inner(child)) for child in node.named_children)


def _name(node: Node) -> str | None:
    """Return the program of a statement that has no stages of its own, None for any other."""
    node = _inner(node)
    if node.type == "variable_assignment":
        return ""
    words = _words(node) if node.type in ("command", "test_command") else ()
    return words[0] if words else None


def _inner(node: Node) -> Node:
    body = node.child_by_field_name("body") if node.type == "redirected_statement" else None
    return body or node


def _words(node: Node) -> tuple[str, ...]:
    if node.type == "test_command":
        return ("[",)
    if node.type != "command":
        return ()
    found: list[str] = []
    for child in node.named_children:
        if child.type == "command_name" or child.type in _WORDS:
            found.append(_plain(child))
    while len(found) > 1 and found[0] in _PREFIXES:
        del found[0]
    return (posixpath.basename(found[0]), *found[1:]) if found else ()


def _plain(node: Node) -> str:
    text = (node.text or b"").decode("utf-8", "replace")
    if len(text) >= 2 and text[0] == text[-1] and text[0] in "'\"":
        return text[1:-1]
    return text
