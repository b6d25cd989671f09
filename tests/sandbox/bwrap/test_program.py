from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from truepenny.sandbox.bwrap import program as program_module
from truepenny.sandbox.bwrap.program import FAULTS, LINKS, BwrapProgram, installed

PROGRAM = BwrapProgram("/usr/bin/bwrap", (0, 12, 0), True, True, True)


@pytest.mark.parametrize(
    ("version", "faulty"),
    [
        ((), True),
        ((0, 8, 0), True),
        ((0, 11, 9), True),
        ((0, 12), False),
        ((0, 12, 0), False),
        ((1, 0), False),
    ],
)
def test_a_known_fault_is_named_until_its_version(version: tuple[int, ...], faulty: bool) -> None:
    program = replace(PROGRAM, version=version)
    assert [fault.name for fault in program.faults] == ([LINKS] if faulty else [])


def test_an_unknown_version_is_said() -> None:
    assert str(replace(PROGRAM, version=())) == "bubblewrap of unknown version"
    assert str(PROGRAM) == "bubblewrap 0.12.0"


def test_each_fault_says_what_it_is() -> None:
    assert all(fault.name.startswith("CVE-") and fault.what for fault in FAULTS)


@pytest.mark.parametrize(
    ("line", "version"),
    [
        ("bubblewrap 0.11.0", (0, 11, 0)),
        ("bwrap: error while loading shared libraries: libcap.so.2.48", ()),
        ("bubblewrap unknown", ()),
        ("", ()),
    ],
)
def test_a_version_is_read_from_its_own_line_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, version: tuple[int, ...]
) -> None:
    fake = tmp_path / "bwrap"
    fake.write_text(f"#!/bin/sh\necho '{line}'\n", encoding="utf-8")
    fake.chmod(0o755)
    monkeypatch.setattr(program_module, "find", lambda name: str(fake))
    installed.cache_clear()
    found = installed()
    installed.cache_clear()
    assert found == BwrapProgram(str(fake), version, False, False, False)


def test_the_installed_one_is_read() -> None:
    program = installed()
    # Nothing is concluded from an absent program; one that is there has a version.
    assert program is None or program.version >= (0, 1)
