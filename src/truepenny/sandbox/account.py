"""Who a sandboxed process runs as.

An ordinary user runs things as itself. Root never does: a sandbox that root starts stays uid 0
outside, and then its walls are the only ones left. What is dropped to is a real account.
"""

from __future__ import annotations

import functools
import os
import pwd
from pathlib import Path

from truepenny.errors import ConfigurationError, CouldNotRun

from .plan import Account

WHERE = "sandbox.account"
NOBODY = "nobody"
NOBODY_ID = 65534
"""The number of `nobody`, and of its group, wherever no table names them."""


def account_for(workspace: Path, setting: str | None) -> Account:
    """Return the account for a folder. `setting` is a name or a number of `sandbox.account`.

    For root: the setting; else the folder's owner; else `nobody`. Who called sudo is not asked:
    where the folder is theirs they are its owner, and elsewhere they have no part in it. Raises
    ConfigurationError for an account that is not there, is root, or cannot be become; CouldNotRun
    where the folder cannot be looked at.
    """
    own = os.geteuid()
    chosen = None if setting is None else _named(setting)
    if own != 0:
        if chosen is not None and chosen.pw_uid != own:
            raise ConfigurationError(
                f"only root can run commands as {setting!r}",
                where=WHERE,
                remedy="Remove the setting, or start Truepenny as that account.",
            )
        return Account(_name(own), own, os.getegid(), drop=False)
    if chosen is not None:
        if chosen.pw_uid == 0:
            raise ConfigurationError(
                "commands never run as root",
                where=WHERE,
                remedy="Name an ordinary account, or remove the setting.",
            )
        return _dropped(chosen)
    try:
        owner = os.stat(workspace)
    except OSError as error:
        raise CouldNotRun(
            f"the folder {workspace} cannot be looked at: {error.strerror}",
            where="workspace",
            remedy="Name a folder that is there.",
        ) from error
    if owner.st_uid != 0:
        return _numbered(owner.st_uid, owner.st_gid)
    try:
        return _dropped(pwd.getpwnam(NOBODY))
    except KeyError:
        return Account(NOBODY, NOBODY_ID, NOBODY_ID, drop=True)


def _named(setting: str) -> pwd.struct_passwd:
    try:
        return pwd.getpwuid(int(setting)) if setting.isdecimal() else pwd.getpwnam(setting)
    except (KeyError, OverflowError):
        raise ConfigurationError(
            f"there is no account {setting!r} on this machine",
            where=WHERE,
            remedy="Name an account that `getent passwd` lists.",
        ) from None


@functools.lru_cache(maxsize=64)
def _numbered(uid: int, gid: int) -> Account:
    """Return the account of a number, which in a container need not have a name. The table is
    asked once for each: every start needs it, and accounts do not change their names."""
    try:
        return _dropped(pwd.getpwuid(uid))
    except KeyError:
        return Account(str(uid), uid, gid or NOBODY_ID, drop=True)


def _dropped(entry: pwd.struct_passwd) -> Account:
    # Never the group of root either: its files are often open to it.
    return Account(entry.pw_name, entry.pw_uid, entry.pw_gid or NOBODY_ID, drop=True)


@functools.lru_cache(maxsize=64)
def _name(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)
