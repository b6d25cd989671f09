"""Folders that are never a workspace: what is written there would change what runs outside."""

from __future__ import annotations

import functools
import os
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

import truepenny
from truepenny.errors import ConfigurationError

from .baseline import USR
from .hidden import SECRET_NAMES, secrets_of
from .place import is_within

WHERE = "workspace.path"

NEVER = frozenset(
    map(
        Path,
        (
            *("/", "/home", "/root", "/usr", "/usr/local", "/var", "/var/lib", "/var/tmp"),
            *("/opt", "/srv", "/tmp", "/mnt", "/media", "/nix", "/gnu"),
        ),
    )
)
"""Themselves; a folder below them may be one."""

NEVER_BELOW = tuple(
    map(
        Path,
        (
            *("/etc", "/boot", "/dev", "/proc", "/sys", "/run", "/bin", "/sbin", "/lib", "/lib64"),
            *("/usr/bin", "/usr/sbin", "/usr/lib", "/usr/lib64", "/usr/local/bin"),
            *("/nix/store", "/gnu/store"),
        ),
    )
)
"""Themselves and all below them: programs, devices, and what the system starts by."""


@functools.cache
def code_folders() -> tuple[Path, ...]:
    """Return the folders that this program runs from: package, environment, interpreter."""
    package = Path(truepenny.__file__).resolve().parent
    prefixes = (Path(sys.prefix), Path(sys.base_prefix))
    found = (package, *(prefix.resolve() for prefix in prefixes))
    # What lies in /usr is there for everybody, and read-only, anyway.
    return tuple(dict.fromkeys(path for path in found if not is_within(path, USR)))


def check_workspace(folder: Path, own: Iterable[Path], homes: Iterable[Path]) -> None:
    """Raise ConfigurationError where the folder (absolute, resolved) may not be a workspace.

    `own` are our own folders, resolved, `homes` those whose secrets it may not contain.
    """
    why = _why_not(folder, own, homes)
    if why:
        raise ConfigurationError(
            f"{folder} cannot be a workspace: {why}",
            where=WHERE,
            remedy="Name the folder of one project.",
        )


def _why_not(folder: Path, own: Iterable[Path], homes: Iterable[Path]) -> str:
    if not folder.is_absolute():
        return "it is not an absolute path"
    if folder in NEVER or any(is_within(folder, path) for path in NEVER_BELOW):
        return "it belongs to the system"
    if SECRET_NAMES.intersection(folder.parts):
        return "programs keep secrets in there"
    for path in own:
        if is_within(folder, path):
            return f"Truepenny keeps its own files in {path}"
        # Hiding it would not do: what is above it could be moved away and made anew, and what is
        # not there yet, such as our settings, could be written before we do.
        if is_within(path, folder):
            return f"it contains {path}, where Truepenny keeps its own files (see TRUEPENNY_HOME)"
    temporary = Path(os.path.realpath(tempfile.gettempdir()))
    if is_within(temporary, folder):
        return f"it contains {temporary}, where temporary files go (see TMPDIR)"
    for path in code_folders():
        if is_within(folder, path):
            return f"Truepenny itself runs from {path}"
    for home in homes:
        # Parents too: a secret of a home below the folder is a secret in the folder.
        if is_within(os.path.realpath(home), folder) and (found := secrets_of(home)):
            return f"it contains {found[0]}"
    return ""
