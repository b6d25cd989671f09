"""A descriptor for the end, when there is no other."""

from __future__ import annotations

import errno
import os

import pytest

from tests.exhaustion import exhausted
from truepenny.system.reserve import Reserve


def look() -> bytes:
    with open("/dev/null", "rb") as file:
        return file.read()


def test_one_is_kept_for_when_they_are_out() -> None:
    reserve = Reserve()
    reserve.fill()
    with exhausted():
        with pytest.raises(OSError, match="many"):
            look()
        assert reserve.use(look) == b""
        assert reserve.use(look) == b""
        with pytest.raises(OSError, match="many"):
            look()


def test_without_one_the_error_is_what_it_was() -> None:
    with exhausted(), pytest.raises(OSError, match="many") as caught:
        Reserve().use(look)
    assert caught.value.errno == errno.EMFILE


def test_other_errors_pass() -> None:
    reserve = Reserve()
    reserve.fill()
    with pytest.raises(FileNotFoundError):
        reserve.use(lambda: os.open("/no/such/file", os.O_RDONLY))
