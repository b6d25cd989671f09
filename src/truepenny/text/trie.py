"""Make one regular expression of many literals, in which shared beginnings are tried once.

A plain alternation tries each literal at each position; this tries one character after another.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_END = ""


class _Node(dict[str, "_Node"]):
    """Children by character; the key "" says that a literal ends here."""


def trie_pattern(literals: Iterable[str]) -> re.Pattern[str]:
    """Compile a pattern that finds any of the literals, the longest one at a position.

    Raises ValueError where there is no literal or an empty one.
    """
    root = _Node()
    for literal in literals:
        if not literal:
            raise ValueError("an empty literal would match everywhere")
        node = root
        for char in literal:
            node = node.setdefault(char, _Node())
        node[_END] = _Node()
    if not root:
        raise ValueError("no literals")
    return re.compile(_render(root))


def _render(root: _Node) -> str:
    """Write the tree as text, without recursion: a literal may be a thousand characters long."""
    done: dict[int, str] = {}
    stack = [(root, False)]
    while stack:
        node, ready = stack.pop()
        if not ready:
            stack.append((node, True))
            stack.extend((child, False) for key, child in node.items() if key != _END)
            continue
        branches = [re.escape(key) + done.pop(id(child)) for key, child in node.items() if key]
        if not branches:
            done[id(node)] = ""
        elif _END in node:
            done[id(node)] = f"(?:{'|'.join(branches)})?"
        else:
            done[id(node)] = branches[0] if len(branches) == 1 else f"(?:{'|'.join(branches)})"
    return done[id(root)]
