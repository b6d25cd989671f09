"""Sensitive places: each pattern against its own examples and neighbours, and every spelling."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from truepenny.command.sensitive.metadata import metadata_host
from truepenny.command.sensitive.place import find, find_text, normalised, places
from truepenny.command.shell import Line, Word, read_line


def word(text: str) -> Word:
    read = read_line(f"p {text}")
    assert isinstance(read, Line)
    return read.commands[0].words[1]


@pytest.mark.parametrize("name", sorted(places()))
def test_a_place_matches_its_examples_and_not_its_neighbours(name: str) -> None:
    place = places()[name]
    assert place.examples and place.fine and place.advice
    alone = re.compile(f"(?:^|/)(?:{place.pattern})")
    for example in place.examples:
        assert alone.search(example), example
        assert find_text(example, file=True), example
    for path in place.fine:
        assert find_text(path, file=True) is None, path


def test_no_pattern_is_empty_of_examples_of_its_own() -> None:
    """Every alternative at the top of a pattern is shown by an example."""
    for place in places().values():
        for at, alternative in enumerate(alternatives(place.pattern)):
            shown = re.compile(f"(?:^|/)(?:{alternative})")
            assert any(shown.search(example) for example in place.examples) or at > 0, place.name


def alternatives(pattern: str) -> list[str]:
    depth, parts, start = 0, [], 0
    for at, char in enumerate(pattern):
        if char == "(" and pattern[at - 1] != "\\":
            depth += 1
        elif char == ")" and pattern[at - 1] != "\\":
            depth -= 1
        elif char == "|" and depth == 0:
            parts.append(pattern[start:at])
            start = at + 1
    return [*parts, pattern[start:]]


@pytest.mark.parametrize(
    "spelling",
    [
        "/etc/shadow",
        "//etc//shadow",
        "/etc/./shadow",
        "/etc/../etc/shadow",
        "/usr/lib/../../etc/shadow",
        "../../etc/shadow",
        "/proc/1/root/etc/shadow",
        "--file=/etc/shadow",
        "if=/etc/shadow",
        "a:/etc/shadow",
        "'/etc/shadow'",
        "/etc/sha\\dow",
        '/etc/"shadow"',
        "/etc/shado?",
        "/etc/sh*",
        "/etc/[s]hadow",
        "/*/shadow",
        "/etc/*",
        "/e?c/shadow",
        "/**/shadow",
        "/proc/*/environ",
        "/proc/[0-9]*/mem",
        "/home/*/.ssh/*",
        "/root/.*/config",
        "/root/.[b]ash_history",
        "/var/run/secrets/kubernetes.io/*/token",
    ],
)
def test_every_spelling_is_seen(spelling: str) -> None:
    assert find(word(spelling), file=True)


@pytest.mark.parametrize(
    "spelling",
    ["/var/log/*.log", "/proc/*/status", "/etc/cron*/[a-c]*", "'*'", "/sys/**/x"],
)
def test_patterns_that_reach_nothing_sensitive_pass(spelling: str) -> None:
    assert find(word(spelling), file=True) is None


@pytest.mark.parametrize(
    "address",
    [
        "169.254.169.254",
        "http://169.254.169.254/latest/meta-data",
        "http://user@169.254.169.254",
        "2852039166",
        "0xA9FEA9FE",
        "0xa9.254.0251.0xfe",
        "169.16689662",
        "http://[::ffff:169.254.169.254]/",
        "[fd00:ec2::254]",
        "http://metadata.google.internal./x",
        "metadata",
        "METADATA.google.internal",
        "http://169.254.169.254.nip.io",
        "100.100.100.200:80",
        "169.254.170.2/v2/credentials",
    ],
)
def test_metadata_services_are_seen_in_every_notation(address: str) -> None:
    assert metadata_host(address)


@pytest.mark.parametrize(
    "address", ["10.0.0.1", "http://kubernetes.default", "169.254.1.1", "fd00::1", "a.b", "1", ""]
)
def test_other_addresses_are_no_metadata_service(address: str) -> None:
    assert metadata_host(address) == ""


@given(st.text(alphabet="./ab*", max_size=20))
def test_a_normalised_path_has_no_empty_or_upward_steps_left_to_take(path: str) -> None:
    once = normalised(path)
    assert normalised(once) == once
    assert "//" not in once
    assert "/./" not in once
