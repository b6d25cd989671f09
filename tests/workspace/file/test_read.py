"""A read says which lines it shows of how many, and shows nothing that it repaired."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from truepenny.model.message import Image
from truepenny.text.redact import Redactor
from truepenny.tool.outcome import Outcome
from truepenny.tool.result import Result
from truepenny.workspace.file import read as module
from truepenny.workspace.file.access import FileLimits
from truepenny.workspace.file.fault import FileFault
from truepenny.workspace.file.read import read
from truepenny.workspace.file.work import Stop

from .world import access

SMALL = FileLimits(lines=5, shown_bytes=200, scan_bytes=1000)


def run(root: Path, limits: FileLimits | None = None, **arguments: Any) -> Result:
    try:
        return read(access(root, limits), {"path": "f", **arguments}, Redactor(), Stop())
    except FileFault as fault:
        return fault.result()


def put(root: Path, data: bytes) -> None:
    (root / "f").write_bytes(data)


def lines(first: int, last: int) -> bytes:
    return b"".join(b"line %d\n" % number for number in range(first, last + 1))


def test_a_whole_file_is_complete(tmp_path: Path) -> None:
    put(tmp_path, b"one\ntwo\n")
    result = run(tmp_path)
    assert (result.outcome, result.text) == (Outcome.SUCCESS, "one\ntwo\n")
    assert result.facts.completeness.state == "complete"
    detail = result.facts.detail
    assert (detail["total_lines"], detail["next_offset"], detail["final_newline"]) == (
        2,
        None,
        True,
    )
    assert (detail["line_endings"], detail["bom"], detail["file"]["bytes"]) == ("lf", False, 8)


@pytest.mark.parametrize(
    ("data", "text", "total", "final"),
    [
        (b"", "", 0, None),
        (b"a", "a", 1, False),
        (b"\n", "\n", 1, True),
        (b"a\n\n", "a\n\n", 2, True),
    ],
)
def test_ends_of_files(
    tmp_path: Path, data: bytes, text: str, total: int, final: bool | None
) -> None:
    put(tmp_path, data)
    result = run(tmp_path)
    assert (result.text, result.facts.detail["total_lines"]) == (text, total)
    assert result.facts.detail["final_newline"] is final
    assert result.facts.completeness.state == "complete"
    assert ("empty" in result.facts.hint) == (not data)


def test_a_window_names_the_next_offset_until_the_end(tmp_path: Path) -> None:
    put(tmp_path, lines(1, 12))
    seen, offset, calls = "", 1, 0
    while offset:
        result = run(tmp_path, SMALL, offset=offset)
        seen += result.text
        whole = result.facts.completeness
        assert (whole.state, whole.total, whole.unit) == ("partial", 12, "lines")
        assert whole.next == (f"offset={offset + 5}" if calls < 2 else "")
        offset, calls = result.facts.detail["next_offset"], calls + 1
    assert (seen.encode(), calls) == (lines(1, 12), 3)


def test_offset_and_limit_and_numbers(tmp_path: Path) -> None:
    put(tmp_path, lines(1, 12))
    result = run(tmp_path, offset=3, limit=2, line_numbers=True)
    assert result.text == "     3\tline 3\n     4\tline 4\n"
    assert result.facts.completeness.reason == "lines 3 to 4 of 12 lines"
    assert run(tmp_path, offset=12).text == "line 12\n"


def test_past_the_end_states_the_total(tmp_path: Path) -> None:
    put(tmp_path, lines(1, 12))
    for offset in (13, 99):
        result = run(tmp_path, offset=offset)
        assert (result.outcome, result.facts.reason) == (Outcome.INVALID_ARGUMENTS, "past_end")
        assert "has 12 lines" in result.text
    put(tmp_path, b"")
    assert run(tmp_path, offset=2).facts.reason == "past_end"


def test_tail_counts_from_the_end(tmp_path: Path) -> None:
    put(tmp_path, lines(1, 12))
    result = run(tmp_path, tail=2, line_numbers=True)
    assert result.text == "    11\tline 11\n    12\tline 12\n"
    assert (result.facts.detail["first_line"], result.facts.completeness.total) == (11, 12)
    assert run(tmp_path, tail=50).facts.completeness.state == "complete"
    put(tmp_path, b"a\nb")
    assert run(tmp_path, tail=1).text == "b"
    put(tmp_path, b"a\n\n")
    assert run(tmp_path, tail=1).text == "\n"


def test_a_large_file_has_no_total_and_no_numbers_from_its_end(tmp_path: Path) -> None:
    put(tmp_path, lines(1, 300))
    result = run(tmp_path, SMALL)
    assert (result.facts.completeness.total, result.facts.detail["total_lines"]) == (None, None)
    assert result.facts.completeness.reason == "lines 1 to 5 of 5+ lines" or "+" in (
        result.facts.completeness.reason
    )
    assert run(tmp_path, SMALL, offset=40).text.startswith("line 40\n")
    far = run(tmp_path, SMALL, offset=250)
    assert (far.outcome, far.facts.reason) == (Outcome.REFUSED, "past_scan")
    tail = run(tmp_path, SMALL, tail=2)
    assert tail.text == "line 299\nline 300\n"
    assert tail.facts.detail["first_line"] is None
    assert tail.facts.completeness.state == "partial"
    assert run(tmp_path, SMALL, tail=2, line_numbers=True).facts.reason == "total_unknown"


def test_a_40_mib_file_reads_by_windows(tmp_path: Path) -> None:
    with (tmp_path / "f").open("wb") as file:
        for _ in range(40):
            file.write(b"x" * 99 + b"\n" + (b"y" * 1023 + b"\n") * 1023 + b"z" * 923 + b"\n")
    result = run(tmp_path, limit=2)
    assert "+ lines" in result.facts.completeness.reason
    assert run(tmp_path, tail=1).text == "z" * 923 + "\n"
    assert run(tmp_path, tail=1, line_numbers=True).facts.reason == "total_unknown"


def test_whole_lines_are_kept_within_the_bytes(tmp_path: Path) -> None:
    put(tmp_path, b"x" * 90 + b"\n" + b"y" * 90 + b"\n" + b"z" * 90 + b"\n")
    result = run(tmp_path, SMALL)
    assert result.text == "x" * 90 + "\n" + "y" * 90 + "\n"
    assert result.facts.detail["next_offset"] == 3


def test_one_line_above_all_is_a_prefix_on_a_character(tmp_path: Path) -> None:
    put(tmp_path, "€".encode() * 500 + b"\nnext\n")
    result = run(tmp_path, SMALL)
    assert result.text == "€" * 66
    assert "longer" in result.facts.completeness.reason
    assert result.facts.completeness.shown == 0


@pytest.mark.parametrize(
    ("data", "offset"),
    [(b"ok\n\xff\n", 3), (b"caf\xe9\n", 3), (b"\xef\xbb\xbfa\n\xc3", 5), (b"a\xed\xa0\x80", 1)],
)
def test_bytes_that_are_not_utf8_are_named_and_never_repaired(
    tmp_path: Path, data: bytes, offset: int
) -> None:
    put(tmp_path, data)
    result = run(tmp_path)
    assert (result.outcome, result.facts.reason) == (Outcome.REFUSED, "invalid_utf8")
    assert result.facts.detail["offset"] == offset
    assert f"offset {offset}" in result.text


def test_only_what_is_shown_has_to_be_utf8(tmp_path: Path) -> None:
    put(tmp_path, b"fine\n\xff\nfine too\n")
    assert run(tmp_path, limit=1).text == "fine\n"
    assert run(tmp_path, offset=3).text == "fine too\n"


def test_binary_and_other_encodings_are_named(tmp_path: Path) -> None:
    put(tmp_path, b"ab\0c")
    result = run(tmp_path)
    assert (result.facts.reason, result.facts.detail["offset"]) == ("binary", 2)
    put(tmp_path, b"x\n" * 5000 + b"\0\n")
    assert run(tmp_path, offset=5001).facts.detail["offset"] == 10_000
    put(tmp_path, "text".encode("utf-16"))
    assert run(tmp_path).facts.reason == "encoding"
    put(tmp_path, b"\x7fELF\x02\x01\x01\0")
    assert "elf" in run(tmp_path).text


def test_pictures_come_as_pictures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for magic, kind in (
        (b"\x89PNG\r\n\x1a\n", "image/png"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"GIF89a", "image/gif"),
        (b"RIFF\x10\0\0\0WEBPVP8 ", "image/webp"),
    ):
        put(tmp_path, magic + b"\0rest")
        part = run(tmp_path).content[1]
        assert isinstance(part, Image)
        assert (part.media_type, part.data) == (kind, magic + b"\0rest")
    monkeypatch.setattr(module, "IMAGE_BYTES", 10)
    assert run(tmp_path).facts.reason == "image_too_large"


def test_crlf_bom_and_controls_are_facts(tmp_path: Path) -> None:
    put(tmp_path, b"\xef\xbb\xbfa\r\nb\x1b[31m\r\n")
    result = run(tmp_path)
    assert result.text == "a\nb\n"
    detail = result.facts.detail
    assert (detail["line_endings"], detail["bom"], detail["controls"]) == ("crlf", True, 1)
    assert "control" in result.facts.hint
    put(tmp_path, b"a\r\nb\n")
    assert run(tmp_path).facts.detail["line_endings"] == "mixed"


KEY = (
    "-----BEGIN RSA PRIVATE KEY-----\n"
    + "".join(f"{chr(97 + n) * 64}\n" for n in range(20))
    + "-----END RSA PRIVATE KEY-----\n"
)


def test_a_window_into_a_key_shows_none_of_it(tmp_path: Path) -> None:
    put(tmp_path, f"before\n{KEY}after\n".encode())
    for offset in range(1, 24):
        for tail in (None, 24 - offset):
            more = {"tail": tail} if tail else {"offset": offset, "limit": 3}
            shown = run(tmp_path, **more)
            assert not any(chr(97 + n) * 10 in shown.text for n in range(20)), more
    whole = run(tmp_path)
    assert whole.text.startswith("before\n")
    assert whole.text.endswith("after\n")
    assert whole.facts.redactions == {"private-key": 1}


def test_a_secret_across_the_cut_is_masked_before_it(tmp_path: Path) -> None:
    token = "ghp_" + "a1B2" * 9
    put(tmp_path, b"x" * 180 + b" " + token.encode() + b" " + b"y" * 500 + b"\n")
    shown = run(tmp_path, SMALL).text
    assert "ghp_" not in shown
    assert len(shown.encode()) <= 200


def test_a_missing_or_wrong_place_is_a_result(tmp_path: Path) -> None:
    assert run(tmp_path).facts.reason == "not_found"
    (tmp_path / "f").mkdir()
    result = run(tmp_path)
    assert (result.outcome, result.facts.reason) == (Outcome.INVALID_ARGUMENTS, "is_directory")
    assert run(tmp_path, path="/etc/passwd").outcome is Outcome.REFUSED


@settings(max_examples=60)
@given(
    st.lists(st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), max_size=9)),
    st.integers(1, 30), st.integers(1, 30), st.booleans(),
)  # fmt: skip
def test_a_window_is_those_lines(
    tmp_path_factory: pytest.TempPathFactory, parts: list[str], offset: int, limit: int, end: bool
) -> None:
    text = "\n".join(parts) + ("\n" if end else "")
    root = tmp_path_factory.getbasetemp()
    put(root, text.encode())
    whole = [f"{part}\n" for part in text.split("\n")]
    whole[-1] = whole[-1][:-1]
    wanted = [line for line in whole if line]
    result = run(root, offset=offset, limit=limit)
    if offset > max(len(wanted), 1):
        assert result.facts.reason == "past_end"
    elif not result.facts.redactions:
        assert result.text == "".join(wanted[offset - 1 : offset - 1 + limit])
        assert result.facts.detail["total_lines"] == len(wanted)
    tail = run(root, tail=limit)
    if not tail.facts.redactions:
        assert tail.text == "".join(wanted[-limit:])
