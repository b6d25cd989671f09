"""What the loop costs per tool-calling turn, against three agent frameworks on the same server."""

from __future__ import annotations

from .peers import OURS, PEER, best, ensure_peers, zero_server
from .report import Row

FRAMEWORKS = ("pydantic_ai", "openai_agents", "smolagents")
TURNS = (50, 200)
CPU_LIMIT = 0.25
GROWTH_LIMIT = 1.3


def run() -> list[Row]:
    ensure_peers()
    rows: list[Row] = []
    ours: dict[int, float] = {}
    with zero_server() as url:
        for turns in TURNS:
            mine = best(OURS, "loops/truepenny_loop.py", url, str(turns), key="cpu_per_turn")
            ours[turns] = mine["cpu_per_turn"]
            theirs = {
                name: best(PEER, f"loops/{name}_loop.py", url, str(turns), key="cpu_per_turn")
                for name in FRAMEWORKS
            }
            fastest = min(theirs, key=lambda name: theirs[name]["cpu_per_turn"])
            for name, their in theirs.items():
                rows.append(
                    Row(
                        f"CPU per turn, {turns} turns, {name}",
                        f"{mine['cpu_per_turn'] * 1000:.2f} ms",
                        f"{their['cpu_per_turn'] * 1000:.2f} ms",
                        mine["cpu_per_turn"] / their["cpu_per_turn"],
                        CPU_LIMIT if name == fastest else None,
                    )
                )
                rows.append(
                    Row(
                        f"peak memory, {turns} turns, {name}",
                        f"{mine['peak_mib']:.0f} MiB",
                        f"{their['peak_mib']:.0f} MiB",
                        mine["peak_mib"] / their["peak_mib"],
                    )
                )
    short, long = (ours[turns] for turns in TURNS)
    rows.append(
        Row(
            f"CPU per turn, {TURNS[1]} turns to {TURNS[0]} turns",
            f"{long * 1000:.2f} ms",
            f"{short * 1000:.2f} ms",
            long / short,
            GROWTH_LIMIT,
        )
    )
    return rows
