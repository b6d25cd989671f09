"""Where files go. By default the XDG base directories; `TRUEPENNY_HOME` makes one tree of them.

Each role can be set alone by `TRUEPENNY_CONFIG_DIR`, `TRUEPENNY_DATA_DIR`, `TRUEPENNY_STATE_DIR`,
`TRUEPENNY_CACHE_DIR` and `TRUEPENNY_RUNTIME_DIR`, which go before `TRUEPENNY_HOME`.
"""

from __future__ import annotations

import os
import pwd
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from truepenny.errors import ConfigurationError

from .atomic import storage_failed

_NAME = "truepenny"
_DEFAULTS = {
    "config": ("XDG_CONFIG_HOME", ".config"),
    "data": ("XDG_DATA_HOME", ".local/share"),
    "state": ("XDG_STATE_HOME", ".local/state"),
    "cache": ("XDG_CACHE_HOME", ".cache"),
}


@dataclass(frozen=True, slots=True)
class Directories:
    """One absolute path per role. Nothing is created before it is used (`ensure`)."""

    config: Path
    data: Path
    state: Path
    cache: Path
    runtime: Path

    @classmethod
    def from_environment(cls, env: Mapping[str, str]) -> Directories:
        """Work the places out. Raises ConfigurationError for a relative path in our variables.

        A relative XDG variable is ignored, as its specification asks.
        """
        home = _ours(env, "TRUEPENNY_HOME")
        found = {role: _role(env, role, home) for role in _DEFAULTS}
        runtime = _ours(env, "TRUEPENNY_RUNTIME_DIR")
        if runtime is None and home is None:
            runtime = _xdg(env, "XDG_RUNTIME_DIR")
            runtime = runtime and runtime / _NAME
        return cls(**found, runtime=runtime or (home or found["state"]) / "run")


def _role(env: Mapping[str, str], role: str, home: Path | None) -> Path:
    own = _ours(env, f"TRUEPENNY_{role.upper()}_DIR")
    if own is not None:
        return own
    if home is not None:
        return home / role
    variable, default = _DEFAULTS[role]
    return (_xdg(env, variable) or _user_home(env) / default) / _NAME


def _ours(env: Mapping[str, str], variable: str) -> Path | None:
    value = env.get(variable, "")
    if not value:
        return None
    if value == "~" or value.startswith("~/"):
        return _user_home(env) / value[2:]
    path = Path(value)
    if not path.is_absolute():
        raise ConfigurationError(
            f"{value!r} is not an absolute path",
            where=variable,
            remedy="Write the whole path, beginning with a slash.",
        )
    return path


def _xdg(env: Mapping[str, str], variable: str) -> Path | None:
    path = Path(env.get(variable, ""))
    return path if path.is_absolute() else None


def _user_home(env: Mapping[str, str]) -> Path:
    home = Path(env.get("HOME", ""))
    if home.is_absolute():
        return home
    try:
        return Path(pwd.getpwuid(os.getuid()).pw_dir)
    except KeyError:
        raise ConfigurationError(
            "this user has no home directory",
            where="HOME",
            remedy="Set TRUEPENNY_HOME to a directory that this user may write.",
        ) from None


def ensure(directory: Path) -> Path:
    """Create a directory and its parents, private to this user, and return it.

    Raises StorageFailed. A directory that exists is left as it is.
    """
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise storage_failed(error, directory, "Creating the directory") from error
    return directory
