"""Models that are part of Truepenny: named here by dotted path and imported only when one is asked.

They live on higher floors (an analyst knows tools); naming them as data keeps this floor free of
them.
"""

from __future__ import annotations

import importlib
from typing import cast

from truepenny.errors import ConfigurationError
from truepenny.model.request import Model

PREFIX = "builtin/"
DEFAULT = "builtin/analyst"
"""What answers when no model is named or configured (architecture, section 5)."""

_PATHS: dict[str, str] = {"analyst": "truepenny.diagnose.analyst:Analyst"}


def register(name: str, path: str) -> None:
    """Name one more model: `path` is `module:attribute`, called without arguments to make it.

    ValueError if the name is taken by another path or the path has no colon.
    """
    if ":" not in path:
        raise ValueError(f"not a module:attribute path: {path}")
    if _PATHS.setdefault(name, path) != path:
        raise ValueError(f"there is a builtin model {name} already")


def names() -> tuple[str, ...]:
    """Return the full names, `builtin/…`, sorted."""
    return tuple(sorted(PREFIX + name for name in _PATHS))


def lookup(name: str) -> Model:
    """Return a new instance by full or bare name; ConfigurationError if there is none."""
    path = _PATHS.get(name.removeprefix(PREFIX))
    if path is None:
        raise ConfigurationError(
            f"there is no builtin model {name!r}",
            remedy=f"There are: {', '.join(names())}.",
        )
    module, _, attribute = path.partition(":")
    return cast(Model, getattr(importlib.import_module(module), attribute)())
