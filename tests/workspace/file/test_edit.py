"""An edit changes what was meant and no other byte, or nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from truepenny.tool.outcome import Outcome
from truepenny.tool.result import Result
from truepenny.workspace.file import edit as module
from truepenny.workspace.file.edit import Change, apply, edit
from truepenny.workspace.file.fault import FileFault
from truepenny.workspace.file.match import FOLDED_BYTES, find_spans, spliced, without_indentation

from .world import access


def run(root: Path, data: bytes | None, *pairs: tuple[str, str], **arguments: Any) -> Result:
    if data is not None:
        (root / "f").write_bytes(data)
    if pairs:
        arguments["edits"] = [{"old_text": old, "new_text": new} for old, new in pairs]
    try:
        return edit(access(root), {"path": "f", **arguments})
    except FileFault as fault:
        return fault.result()


def after(root: Path) -> bytes:
    return (root / "f").read_bytes()


def test_one_place_is_replaced_and_told(tmp_path: Path) -> None:
    result = run(tmp_path, b"a\nb\nc\n", old_text="b", new_text="B")
    assert after(tmp_path) == b"a\nB\nc\n"
    detail = result.facts.detail
    assert detail["edits"] == [{"line": 2, "match": "exact", "places": 1}]
    assert (detail["first_changed_line"], detail["diff"]) == (
        2,
        "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n",
    )


def test_crlf_and_bom_survive_an_edit_in_line_feeds(tmp_path: Path) -> None:
    result = run(tmp_path, b"\xef\xbb\xbfone\r\ntwo\r\nthree", ("one\ntwo", "1\n2\n2b"))
    assert after(tmp_path) == b"\xef\xbb\xbf1\r\n2\r\n2b\r\nthree"
    assert (result.facts.detail["line_endings"], result.facts.detail["bom"]) == ("crlf", True)
    run(tmp_path, b"a\nb\n", ("a\r\nb", "x\r\ny"))
    assert after(tmp_path) == b"x\ny\n"


def test_what_looks_the_same_is_found_and_other_lines_keep_their_bytes(tmp_path: Path) -> None:
    data = "x = 1  \nsay(“hi”)\t\ny = 2 \n".encode()
    result = run(tmp_path, data, ('x = 1\nsay("hi")\ny = 2', 'x = 1\nsay("bye")\ny = 2'))
    assert after(tmp_path).decode() == 'x = 1  \nsay("bye")\ny = 2 \n'
    assert result.facts.detail["edits"][0]["match"] == "folded"
    assert "looks the same" in result.text


@pytest.mark.parametrize(
    ("data", "old"),
    [
        ("a\u00a0b", "a b"), ("a — b", "a - b"), ("‘q’", "'q'"), ("caf\u0065\u0301", "café"),
        ("ﬁne", "fine"), ("Ｆull", "Full"), ("x  \ny", "x\ny"), ("x\ny", "x  \ny\t"),
    ],
)  # fmt: skip
def test_folding(tmp_path: Path, data: str, old: str) -> None:
    assert run(tmp_path, data.encode(), (old, "new")).facts.detail["edits"][0]["match"] == "folded"
    assert after(tmp_path) == b"new"


def test_folding_never_cuts_a_character_and_never_ignores_indentation(tmp_path: Path) -> None:
    assert run(tmp_path, "ﬁne".encode(), ("ine", "x")).facts.reason == "absent"
    result = run(tmp_path, b"if x:\n\treturn 1\n", ("if x:\n    return 1", "y"))
    assert result.facts.reason == "absent"
    assert "indentation" in result.facts.hint
    assert run(tmp_path, b"a b c\n", ("b  ", "x")).facts.reason == "absent"
    assert after(tmp_path) == b"a b c\n"


def test_an_exact_place_goes_before_those_that_look_the_same(tmp_path: Path) -> None:
    run(tmp_path, '“a” "a"'.encode(), ('"a"', "b"))
    assert after(tmp_path).decode() == "“a” b"


def test_ambiguous_counts_and_names_lines(tmp_path: Path) -> None:
    result = run(tmp_path, b"a\nb\na\n", ("a", "x"))
    assert (result.outcome, result.facts.reason) == (Outcome.TARGET_FAILED, "ambiguous")
    assert result.facts.completeness.reason == "it could not be done"  # not that nothing ran
    assert (result.facts.detail["places"], result.facts.detail["lines"]) == (2, [1, 3])
    assert run(tmp_path, b"aaa", ("aa", "x")).facts.detail["places"] == 2
    assert run(tmp_path, "“a” ‘a’ „a‟".encode(), ('"a"', "x")).facts.reason == "ambiguous"


def test_replace_all_is_exact_only(tmp_path: Path) -> None:
    run(tmp_path, b"aaaa b a", old_text="aa", new_text="x", replace_all=True)
    assert after(tmp_path) == b"xx b a"
    result = run(tmp_path, "“a” “a”".encode(), old_text='"a"', new_text="x", replace_all=True)
    assert result.facts.reason == "ambiguous"


def test_several_edits_are_of_the_original_and_all_or_none(tmp_path: Path) -> None:
    run(tmp_path, b"one two three", ("three", "one"), ("one", "two"))
    assert after(tmp_path) == b"two two one"
    assert run(tmp_path, b"one two", ("one", "1"), ("none", "x")).facts.reason == "absent"
    assert after(tmp_path) == b"one two"
    assert run(tmp_path, b"abcd", ("abc", "1"), ("cd", "2")).facts.reason == "overlap"
    assert after(tmp_path) == b"abcd"
    run(tmp_path, b"abcd", ("ab", "1"), ("cd", "2"))
    assert after(tmp_path) == b"12"


def test_edits_may_come_as_json_text(tmp_path: Path) -> None:
    run(tmp_path, b"a", edits=json.dumps([{"old_text": "a", "new_text": "b"}]))
    assert after(tmp_path) == b"b"
    for wrong in ("[", "{}", "[]", "[1]", '[{"old_text": "a"}]', "null"):
        assert run(tmp_path, b"a", edits=wrong).outcome is Outcome.INVALID_ARGUMENTS


@pytest.mark.parametrize(
    ("old", "new"), [("", "x"), ("a", "a"), ("a", "b\rc"), ("a", "\0"), ("a", "\ud800")]
)
def test_edits_that_make_no_sense_are_invalid(tmp_path: Path, old: str, new: str) -> None:
    assert run(tmp_path, b"a", (old, new)).outcome is Outcome.INVALID_ARGUMENTS
    assert after(tmp_path) == b"a"


def test_the_two_ways_to_ask_are_not_mixed(tmp_path: Path) -> None:
    assert run(tmp_path, b"a").facts.reason == "edits"
    assert run(tmp_path, b"a", ("a", "b"), old_text="a", new_text="c").facts.reason == "edits"
    assert run(tmp_path, b"a", old_text="a").facts.reason == "edits"


@pytest.mark.parametrize(
    ("data", "reason", "offset"),
    [
        (b"a\r\nb\n", "mixed_line_endings", None), (b"a\rb", "bare_carriage_return", None),
        (b"a\xffb", "invalid_utf8", 1), (b"\xef\xbb\xbfa\xff", "invalid_utf8", 4),
        (b"a\0b", "binary", 1),
    ],
)  # fmt: skip
def test_what_could_not_be_kept_is_refused(
    tmp_path: Path, data: bytes, reason: str, offset: int | None
) -> None:
    result = run(tmp_path, data, ("a", "x"))
    assert (result.outcome, result.facts.reason) == (Outcome.REFUSED, reason)
    assert result.facts.detail.get("offset") == offset
    assert after(tmp_path) == data


def test_large_files_are_matched_exactly_and_larger_ones_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    big = b"x" * FOLDED_BYTES + "“a”".encode()
    assert run(tmp_path, big, ('"a"', "b")).facts.reason == "absent"
    assert run(tmp_path, big, ("“a”", "b")).outcome is Outcome.SUCCESS
    assert after(tmp_path) == b"x" * FOLDED_BYTES + b"b"
    monkeypatch.setattr(module, "EDIT_BYTES", 3)
    assert run(tmp_path, b"abcd", ("a", "b")).facts.reason == "too_large"


def test_a_missing_file_is_not_made(tmp_path: Path) -> None:
    assert run(tmp_path, None, ("a", "b")).facts.reason == "not_found"
    assert list(tmp_path.iterdir()) == []


texts = st.text(st.sampled_from("ab \t\n\"'“”‘-—é\u0301ﬁ\u00a0"), max_size=30)


@given(texts, texts, st.text(max_size=10), st.booleans(), st.booleans())
def test_bytes_outside_of_the_place_stay(
    text: str, old: str, new: str, crlf: bool, bom: bool
) -> None:
    """Whatever is found, what was before and behind it is there afterwards, byte by byte."""
    assume(old)
    for span in find_spans(text, old):
        done = apply(text, [Change(span, new)])
        assert done == text[: span.start] + new + text[span.stop :]
        if span.kind == "exact":
            assert text[span.start : span.stop] == old


@given(texts, st.data())
def test_an_exact_part_is_always_found(text: str, data: st.DataObject) -> None:
    assume(text)
    start = data.draw(st.integers(0, len(text) - 1))
    stop = data.draw(st.integers(start + 1, len(text)))
    spans = find_spans(text, text[start:stop])
    assert any((span.start, span.stop, span.kind) == (start, stop, "exact") for span in spans)


@given(st.lists(st.text(st.sampled_from("ab ,"), max_size=4), min_size=1, max_size=6), st.data())
def test_lines_that_both_texts_share_stay_as_they_stand(
    lines: list[str], data: st.DataObject
) -> None:
    raw = [line + data.draw(st.sampled_from(["", " ", "\t"])) for line in lines]
    old, at = "\n".join(lines), data.draw(st.integers(0, len(lines) - 1))
    new = "\n".join([*lines[:at], "other", *lines[at + 1 :]])
    assert spliced("\n".join(raw), old, old) == "\n".join(raw)
    done = spliced("\n".join(raw), old, new).split("\n")
    assert sorted(done) == sorted([*raw[:at], "other", *raw[at + 1 :]]) or len(set(lines)) < len(
        lines
    )


def test_indentation_is_found_for_the_hint_alone() -> None:
    assert without_indentation("a\n  b\n  c\n", "b\nc") == 2
    assert without_indentation("a\n", "\n\n") is None
    assert without_indentation("a\n", "b") is None
