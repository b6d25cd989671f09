"""Hashes and what became of files, with everything that can stand in a file's place."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from truepenny.sandbox.roots import FileRoots
from truepenny.workspace.file.access import FileAccess, file_access
from truepenny.workspace.script_run import provenance
from truepenny.workspace.script_run.provenance import compare, hash_file, hash_inputs, look


def within(folder: Path) -> FileAccess:
    return file_access(folder, FileRoots((), (folder,), (), ()))


def test_a_file_is_hashed_whole_or_the_reason_is_told(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_bytes(b"abc")
    assert hash_file(within(tmp_path), file).record() == {
        "bytes": 3,
        "sha256": hashlib.sha256(b"abc").hexdigest(),
        "hashOmitted": None,
    }
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to(file)
    assert hash_file(within(tmp_path), file, 2).record() == {
        "bytes": 3,
        "sha256": None,
        "hashOmitted": "too-large",
    }
    assert hash_file(within(tmp_path), tmp_path / "none").omitted == "absent"
    assert hash_file(within(tmp_path), tmp_path / "pipe").omitted == "not-a-file"
    assert hash_file(within(tmp_path), tmp_path).omitted == "not-a-file"
    (tmp_path / "out").symlink_to("/etc/passwd")
    assert hash_file(within(tmp_path), tmp_path / "link").sha256 is not None
    assert hash_file(within(tmp_path), tmp_path / "out").record() == {
        "bytes": None,
        "sha256": None,
        "hashOmitted": "unreadable",
    }


def test_inputs_share_one_budget(tmp_path: Path) -> None:
    names = {name: tmp_path / name for name in ("a", "b", "c")}
    for path in names.values():
        path.write_bytes(b"x" * 100)
    most, provenance.INPUTS_BYTES = provenance.INPUTS_BYTES, 250
    try:
        entries = hash_inputs(within(tmp_path), names)
    finally:
        provenance.INPUTS_BYTES = most
    assert [entry["hashOmitted"] for entry in entries] == [None, None, "too-large"]


def test_outputs_are_compared_by_identity(tmp_path: Path) -> None:
    file = tmp_path / "out"
    nothing = look(within(tmp_path), file)
    file.write_text("one", encoding="utf-8")
    first = look(within(tmp_path), file)
    assert compare(nothing, first) == "created"
    assert compare(first, look(within(tmp_path), file)) == "unchanged"
    # The same size and the same time: only the change time tells.
    stamp = file.stat()
    file.write_text("two", encoding="utf-8")
    os.utime(file, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    assert compare(first, look(within(tmp_path), file)) == "modified"
    file.unlink()
    assert compare(first, look(within(tmp_path), file)) == "absent"


def test_what_may_not_be_looked_at_is_unknown_and_not_absent(tmp_path: Path) -> None:
    (tmp_path / "out").symlink_to("/etc/passwd")
    (tmp_path / "circle").symlink_to("circle")
    file = tmp_path / "file"
    file.write_text("x", encoding="utf-8")
    access = within(tmp_path)
    known = look(access, file)
    for name in ("out", "circle"):
        unknown = look(access, tmp_path / name)
        assert compare(None, unknown) == "unknown"
        assert compare(unknown, unknown) == "unknown"
        assert compare(unknown, known) == "unknown"
        assert compare(unknown, None) == "absent"
    assert look(access, file / "below") is None
