"""What each policy shows, and that nothing it leaves out is left out silently."""

from __future__ import annotations

import hashlib

from hypothesis import given
from hypothesis import strategies as st

from truepenny.execute.process import Stream
from truepenny.workspace.shape import Policy, Shaped, Shaper
from truepenny.workspace.shape.shaper import BODY_BYTES, BOUNDED_BYTES, WHOLE_BYTES
from truepenny.workspace.shape.summary import Summary

pieces = st.lists(
    st.tuples(
        st.sampled_from(("stdout", "stderr")),
        st.text(st.sampled_from("abé€\n "), max_size=200).map(lambda text: text * 40),
    ),
    max_size=12,
)


def shaped(policy: Policy, *given: tuple[Stream, str]) -> Shaped:
    shaper = Shaper(policy)
    for stream, text in given:
        shaper.feed(stream, text)
    return shaper.finish()


@given(pieces, st.sampled_from(Policy))
def test_no_policy_shows_more_than_a_result_may_hold(
    given: list[tuple[Stream, str]], policy: Policy
) -> None:
    got = shaped(policy, *given)
    assert len(got.text.encode()) <= BODY_BYTES
    assert 0 <= got.kept <= got.total == sum(len(text.encode()) for _, text in given)
    assert 0 <= got.shown_lines <= got.total_lines
    if not got.cut and policy is not Policy.SUMMARY:
        assert got.kept == got.total
    if got.whole is not None:
        assert got.whole == "".join(text for _, text in given)
    else:
        assert got.total > WHOLE_BYTES


def test_short_output_is_whole_under_every_policy_that_shows_any() -> None:
    for policy in (Policy.FULL, Policy.BOUNDED, Policy.SUMMARY):
        got = shaped(policy, ("stdout", "one\n\ntwo"), ("stderr", "oh\n"))
        assert (got.text, got.cut) == ("one\n\ntwo\nSTDERR:\noh\n", False)


def test_metadata_only_shows_nothing_and_keeps_all() -> None:
    got = shaped(Policy.METADATA_ONLY, ("stdout", "one\ntwo\n"))
    assert (got.text, got.cut, got.kept, got.total, got.total_lines) == ("", True, 0, 8, 2)
    assert got.whole == "one\ntwo\n"


def test_full_falls_back_to_head_and_tail_and_says_why() -> None:
    long = "".join(f"line {number}\n" for number in range(4000))
    got = shaped(Policy.FULL, ("stdout", long))
    assert got.downgraded
    assert str(len(long)) in got.downgraded
    assert got.text.startswith("line 0\n")
    assert got.text.endswith("line 3999\n")
    assert len(got.text) > BOUNDED_BYTES
    assert not shaped(Policy.FULL, ("stdout", long[:BODY_BYTES])).downgraded
    assert not shaped(Policy.BOUNDED, ("stdout", long)).downgraded


def test_a_flood_on_one_stream_leaves_the_other_its_half() -> None:
    flood, words = "x" * 79 + "\n", "y" * 79 + "\n"
    got = shaped(Policy.BOUNDED, ("stdout", flood * 5000), ("stderr", words * 40))
    assert got.text.endswith(words * 40)  # 3200 bytes fit into a half
    assert BOUNDED_BYTES - 200 < len(got.text) <= BOUNDED_BYTES
    got = shaped(Policy.BOUNDED, ("stderr", flood * 5000))
    assert len(got.text) > BOUNDED_BYTES - 200


def test_a_summary_picks_first_last_and_erring_lines() -> None:
    lines = [f"step {number} ok" for number in range(1, 201)]
    lines[99] = "error: the disk is full"
    text = "\n".join(lines) + "\n"
    got = shaped(Policy.SUMMARY, ("stdout", text))
    assert got.text.splitlines() == [
        *lines[:4],
        "[... 95 lines left out ...]",
        "error: the disk is full",
        "[... 94 lines left out ...]",
        *lines[-6:],
    ]
    assert got.sha256 == hashlib.sha256(text.encode()).hexdigest()
    assert (got.shown_lines, got.total_lines, got.error_lines, got.cut) == (11, 200, 1, True)


def test_a_summary_cuts_long_lines_on_a_character_and_counts_the_errors_left_out() -> None:
    noise = "".join(f"error {number}\n" for number in range(50))
    got = shaped(Policy.SUMMARY, ("stdout", "€" * 5000 + "\n"), ("stderr", noise))
    first, *rest = got.text.splitlines()
    assert first.startswith("€" * 240)
    assert first.endswith(" bytes]")
    assert len(first.encode()) <= 768
    assert rest[0] == "stderr: error 0"
    assert rest[-1].endswith("more lines look like errors]")
    assert got.error_lines == 50


def test_a_line_in_pieces_from_both_streams_stays_one_line() -> None:
    got = shaped(
        Policy.SUMMARY, ("stdout", "be"), ("stderr", "oh"), ("stdout", "gin\n"),
        *(("stdout", f"{number}\n") for number in range(20)),
    )  # fmt: skip
    assert got.text.startswith("begin\n")
    assert "stderr: oh\n" in got.text


@given(
    st.lists(
        st.tuples(
            st.sampled_from(("stdout", "stderr")),
            st.text(st.sampled_from("a \n"), max_size=300),
            st.sampled_from(("", "", "\nfatal: x\n")),
        ),
        max_size=8,
    )
)
def test_many_lines_at_once_are_chosen_as_if_one_by_one(
    given: list[tuple[Stream, str, str]],
) -> None:
    at_once, slowly = Summary(), Summary()
    for stream, text, error in given:
        at_once.feed(stream, text + error)
        for character in text + error:
            slowly.feed(stream, character)
    assert at_once.finish() == slowly.finish()


def test_each_kind_of_complaint_is_seen_among_many_lines() -> None:
    complaints = (
        "TypeError: no", "an error", "ERR 5", "it fails", "FATAL", "panicked at", "Exception in",
        "Traceback (most recent call last)", "Permission denied", "connection refused", "cannot",
        "can't open", "could not", "not found", "No such file", "undefined symbol", "unresolved",
        "Segmentation fault", "Killed", "aborted", "timed out", "assertion",
    )  # fmt: skip
    for complaint in complaints:
        lines = [f"step {number} of 300" for number in range(300)]
        lines[150] = complaint
        summary = Summary()
        summary.feed("stdout", "0\n1\n2\n3\n")
        summary.feed("stdout", "\n".join(lines) + "\n")
        assert complaint in summary.finish().text
