"""Entries of the allow-list."""

from __future__ import annotations

import pytest

from truepenny.errors import ConfigurationError
from truepenny.sandbox.network.allow import read_allowed
from truepenny.sandbox.network.destination import read_destination


def test_entries() -> None:
    found = read_allowed(["Example.com:443", "git.internal:8443 private", "[::1]:80  private"])
    assert {str(to): entry.allow_private for to, entry in found.items()} == {
        "example.com:443": False,
        "git.internal:8443": True,
        "[::1]:80": True,
    }


def test_of_two_entries_the_narrower_holds() -> None:
    for entries in (["a:1 private", "A.:1"], ["a:1", "a:1 private"]):
        assert not read_allowed(entries)[read_destination("a:1")].allow_private


@pytest.mark.parametrize(
    "entry",
    [
        "",
        "example.com",
        "*.example.com:443",
        "example.com:*",
        "a:1 public",
        "a:1 private x",
        "https://example.com:443",
        "256.0.0.1:80",
        "a:1,b:2",
    ],
)
def test_what_is_no_entry(entry: str) -> None:
    with pytest.raises(ConfigurationError):
        read_allowed([entry])
