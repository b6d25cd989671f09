"""Documents in pieces: by their structure, in little memory, and not at all where unreadable."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from truepenny.diagnose.sanitize.document import MAX_VALUE
from truepenny.diagnose.sanitize.json_document import JsonStream
from truepenny.diagnose.sanitize.json_path import parse_path
from truepenny.diagnose.sanitize.notice import UNREAD, notices
from truepenny.diagnose.sanitize.yaml_document import YamlStream
from truepenny.text.redact import Redactor

REDACTOR = Redactor()

OBJECTS: list[dict[str, Any]] = [
    {"apiVersion": "v1", "data": {"user": "Ym9i"}, "kind": "Secret", "metadata": {"name": "s"}},
    {"kind": "ConfigMap", "data": {"color": "blue", "db_password": "x1", "tls.private": "x2"}},
    {"kind": "Pod", "metadata": {"name": "p"}, "spec": {"env": [{"name": "A", "value": "1"}]}},
]
LIST = {"apiVersion": "v1", "items": OBJECTS, "kind": "List", "metadata": {"resourceVersion": ""}}


def _read(stream: JsonStream | YamlStream, text: str, step: int = 0) -> str:
    parts = [text[at : at + step] for at in range(0, len(text), step)] if step else [text]
    return "".join(stream.feed(part) for part in parts) + stream.finish()


@given(st.integers(1, 200), st.sampled_from([None, 4]), st.sampled_from([LIST, *OBJECTS, OBJECTS]))
def test_it_is_what_the_redactor_makes_of_the_whole(
    step: int, indent: int | None, value: Any
) -> None:
    stream = JsonStream(REDACTOR)
    text = _read(stream, json.dumps(value, indent=indent), step)
    expected, counts = REDACTOR.json(value)
    assert json.loads(text) == expected
    assert stream.counts == counts
    assert (stream.lost, stream.unread, stream.withheld) == ("", False, 0)
    if indent and not counts:
        assert text == json.dumps(value, indent=indent)


def test_what_nothing_is_taken_from_comes_as_it_was_written() -> None:
    text = '\n{ "items" : [ {"a":1.50} ,\n {"b" : "\\u00e9"} ] , "kind":"List" }\n {"c":[]}\n'
    stream = JsonStream(REDACTOR)
    assert _read(stream, text, 3) == text
    assert notices(stream) == ()


def test_a_name_that_comes_twice_hides_nothing() -> None:
    for text in (
        '{"password":"hunter2","password":""}',
        '{"items":[{"a":{"password":"hunter2","password":""}}]}',
        '{"items":[],"x":{"password":"hunter2","password":""}}',
    ):
        assert "hunter2" not in _read(JsonStream(REDACTOR), text)
        assert "hunter2" not in _read(YamlStream(REDACTOR), text)


@pytest.mark.parametrize(
    "text",
    [
        '{"data":{"user":"Ym9iYm9i"},"items":[]}',
        '{"items":[],"data":{"user":"Ym9iYm9i"},"kind":"Secret"}',
        '{"kind":"SecretList","items":[{"data":{"user":"Ym9iYm9i"}}]}',
        '{"items":[{"metadata":{},"data":{"user":"Ym9iYm9i"}}],"kind":"SecretList"}',
        '{"items":[{"type":"Opaque","data":{"user":"Ym9iYm9i"}}]}',
        '{"metadata":{},"data":{"user":"Ym9iYm9i"}}',
    ],
)
def test_data_of_a_kind_that_is_not_told_is_taken_for_a_secret(text: str) -> None:
    if text.startswith('{"data"'):
        text = text.replace("{", '{"metadata":{},', 1)
    assert "Ym9i" not in _read(JsonStream(REDACTOR), text)


@pytest.mark.parametrize(
    "text", ['{"a":', '{"items":[{"a":1}', '{"a" 1}', '{"a":1,}', "[1,", "{'a'}"]
)
def test_what_cannot_be_read_is_not_shown(text: str) -> None:
    stream = JsonStream(REDACTOR)
    shown = _read(stream, text + '"password-of-ours"')
    assert "ours" not in shown
    assert stream.lost and stream.withheld
    assert any("are not shown" in said for said in notices(stream))


def test_what_comes_in_the_place_of_a_document_is_redacted_by_lines() -> None:
    stream = JsonStream(REDACTOR)
    text = _read(stream, "Error from server: password=hunter2\nnext\n", 5)
    assert text == "Error from server: password=[REDACTED:assignment]\nnext\n"
    assert notices(stream)[1:] == (UNREAD,)


def test_memory_is_that_of_the_largest_item() -> None:
    stream = JsonStream(REDACTOR)
    item = json.dumps({"kind": "Pod", "note": "x" * 50_000})
    held = given = 0
    given += len(stream.feed('{"items":['))
    for number in range(100):
        piece = ("," if number else "") + item
        held += len(piece) - len(stream.feed(piece))
        assert held < 3 * len(item)
    stream.feed("]}")
    assert stream.finish() == "" and not stream.lost


def test_a_value_without_an_end_is_given_up() -> None:
    stream = JsonStream(REDACTOR)
    stream.feed('{"a":"')
    for _ in range(80):
        stream.feed("x" * (1 << 19))
    assert stream.finish() == ""
    assert stream.lost and stream.withheld > MAX_VALUE


def test_a_path_takes_parts_of_what_is_left() -> None:
    def take(path: str, value: Any = LIST) -> str:
        return _read(JsonStream(REDACTOR, parse_path(path)), json.dumps(value), 7)

    assert take(".items[].metadata.name") == "s\nnull\np\n"
    assert take(".items[0].data.user") == "[REDACTED:secret-data]\n"
    assert take(".items[-1].metadata") == '{"name":"p"}\n'
    assert take(".kind") == "List\n"
    assert take("[1]", [1, 2]) == "2\n"
    text = yaml.safe_dump(LIST)
    stream = YamlStream(REDACTOR, parse_path(".items[].data.user"))
    assert _read(stream, text, 7) == "[REDACTED:secret-data]\nnull\nnull\n"


@settings(max_examples=25)
@given(st.integers(1, 200))
def test_yaml_goes_document_by_document(step: int) -> None:
    texts = [yaml.safe_dump(value) for value in (*OBJECTS, LIST)]
    stream = YamlStream(REDACTOR)
    text = _read(stream, "---\n".join(texts), step)
    got = list(yaml.safe_load_all(text))
    assert got == [REDACTOR.json(value)[0] for value in (*OBJECTS, LIST)]
    assert stream.counts == {"secret-data": 2, "key": 4}


def test_yaml_that_is_clean_comes_as_it_was_written() -> None:
    text = "# a note\nkind: Pod\nat: 2026-11-30T10:00:00Z\nlist:\n    - 1\n"
    assert _read(YamlStream(REDACTOR), text) == text
    changed = _read(YamlStream(REDACTOR), f"{text}password: hunter2\n")
    assert "hunter2" not in changed and "2026-11-30T10:00:00Z" in changed


def test_aliases_are_not_followed() -> None:
    bomb = "a: &a [x]\n" + "".join(
        f"{name}: &{name} [*{before},*{before}]\n"
        for before, name in zip("abcdefghijklmnopqrstuvw", "bcdefghijklmnopqrstuvwx", strict=True)
    )
    stream = YamlStream(REDACTOR)
    assert _read(stream, bomb) == bomb
    assert stream.unread and not stream.lost
    stream = YamlStream(REDACTOR)
    assert _read(stream, "kind: Secret\ndata:\n  a: &a Ym9i\n  b: *a\n") == ""
    assert stream.lost


@pytest.mark.parametrize("text", ["kind: Secret\ndata: {a: Ym9i\n", "x: [\ndata:\n  a: Ym9i\n"])
def test_yaml_that_may_be_a_secret_and_is_not_readable_is_not_shown(text: str) -> None:
    stream = YamlStream(REDACTOR)
    assert _read(stream, text) == ""
    assert stream.withheld == len(text)


def test_values_learned_meanwhile_are_masked() -> None:
    redactor = Redactor()
    stream = JsonStream(redactor)
    first = stream.feed('{"items":[{"a":"Known-value-7"}')
    redactor.learn("Known-value-7", "k")
    rest = stream.feed(',{"a":"Known-value-7"}]}') + stream.finish()
    assert "Known-value-7" in first and "Known-value-7" not in rest
