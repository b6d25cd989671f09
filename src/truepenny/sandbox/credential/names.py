"""Which names of variables are taken for what: the lists behind the environments."""

from __future__ import annotations

import re

OURS = "TRUEPENNY_"
"""Our settings, the master key among them. None of them is ever passed on from outside."""

LOCALE = frozenset(
    {
        "LANG",
        "LANGUAGE",
        "LC_ADDRESS",
        "LC_ALL",
        "LC_COLLATE",
        "LC_CTYPE",
        "LC_IDENTIFICATION",
        "LC_MEASUREMENT",
        "LC_MESSAGES",
        "LC_MONETARY",
        "LC_NAME",
        "LC_NUMERIC",
        "LC_PAPER",
        "LC_TELEPHONE",
        "LC_TIME",
    }
)
"""By name and not by `LC_*`: SSH set-ups carry anything under that prefix."""

SECRET_NAMES = frozenset(
    {
        "AWS_ACCESS_KEY_ID",
        "CREDENTIALS",
        "DATABASE_URL",
        "DOCKER_AUTH_CONFIG",
        "GNUPGHOME",
        "GPG_AGENT_INFO",
        "MYSQL_PWD",
        "NETRC",
        "PGPASSFILE",
        "SSH_AGENT_PID",
        "SSH_AUTH_SOCK",
    }
)
"""Secrets, or ways to them, that no part of the name tells."""

SECRET_SUFFIXES = (
    "_ACCESS_KEY",
    "_AUTH",
    "_CREDENTIALS",
    "_DSN",
    "_PASS",
    "_PASSPHRASE",
    "_PASSWD",
    "_PAT",
)

SECRET_PARTS = ("APIKEY", "API_KEY", "PASSWORD", "PRIVATE_KEY", "SECRET", "TOKEN")
"""Anywhere in the name. With the suffixes they cover diagnostics spec 3.1 (item 2) and assistant
spec 3.2; what one of them covers stands nowhere else."""

SHELL_NAMES = frozenset({"BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS", "PROMPT_COMMAND", "PS4"})
"""What makes a shell run or change something before its first line."""

SHELL_PREFIXES = ("BASH_FUNC_",)
"""Exported functions: they replace programs."""

_PASSWORD_IN_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*://[^/?#\s]*:[^/?#\s]+@", re.IGNORECASE)


def is_secret(name: str, value: str) -> bool:
    """Whether a variable is taken for a secret: by its name, or by an address with a password."""
    upper = name.upper()
    return (
        upper in SECRET_NAMES
        or upper.endswith(SECRET_SUFFIXES)
        or any(part in upper for part in SECRET_PARTS)
        or _PASSWORD_IN_ADDRESS.search(value) is not None
    )


def steers_a_shell(name: str) -> bool:
    """Whether a shell takes code or options from the variable."""
    return name in SHELL_NAMES or name.startswith(SHELL_PREFIXES)


def is_ours(name: str) -> bool:
    """Whether the variable is one of our settings."""
    return name.upper().startswith(OURS)
