"""Judging pods by their rows."""

from __future__ import annotations

import pytest

from truepenny.diagnose.triage.survey import PodRow, read_pods, troubled

TABLE = """\
NAMESPACE   NAME    READY   STATUS             RESTARTS        AGE   IP           NODE
shop        a       1/1     Running            0               1d    10.0.0.1     worker-1
shop        b       0/1     CrashLoopBackOff   6 (5m39s ago)   17m   10.0.0.2     worker-2
jobs        c       0/1     Completed          0               77m   <none>       <none>
"""


def test_rows_are_read_by_their_titles() -> None:
    rows = read_pods(TABLE)
    assert rows[1] == PodRow("shop", "b", "0/1", "CrashLoopBackOff", "worker-2", "6 (5m39s ago)")
    assert [row.suspicious for row in rows] == [False, True, False]
    assert rows[2].node == ""
    assert read_pods(TABLE.replace("NAMESPACE", "OTHER    "), "here")[0].namespace == "here"
    assert read_pods("No resources found\n") == []


@pytest.mark.parametrize(
    ("ready", "status", "restarts", "odd"),
    [
        ("2/2", "Running", "0", False),
        ("1/2", "Running", "0", True),
        ("0/1", "Completed", "0", False),
        ("0/1", "Evicted", "0", True),
        ("1/1", "Terminating", "0", True),
        # Between two crashes a pod runs and is ready.
        ("1/1", "Running", "7 (45s ago)", True),
        ("1/1", "Running", "3 (14m ago)", True),
        ("1/1", "Running", "1 (45s ago)", False),
        ("1/1", "Running", "7 (16m ago)", False),
        ("1/1", "Running", "7 (3h2m ago)", False),
        ("1/1", "Running", "70 (9d ago)", False),
        ("1/1", "Running", "7 (no time ago)", False),
    ],
)
def test_what_looks_wrong(ready: str, status: str, restarts: str, odd: bool) -> None:
    assert PodRow("n", "p", ready, status, "", restarts).suspicious is odd


def test_the_namespace_with_the_most_trouble_comes_first() -> None:
    rows = [PodRow(space, "p", "0/1", "Error") for space in ("b", "c", "a", "c")]
    assert troubled([*rows, PodRow("fine", "p", "1/1", "Running")]) == ["c", "a", "b"]
