from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from truepenny.workspace.server.frame import MAX_FRAME, FrameFault, FrameReader, frame


@given(st.lists(st.binary(min_size=1, max_size=40), max_size=6), st.integers(1, 7))
def test_frames_come_out_as_they_went_in_however_they_are_cut(
    payloads: list[bytes], size: int
) -> None:
    stream = b"".join(map(frame, payloads))
    reader = FrameReader()
    out = [
        payload
        for at in range(0, len(stream), size)
        for payload in reader.feed(stream[at : at + size])
    ]
    reader.finish()
    assert out == payloads


@pytest.mark.parametrize(
    "header", [b"\0\0\0\0", (MAX_FRAME + 1).to_bytes(4, "big"), b"\xff" * 4, b"GET "]
)
def test_a_length_that_no_frame_has_is_seen_before_its_bytes(header: bytes) -> None:
    with pytest.raises(FrameFault):
        FrameReader().feed(header)


def test_the_largest_frame_passes_and_a_larger_is_not_written() -> None:
    largest = b"x" * MAX_FRAME
    assert FrameReader().feed(frame(largest)) == [largest]
    for wrong in (b"", largest + b"x"):
        with pytest.raises(FrameFault):
            frame(wrong)


@pytest.mark.parametrize("rest", [b"\0", b"\0\0\0\x05", b"\0\0\0\x05abcd"])
def test_bytes_left_at_the_end_are_a_fault(rest: bytes) -> None:
    reader = FrameReader()
    assert reader.feed(frame(b"{}") + rest) == [b"{}"]
    with pytest.raises(FrameFault, match="inside"):
        reader.finish()
