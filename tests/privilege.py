"""Running a piece of a test without root's right to pass every permission."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

NOBODY = 65534


@contextmanager
def without_privilege() -> Iterator[None]:
    """Become nobody inside, where we are root; an ordinary user stays who they are."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)
