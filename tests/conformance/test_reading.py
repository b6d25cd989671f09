"""What is read out of an answer, and what is not."""

from __future__ import annotations

from truepenny.conformance.observed import Observed
from truepenny.conformance.profile import Profile, Words, profiles
from truepenny.conformance.reading import read_answer

KNOWN = profiles()


def test_without_a_profile_nothing_is_read_from_words() -> None:
    text = "exit code: 3\ntimed out\n[truncated]"
    assert read_answer(Profile(), text, None, False) == Observed(text, flagged=False)


def test_fields_are_read_also_where_they_are_wrapped() -> None:
    inner = {"exitCode": 3, "stdout": "a", "stderr": "b", "timedOut": False, "signal": None}
    for fields in (inner, {"result": inner}):
        seen = read_answer(Profile(), "t", fields, False)
        assert (seen.exit_code, seen.stdout, seen.stderr, seen.output) == (3, "a", "b", "ab")
        assert seen.timed_out is False
        assert seen.truncated is None
        assert seen.signal is None


def test_a_flag_is_no_number() -> None:
    assert read_answer(Profile(), "", {"exit_code": True}, False).exit_code is None
    assert read_answer(Profile(), "", {"timed_out": 0}, False).timed_out is None


def test_patterns_make_their_absence_a_no() -> None:
    profile = Profile(words=Words(timed_out=("^stopped$",), output=(r"(?s)\Aout:\n(.*)",)))
    assert read_answer(profile, "stopped", None, True).timed_out is True
    seen = read_answer(profile, "out:\nx", None, True)
    assert (seen.timed_out, seen.output) == (False, "x")


def test_json_in_the_text_counts_only_where_a_profile_says_so() -> None:
    text = '{"return_code": 4, "output": "x"}'
    assert read_answer(Profile(), text, None, False).exit_code is None
    seen = read_answer(Profile(json_text=True), text, None, False)
    assert (seen.exit_code, seen.output) == (4, "x")
    assert read_answer(Profile(json_text=True), "not JSON", None, False).exit_code is None


def test_a_server_of_words() -> None:
    profile = KNOWN["terminal-controller"]
    good = "Command executed successfully (duration: 0:00:00.1)\n\nOutput:\nhi\n\n"
    bad = "Command execution failed (duration: 0:00:00.1)\n\nError:\nerr\n\nReturn code: 3"
    late = (
        "Command execution failed (duration: 0:00:01)\n\nError:\nCommand timed out after 1 seconds"
        "\nReturn code: -1"
    )
    assert read_answer(profile, good, None, False).exit_code == 0
    assert read_answer(profile, bad, None, False).exit_code == 3
    assert read_answer(profile, bad, None, False).timed_out is False
    assert read_answer(profile, late, None, False).timed_out is True


def test_a_server_whose_flag_is_its_only_word() -> None:
    profile = KNOWN["mcp-server-commands"]
    assert read_answer(profile, "hi", None, False).exit_code == 0
    failed = read_answer(profile, "Command failed: false", None, True)
    assert (failed.exit_code, failed.failure_told) == (None, True)
    cut = read_answer(profile, "stdout maxBuffer length exceeded\nxxx", None, True)
    assert cut.truncated is True
