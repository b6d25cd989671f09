"""Made-up secrets for the examples of the rules, put together so that none stands in the source."""

from __future__ import annotations

_LETTERS = "qW7eR2tY9uI4oP1aS6dF3gH8jK5lZ0xCvBnM"
_HEX = "3f9a0c7be1d24586"


def word(length: int) -> str:
    """Return letters and digits that look drawn at random."""
    return (_LETTERS * (length // len(_LETTERS) + 1))[:length]


def upper(length: int) -> str:
    """Return upper-case letters and the digits 2 to 7."""
    return ("Q2W3E4R5T6Y7UIOPASDFGHJK" * (length // 24 + 1))[:length]


def digest(length: int) -> str:
    """Return hexadecimal digits."""
    return (_HEX * (length // len(_HEX) + 1))[:length]


def letters(length: int) -> str:
    """Return letters alone."""
    return ("qWeRtYuIoPaSdFgHjKlZxCvBnM" * (length // 26 + 1))[:length]
