"""Environments: records over several lines, ended by lines or by NUL."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from truepenny.diagnose.sanitize.environment import MAX_RECORD, EnvironmentStream
from truepenny.text.redact import Redactor
from truepenny.text.rules.example import word

REDACTOR = Redactor()


def _clean(text: str, step: int = 0, name: str = "") -> tuple[str, dict[str, int]]:
    stream = EnvironmentStream(REDACTOR, name)
    parts = [text[at : at + step] for at in range(0, len(text), step)] if step else [text]
    return "".join(stream.feed(part) for part in parts) + stream.finish(), stream.counts


PRINTED = """\
HOME=/root
DB_PASSWORD=hunter2
 and more
LEVEL=debug
URL=postgres://u:hunter2@db/x
SECRET_NAME=db
API_TOKEN=
hunter2 on the next line
export GITHUB=ghp_abcdefghijklmnopqrstuvwxyz0123456789
KEY=-----BEGIN RSA PRIVATE KEY-----
abcdefghijklmnop
-----END RSA PRIVATE KEY-----
LAST=1
"""


def test_what_goes_on_over_lines_goes_with_its_record() -> None:
    text, counts = _clean(PRINTED)
    assert (
        text
        == """\
HOME=/root
DB_PASSWORD=[REDACTED:key]
LEVEL=debug
URL=postgres://u:[REDACTED:uri-password]@db/x
SECRET_NAME=db
API_TOKEN=
export GITHUB=[REDACTED:github-token]
KEY=[REDACTED:private-key]
LAST=1
"""
    )
    assert counts == {"key": 1, "uri-password": 1, "github-token": 1, "private-key": 1}


@pytest.mark.parametrize("end", ["\n", "\0"])
@given(st.data())
def test_pieces_give_what_the_whole_gives(end: str, data: st.DataObject) -> None:
    text = PRINTED if end == "\n" else "A=1\0DB_PASSWORD=x\ny\0URL=redis://:hunter2@c\0B=2\0"
    assert _clean(text, data.draw(st.integers(1, 90))) == _clean(text)


def test_records_that_end_with_nul_keep_their_ends() -> None:
    text, _ = _clean("A=1\0DB_PASSWORD=x\nNOT=a record\0B=2\0")
    assert text == "A=1\0DB_PASSWORD=[REDACTED:key]\0B=2\0"


def test_a_bare_value_goes_by_the_name_that_was_asked_for() -> None:
    assert _clean("hunter2\n", name="DB_PASSWORD")[0] == "[REDACTED:key]\n"
    assert _clean("debug\n", name="LEVEL") == ("debug\n", {})


def test_shapes_count_under_any_name() -> None:
    packed = base64.b64encode(b'{"auth": {"password": "hunter2"}}').decode()
    text, counts = _clean(f"COLOR={word(39)}+\nBLOB={packed}\nPLAIN={'abc ' * 20}\n")
    assert counts == {"random-key": 1, "packed": 1}
    assert "abc abc" in text


def test_a_record_too_long_to_be_held_is_not_shown() -> None:
    text, counts = _clean(f"A=1\nBIG={'x' * (3 * MAX_RECORD)}\nB=2\n", 65536)
    assert text == "A=1\n[REDACTED:too-long]\nB=2\n"
    assert counts == {"too-long": 1}
