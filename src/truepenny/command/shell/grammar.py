"""tree-sitter's grammar of bash, called so that no text can end our process.

Its scanner looks characters up in tables of the C library that have no place for those beyond
ASCII: such a one in the name of a here-document reads outside of them, and sometimes the process
dies of it. So it only ever sees ASCII. Each byte of a longer character becomes a colon, an ordinary
part of a word to bash; places stay the same, so what a node holds is cut from the source itself.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Parser, Tree

_ASCII = bytes(byte if byte < 0x80 else ord(":") for byte in range(256))


def parse(source: bytes) -> Tree:
    """Return the tree of a line; offsets of its nodes are those of `source`."""
    return _parser().parse(source.translate(_ASCII))


@cache
def _parser() -> Parser:
    # Imported late: most commands of Truepenny read no shell line.
    import tree_sitter
    import tree_sitter_bash

    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))
