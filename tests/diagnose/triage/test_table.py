"""The rules' data is used, consistent, and right both ways."""

from __future__ import annotations

import string

import pytest

from truepenny.diagnose.triage.finding import Severity
from truepenny.diagnose.triage.table import causes, exit_codes, last_match, match, patterns

TABLES = ("log", "image", "config", "start", "mount", "creation", "schedule", "probe")


@pytest.mark.parametrize("table", TABLES)
def test_examples_match_their_own_entry_first_and_counters_do_not(table: str) -> None:
    for pattern in patterns(table):
        assert pattern.examples and pattern.counter
        assert pattern.cause in causes()
        for example in pattern.examples:
            found = match(table, example)
            assert found is not None and found[0] is pattern, example
        for counter in pattern.counter:
            assert not pattern.regex.search(counter), counter


def test_what_patterns_capture_is_a_name_and_never_free_text() -> None:
    allowed = set(string.ascii_letters + string.digits + "_.-/:@$+[]")
    for table in TABLES:
        for pattern in patterns(table):
            for example in pattern.examples:
                found = pattern.regex.search(example)
                assert found is not None
                for value in found.groupdict().values():
                    assert set(value or "") <= allowed, (pattern.cause, value)


def test_causes_have_words_and_a_known_severity() -> None:
    for cause in causes().values():
        assert Severity(cause.severity) and cause.sentence and cause.rule
        assert cause.check.startswith("kubectl ")


def test_exit_codes_lead_to_known_causes() -> None:
    assert {code.cause for code in exit_codes().values()} <= set(causes())


def test_the_last_words_win_and_specific_ones_beat_generic_ones() -> None:
    lines = [
        "ERROR: cannot reach db: dial tcp 10.0.0.1:5432: connect: connection refused",
        "retrying",
        "yaml: line 3: did not find expected key",
        "panic: giving up",
    ]
    found = last_match("log", lines)
    assert found is not None and found[0].cause == "crash_configuration"
    assert found[2] == lines[2]
    assert last_match("log", ["all is well"]) is None


@pytest.mark.parametrize("length", [2_000, 20_000])
def test_a_long_hostile_line_is_searched_in_bounded_time(length: int) -> None:
    import time

    line = ("lookup " * length)[:length] + "connect to " * 20 + "A" * length
    started = time.process_time()
    last_match("log", [line])
    assert time.process_time() - started < 2
