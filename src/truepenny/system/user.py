"""Who we are: the account this process runs as, which no setting can change."""

from __future__ import annotations

import os
import pwd


def current_user() -> str:
    """Return the account's name, or `uid-N` where the system has no name for it."""
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return f"uid-{os.getuid()}"
