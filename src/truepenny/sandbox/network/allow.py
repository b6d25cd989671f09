"""The list of what the proxy lets through: each host with its port, by name, without patterns.

A pattern is a hole: whoever can make a name below it, a bucket for instance, can carry data out.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from truepenny.errors import ConfigurationError

from .destination import BadDestination, Destination, read_destination

PRIVATE_WORD = "private"
"""Written behind a `host:port` that may be an address of one's own network."""


@dataclass(frozen=True, slots=True)
class Allowed:
    """One entry. `allow_private` also allows loopback, private and shared addresses."""

    destination: Destination
    allow_private: bool = False


def read_allowed(
    entries: Iterable[str], where: str = "sandbox.allow_hosts"
) -> dict[Destination, Allowed]:
    """Read entries like `example.com:443` or `git.internal:443 private`.

    Raises ConfigurationError. Of two entries for one destination the narrower one holds.
    """
    found: dict[Destination, Allowed] = {}
    for entry in entries:
        words = entry.split()
        try:
            if not words or words[1:] not in ([], [PRIVATE_WORD]):
                raise BadDestination(f"only the word {PRIVATE_WORD!r} may stand behind it")
            if "*" in words[0]:
                raise BadDestination("patterns are not allowed; name each host")
            destination = read_destination(words[0])
        except BadDestination as error:
            raise ConfigurationError(
                f"{entry!r}: {error}", where=where, remedy="Write it as `host:port`."
            ) from None
        private = len(words) == 2
        if destination in found:
            private = private and found[destination].allow_private
        found[destination] = Allowed(destination, private)
    return found
