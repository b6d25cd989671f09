"""Rules of the house that no linter knows."""

from __future__ import annotations

import ast
import re
import statistics
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
LONGEST, LONGEST_MEDIAN = 500, 200


def tracked() -> list[Path]:
    done = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True)
    return [ROOT / name.decode() for name in done.stdout.split(b"\0") if name]


def test_files_are_short() -> None:
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in SOURCES}
    assert {path for path, length in lengths.items() if length > LONGEST} == set()
    assert statistics.median(lengths.values()) < LONGEST_MEDIAN


def test_no_file_names_a_registry() -> None:
    # Put together here, so that this file names none either.
    names = [
        ".".join(parts)
        for parts in (
            ("pythonhosted", "org"),
            ("pypi", "org"),
            ("registry", "npmjs", "org"),
            ("deb", "debian", "org"),
        )
    ]
    hosts = re.compile("|".join(map(re.escape, names)).encode())
    assert [path for path in tracked() if path.is_file() and hosts.search(path.read_bytes())] == []


def test_tests_do_not_sleep() -> None:
    # Calls, not words: a program that a test runs as its victim may sleep.
    sleeping = {
        path
        for path in (ROOT / "tests").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "sleep"
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id in ("time", "anyio", "asyncio")
    }
    assert sleeping == set()


def test_tests_mirror_the_source() -> None:
    packages = {path.name for path in (ROOT / "src" / "truepenny").iterdir() if path.is_dir()}
    packages.discard("__pycache__")
    missing = {name for name in packages if not list((ROOT / "tests" / name).rglob("test_*.py"))}
    assert missing == set()


def test_text_is_read_and_written_with_an_encoding() -> None:
    bare = re.compile(r"\.(?:read|write)_text\((?![^)]*encoding)[^)]*\)")
    assert [path for path in SOURCES if bare.search(path.read_text(encoding="utf-8"))] == []
