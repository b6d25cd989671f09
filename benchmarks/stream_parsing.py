"""Reading one long stream on each protocol, against the official SDKs."""

from __future__ import annotations

from .peers import OURS, PEER, best, ensure_peers, zero_server
from .report import Row

DELTAS = 5000
PROTOCOLS = ("chat", "messages", "responses")


def run() -> list[Row]:
    ensure_peers()
    rows: list[Row] = []
    with zero_server() as url:
        for protocol in PROTOCOLS:
            arguments = (url, str(DELTAS), protocol)
            mine = best(OURS, "streams/truepenny_stream.py", *arguments, key="cpu")["cpu"]
            theirs = best(PEER, "streams/sdk_stream.py", *arguments, key="cpu")["cpu"]
            rows.append(
                Row(
                    f"{DELTAS} deltas, {protocol}",
                    f"{mine * 1000:.0f} ms",
                    f"{theirs * 1000:.0f} ms",
                    mine / theirs,
                    1.0,
                )
            )
    return rows
