"""The environments of processes: a clean one for what the model runs, a stripped one for ours.

The clean one is made of nothing but a short list (assistant spec 3.2, tools spec 2.11), so a
variable that nobody thought of is not there. The stripped one is ours without its secrets
(diagnostics spec 3.1); it is for programs that we trust and start ourselves.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path

from truepenny.sandbox.place import lineage
from truepenny.sandbox.plan import Account

from .names import LOCALE, is_ours, is_secret, steers_a_shell

HOME = Path("/tmp/home")
"""The home inside: empty at the start, gone at the end. Not the person's, which holds keys; not
the workspace, whose `.gitconfig` or `.npmrc` would become settings of every program."""

TEMPORARY = Path("/tmp")

STANDARD_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""Where nothing of our own PATH may be used."""

_LOCALE_VALUE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.@:=-]{0,63}")
_ZONE_VALUE = re.compile(r"[A-Za-z0-9<][A-Za-z0-9_+\-/,.:<>]{0,63}")


def clean_environment(
    env: Mapping[str, str], workspace: Path, *, account: Account | None = None
) -> dict[str, str]:
    """Return the whole environment of a process that a model asked for.

    `env` is ours. Taken from it: PATH without relative entries, entries in the workspace and ones
    that everybody may write; the locale and the time zone where they are names and not files.
    `account` names who it runs as; None is whoever owns the workspace by default. `SHELLOPTS`
    comes last and makes every bash below fail with the pipeline's first failure.
    """
    name = _account_name(workspace) if account is None else account.name
    found = {
        "PATH": clean_path(env.get("PATH", ""), workspace),
        "HOME": str(HOME),
        "USER": name,
        "LOGNAME": name,
        "LANG": "C.UTF-8",
    }
    found |= {
        key: value
        for key, value in sorted(env.items())
        if key in LOCALE and _LOCALE_VALUE.fullmatch(value)
    }
    zone = env.get("TZ", "")
    if _ZONE_VALUE.fullmatch(zone) and ".." not in zone:
        found["TZ"] = zone
    return found | {
        "TMPDIR": str(TEMPORARY),
        "TERM": "dumb",
        "NO_COLOR": "1",
        "SHELLOPTS": "pipefail",
    }


def clean_path(path: str, workspace: Path) -> str:
    """Return a PATH from which no program of the workspace, or of just anybody, can be started."""
    inside = {str(workspace), os.path.realpath(workspace)}
    kept = [entry for entry in _entries(path) if _is_safe(entry, inside)]
    return os.pathsep.join(dict.fromkeys(kept)) or STANDARD_PATH


def stripped_environment(env: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return an environment without secrets, our settings and what steers shells.

    None is this process's own environment; an empty one is empty, never inherited.
    """
    source = os.environ if env is None else env
    return {
        name: value
        for name, value in source.items()
        if not (is_ours(name) or steers_a_shell(name) or is_secret(name, value))
    }


def _account_name(workspace: Path) -> str:
    from truepenny.sandbox.account import account_for

    return account_for(workspace, None).name


def _entries(path: str) -> Iterable[str]:
    # Normalised as text: `/usr/bin/../../w` is in the workspace, whatever is there now.
    return (os.path.normpath(entry) for entry in path.split(os.pathsep) if entry.startswith("/"))


def _is_safe(entry: str, inside: Iterable[str]) -> bool:
    forms = (entry, os.path.realpath(entry))
    if any(form == folder or form.startswith(f"{folder}/") for form in forms for folder in inside):
        return False
    try:
        mode = os.stat(entry).st_mode
    except FileNotFoundError:
        return not any(_everybody_writes(folder) for folder in lineage(Path(entry))[1:])
    except OSError:
        return False
    return not mode & stat.S_IWOTH


def _everybody_writes(folder: str) -> bool:
    try:
        return bool(os.stat(folder).st_mode & stat.S_IWOTH)
    except OSError:
        return False
