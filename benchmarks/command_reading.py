"""How long a line is judged before it runs: to the limit of 200 µs, and against the shlex lexer.

The lines are those a model writes most. Each is judged alone, in turn with the baseline, so that a
busy machine slows both alike; the figure is the median over all lines of each line's median.
"""

from __future__ import annotations

import shlex
import statistics
import time
from collections.abc import Callable

from truepenny.command.check import Admitted, check
from truepenny.command.risk import classify
from truepenny.command.shell import read_line

from .report import Row

ROUNDS = 60
LIMIT_US = 200.0
"""The bar for a typical line (issue 4, must hold)."""

LINES = (
    ("local", "kubectl get pods -n shop"),
    ("local", "kubectl get pods -A -o wide | grep -v Running"),
    ("local", "kubectl get pods -n shop -o json | jq -r '.items[].metadata.name' | head -5"),
    ("local", "kubectl logs web-0 -n shop --tail=200 | grep -i error | tail -20"),
    ("local", "kubectl describe pod web-0 -n shop"),
    ("node", "journalctl -u kubelet --since '1 hour ago' --no-pager | grep -i error | tail -50"),
    ("node", "cat /proc/meminfo"),
    ("node", "ps aux --sort=-rss | head -20"),
    ("node", "ss -tlnp 2>/dev/null | grep 443"),
    ("node", "ls -la /var/log/pods/*"),
    ("node", "find /var/log -name '*.log' -mtime -1 -size +10M"),
    ("host", "df -h; free -m; uptime"),
    ("pod", "cat /etc/resolv.conf"),
    ("pod", "curl -sS -m 5 http://web.shop.svc:8080/healthz"),
)


def run() -> list[Row]:
    for context, line in LINES:
        assert isinstance(check(line, context), Admitted), line
    judged = _median_us(check)
    lexed = _median_us(lambda line, _: _lex(line))
    read = _median_us(lambda line, _: read_line(line))
    risk = _median_us(lambda line, _: classify(line))
    return [
        Row(
            "judging a typical line, median, to the limit of 200 µs",
            f"{judged:.0f} µs",
            f"{LIMIT_US:.0f} µs",
            judged / LIMIT_US,
            1.0,
        ),
        Row(
            "the same against the shlex lexer",
            f"{judged:.0f} µs",
            f"{lexed:.0f} µs",
            judged / lexed,
        ),
        Row("both readings alone, against it", f"{read:.0f} µs", f"{lexed:.0f} µs", read / lexed),
        Row("the class of risk, against it", f"{risk:.0f} µs", f"{lexed:.0f} µs", risk / lexed),
    ]


def _lex(line: str) -> list[str]:
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    return list(lexer)


def _median_us(judge: Callable[[str, str], object]) -> float:
    times: dict[str, list[float]] = {line: [] for _, line in LINES}
    for _ in range(ROUNDS):
        for context, line in LINES:
            began = time.perf_counter()
            judge(line, context)
            times[line].append(time.perf_counter() - began)
    return statistics.median(statistics.median(found) for found in times.values()) * 1e6
