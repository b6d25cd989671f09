"""Redacting and bounding text, against one regular expression and a plain slice in the same run."""

from __future__ import annotations

import re
import time
from collections.abc import Callable

from truepenny.text.bound import HeadTail, Limits
from truepenny.text.decode import Decoder
from truepenny.text.redact import Redactor

from .report import Row

MEGABYTES = 20
CHUNK = 64 * 1024
KNOWN_VALUES = 50
REDACT_AT_LEAST = 20.0
"""MB/s of log text (issue 4's bar for logs, met here already)."""

LINE = (
    "2026-11-30T12:00:00.123Z level=info pod=checkout-7d9f8b6c5-x2x1v trace=4bf92f3577b34da6 "
    'msg="served GET /cart/4711 in 12 ms" status=200 bytes=5120 user_agent="kube-probe/1.37"\n'
)


def run() -> list[Row]:
    text = LINE * (MEGABYTES * 1_000_000 // len(LINE))
    redactor = Redactor()
    for number in range(KNOWN_VALUES):
        redactor.learn(f"known-secret-value-{number:04d}-xyz", f"value-{number}")
    redactor.text(text[:CHUNK])  # compiles the rules
    single = re.compile(r"(?i)password\s*[:=]\s*\S+")
    one = _seconds(lambda: single.sub("x", text))
    whole = _seconds(lambda: redactor.text(text))
    streamed = _seconds(lambda: _stream(redactor, text))
    sliced = _seconds(lambda: [text[i : i + CHUNK].count("\n") for i in range(0, len(text), CHUNK)])
    bounded = _seconds(lambda: _bound(text))
    data = text.encode()
    plain = _seconds(lambda: data.decode())
    decoded = _seconds(lambda: _decode(data))
    return [
        _row("redact whole text, to one regular expression", whole, one),
        _row("redact in 64 KiB chunks, to one regular expression", streamed, one),
        Row(
            "redact in chunks, MB/s to the 20 MB/s bar",
            f"{MEGABYTES / streamed:.0f} MB/s",
            f"{REDACT_AT_LEAST:.0f} MB/s",
            MEGABYTES / streamed / REDACT_AT_LEAST,
            1.0,
            at_least=True,
        ),
        _row("bound to head and tail, to counting lines", bounded, sliced),
        _row("decode in 64 KiB chunks, to one bytes.decode()", decoded, plain),
    ]


def _row(what: str, ours: float, baseline: float) -> Row:
    speeds = (f"{MEGABYTES / seconds:.0f} MB/s" for seconds in (ours, baseline))
    return Row(what, *speeds, ours / baseline)


def _seconds(work: Callable[[], object], rounds: int = 3) -> float:
    best = float("inf")
    for _ in range(rounds):
        began = time.process_time()
        work()
        best = min(best, time.process_time() - began)
    return best


def _stream(redactor: Redactor, text: str) -> None:
    stream = redactor.stream()
    for start in range(0, len(text), CHUNK):
        stream.feed(text[start : start + CHUNK])
    stream.finish()


def _bound(text: str) -> None:
    keeper = HeadTail(Limits(bytes=32_768, lines=2000))
    for start in range(0, len(text), CHUNK):
        keeper.feed(text[start : start + CHUNK])
    keeper.finish()


def _decode(data: bytes) -> None:
    decoder = Decoder()
    for start in range(0, len(data), CHUNK):
        decoder.feed(data[start : start + CHUNK])
    decoder.finish()
