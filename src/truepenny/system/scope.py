"""Where a user's files may be. A path is checked twice: each component by its spelling, and the
whole after symbolic links are resolved. A bad one is refused; it never means a wider place.
"""

from __future__ import annotations

import unicodedata
from pathlib import Path

from truepenny.errors import PolicyDenied

MAX_COMPONENT = 200
"""Bytes of one component: file systems take 255, and temporary names need room beside it."""

_FORBIDDEN = frozenset("/\\\0")
_FORBIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def check_component(component: str, what: str = "name") -> str:
    """Return a single path component unchanged, or raise PolicyDenied saying what is wrong.

    Refused: empty, `.`, `..`, separators, control and invisible characters, a leading dash, blanks
    at an end, more than 200 bytes, and any spelling that Unicode compatibility would change (a
    full-width dot or slash is such a one).
    """
    problem = _problem(component)
    if problem:
        raise PolicyDenied(
            f"the {what} {component[:60]!r} {problem}",
            where="scope",
            remedy="Use letters, digits, dots, dashes and underscores.",
        )
    return component


def _problem(component: str) -> str:
    if not component:
        return "is empty"
    if component in (".", ".."):
        return "stands for a directory"
    if any(char in _FORBIDDEN for char in component):
        return "contains a path separator or a NUL"
    if component[0] == "-":
        return "begins with a dash"
    if component != component.strip() or component.endswith("."):
        return "begins or ends with a blank or ends with a dot"
    if any(unicodedata.category(char) in _FORBIDDEN_CATEGORIES for char in component):
        return "contains a control or invisible character"
    if unicodedata.normalize("NFKC", component) != component:
        return "is not in the normal Unicode form"
    if len(component.encode("utf-8")) > MAX_COMPONENT:
        return f"is longer than {MAX_COMPONENT} bytes"
    return ""


class UserScope:
    """The directories of users below one root, `<root>/<user>/...`. Nothing is created."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def path(self, user: str, *parts: str) -> Path:
        """Return the real path of something of a user's.

        Raises PolicyDenied for a bad component, and where symbolic links lead out of the user's
        own directory. The check holds for the moment; open with O_NOFOLLOW where others may write.
        """
        check_component(user, "user")
        for part in parts:
            check_component(part)
        try:
            home = self.root.resolve() / user
            path = home.joinpath(*parts)
            resolved = path.resolve()
            home_is_real = home.resolve() == home
        except (OSError, RuntimeError) as error:  # a circle of links is a RuntimeError before 3.13
            raise self._denied(user) from error
        if not home_is_real or not resolved.is_relative_to(home):
            raise self._denied(user)
        return resolved

    def _denied(self, user: str) -> PolicyDenied:
        return PolicyDenied(
            f"the path leads out of the directory of {user!r}",
            where="scope",
            remedy="Remove the symbolic link that leads there.",
        )
