"""Reading a line the way bash does, twice, and only where both readings agree."""

from .reading import read_line
from .word import Line, Piece, Redirection, SimpleCommand, Word

__all__ = ["Line", "Piece", "Redirection", "SimpleCommand", "Word", "read_line"]
