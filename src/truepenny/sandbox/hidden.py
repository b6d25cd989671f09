"""What no sandbox shows, whatever is mounted: our own folders and people's secrets, as data."""

from __future__ import annotations

import functools
import os
import pwd
from collections.abc import Mapping
from pathlib import Path

from truepenny.system.directories import Directories

from .plan import Account

SECRET_FOLDERS = (
    ".ssh",
    ".aws",
    ".azure",
    ".gnupg",
    ".kube",
    ".docker",
    ".config",
    ".password-store",
    ".local/share/keyrings",
    ".mozilla",
    ".thunderbird",
)
"""Below a home. `.config` as a whole: too many programs keep a token in there to list them."""

SECRET_FILES = (
    ".netrc",
    ".git-credentials",
    ".npmrc",
    ".pypirc",
    ".pgpass",
    ".my.cnf",
    ".vault-token",
    ".bash_history",
    ".python_history",
    ".zsh_history",
)

SECRET_NAMES = frozenset(name for name in SECRET_FOLDERS if "/" not in name)
"""Folder names that are no workspace, and have none below them, wherever they are."""


def own_folders(env: Mapping[str, str]) -> tuple[Path, ...]:
    """Return the folders of ours that hold settings, state and sockets."""
    found = Directories.from_environment(env)
    return (found.config, found.data, found.state, found.cache, found.runtime)


def homes(env: Mapping[str, str], account: Account) -> tuple[Path, ...]:
    """Return the homes whose secrets are kept out: ours, and that of the account."""
    found = (env.get("HOME", ""), _home_of(os.getuid()), _home_of(account.uid))
    # An account without a home of its own has `/` or a name for nothing there.
    return tuple(
        Path(home) for home in dict.fromkeys(found) if os.path.isabs(home) and home.strip("/")
    )


@functools.lru_cache(maxsize=64)
def _home_of(uid: int) -> str:
    """Return what the table says, asked once: reading it takes longer than a whole plan may."""
    try:
        return os.path.normpath(pwd.getpwuid(uid).pw_dir)
    except KeyError:
        return ""


def secrets_of(home: Path) -> tuple[Path, ...]:
    """Return the secret places that are there below a home, also as a link to nowhere."""
    text = str(home)
    if not os.path.lexists(text):
        return ()
    names = (*SECRET_FOLDERS, *SECRET_FILES)
    return tuple(Path(home, name) for name in names if os.path.lexists(f"{text}/{name}"))
