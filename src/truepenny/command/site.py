"""Programs that a site adds to the tables: additive, declarative, and never one that runs others.

The file has the form of a built-in table (`program.load`), without judges. A name that is built in
stays as it is and is reported; a forbidden name, a broken table or a program that could name
itself out of the rules is an error with its place (spec/diagnostics.md 3.10).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .instead import forbidden
from .program.grammar import Program
from .program.load import TableInvalid, programs
from .program.load import read as read_table

MAX_PROGRAMS = 200
"""More than a site has reason to add."""


@dataclass(frozen=True, slots=True)
class Site:
    """`programs` are those added, by name; `skipped` the names that were built in already."""

    programs: Mapping[str, Program]
    skipped: tuple[str, ...] = ()


def read(text: str, place: str) -> Site:
    """Return what a site's table adds. `place` names the file in errors. Raises TableInvalid."""
    added: dict[str, Program] = {}
    skipped: list[str] = []
    for program in read_table(text, place, judges=False):
        name = program.name
        where = f"{place}: {name}"
        if forbidden(name):
            raise TableInvalid(f"{where}: it runs whatever it is given, and is never allowed")
        if program.grammar.style == "free":
            raise TableInvalid(f"{where}: style 'free' would let any argument through")
        if name in added:
            raise TableInvalid(f"{where}: it is named twice")
        if name in programs():
            skipped.append(name)
        else:
            added[name] = program
        if len(added) > MAX_PROGRAMS:
            raise TableInvalid(f"{place}: more than {MAX_PROGRAMS} programs")
    return Site(added, tuple(skipped))
