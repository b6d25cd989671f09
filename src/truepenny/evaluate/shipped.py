"""Where the shipped incidents are: inside the package, or beside it in the source tree."""

from __future__ import annotations

from pathlib import Path

from truepenny.errors import ConfigurationError


def shipped() -> Path:
    """Return the folder of the shipped incidents; ConfigurationError where there is none."""
    package = Path(__file__).parent
    places = (package / "incidents", package.parents[2] / "evals")
    for folder in places:
        if folder.is_dir():
            return folder
    raise ConfigurationError(
        "the shipped incidents are not here",
        where=str(places[0]),
        remedy="Give a folder with --incidents.",
    )
