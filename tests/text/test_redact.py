"""Redaction as a whole: streams, idempotence, known values, lines that belong together."""

from __future__ import annotations

import base64
import html
import json
import threading
import time
from itertools import pairwise
from urllib.parse import quote

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from truepenny.text.redact import KnownValues, Redactor
from truepenny.text.redact_stream import WINDOW
from truepenny.text.rules.example import word

REDACTOR = Redactor()
KNOWN = Redactor()
KNOWN.learn("s3cr3t/värde", "db")

_FRAGMENTS = [
    "passwordSecret:\n",
    "  name: db\n",
    "  key: a\n",
    "  type: string\n",
    "  description: x\n",
    '{"password":["a","b"]}',
    "map[token:abc",
    "password: hunter2",
    "password: |\n",
    "  deeper\n",
    "credentials:\n",
    "- --password\n",
    "- name: DB_PASSWORD\n",
    "  value: abc\n",
    "[REDACTED:assignment]",
    "[REDACTED:",
    "]",
    "://u:p@h",
    "https://",
    "@",
    ":",
    '"token":"',
    '"',
    '\\"',
    " ",
    "\n",
    "=",
    ",",
    "-----BEGIN RSA PRIVATE KEY-----",
    "-----END RSA PRIVATE KEY-----",
    word(64),
    "\n" + word(64) + "\n",
    "ghp_" + word(36),
    "sk-" + word(30),
    "s3cr3t/värde",
    "Bearer " + word(20),
    "İ",
    "x",
]
_soup = st.lists(st.sampled_from(_FRAGMENTS), max_size=14).map("".join)


def _stream(redactor: Redactor, parts: list[str]) -> tuple[str, dict[str, int]]:
    stream = redactor.stream()
    text = "".join(stream.feed(part) for part in parts) + stream.finish()
    return text, stream.counts


def _cut(text: str, places: list[int]) -> list[str]:
    edges = [0, *sorted(place % (len(text) + 1) for place in places), len(text)]
    return [text[a:b] for a, b in pairwise(edges)]


@example("passwordSecret:\nmap[token:abcpassword: hunter2passwordSecret:\n", [16])
@given(_soup, st.lists(st.integers(0, 2000), max_size=12))
def test_a_stream_gives_what_the_whole_gives(text: str, places: list[int]) -> None:
    whole = KNOWN.text(text)
    assert _stream(KNOWN, _cut(text, places)) == (whole.text, whole.counts)
    assert _stream(KNOWN, list(text)) == (whole.text, whole.counts)


@given(_soup)
def test_twice_changes_nothing(text: str) -> None:
    once = KNOWN.text(text).text
    twice = KNOWN.text(once)
    assert (twice.text, twice.counts) == (once, {})


@given(st.text(st.sampled_from("ab:= \n\"'[]{}-\\.,éİ"), max_size=200))
def test_text_without_secrets_comes_back(text: str) -> None:
    assert REDACTOR.text(text).text == text


@settings(max_examples=25)
@given(st.integers(0, 3000), st.integers(WINDOW - 9000, WINDOW + 9000), st.integers(1, 5000))
def test_a_secret_anywhere_in_a_giant_line(before: int, after: int, step: int) -> None:
    secret = "ghp_" + word(36)
    text = "a b " * ((WINDOW - 6000 + before * 4) // 4) + secret + " c d" * (after // 4) + "\nend\n"
    whole = REDACTOR.text(text)
    assert secret not in whole.text
    assert whole.counts == {"github-token": 1}
    parts = [text[at : at + step] for at in range(0, len(text), step)]
    assert _stream(REDACTOR, parts) == (whole.text, whole.counts)


@pytest.mark.parametrize("opener", ['password="', "token=", "password: "])
def test_a_secret_longer_than_the_window_is_swallowed(opener: str) -> None:
    secret = word(3 * WINDOW)
    text = "x " * 50 + opener + secret + '"@host next\nlast\n'
    got = REDACTOR.text(text)
    assert word(36) not in got.text
    assert got.text.endswith("last\n")
    parts = [text[at : at + 999] for at in range(0, len(text), 999)]
    assert _stream(REDACTOR, parts)[0] == got.text


def test_memory_of_a_giant_line_is_bounded() -> None:
    stream = REDACTOR.stream()
    held = 0
    for _ in range(100):
        given_back = stream.feed("lorem ipsum " * 1000)
        held += 12_000 - len(given_back)
        assert held <= 2 * WINDOW
    stream.finish()


def test_known_values_in_each_form() -> None:
    value = 'p"ss/wörd+1?'
    redactor = Redactor()
    assert redactor.learn(value, "db-password")
    raw = value.encode()
    forms = [
        value,
        json.dumps(value)[1:-1],
        json.dumps(value, ensure_ascii=False)[1:-1],
        quote(value, safe=""),
        quote(value, safe="").lower(),
        raw.hex(),
        raw.hex().upper(),
        html.escape(value),
        value.replace('"', "&#34;"),
        html.escape(value).encode("ascii", "xmlcharrefreplace").decode(),
        base64.b64encode(raw).decode(),
        base64.urlsafe_b64encode(raw).decode(),
    ]
    for form in forms:
        got = redactor.text(f"before {form} after")
        assert got.text == "before [REDACTED:db-password] after"
        assert got.counts == {"db-password": 1}


@given(st.binary(max_size=7), st.binary(max_size=7))
def test_a_known_value_inside_a_longer_base64(before: bytes, after: bytes) -> None:
    redactor = Redactor()
    redactor.learn("correct-Horse-7-battery", "x")
    text = base64.b64encode(before + b"correct-Horse-7-battery" + after).decode()
    assert redactor.text(text).counts == {"x": 1}


def test_many_known_values_are_all_found() -> None:
    known = KnownValues()
    values = [f"Value-{number}-{word(8)}-{number * 7919}" for number in range(300)]
    for value in values:
        assert known.learn(value, "many")
    redactor = Redactor(known=known)
    text = "\n".join(f"a {value} b" for value in values)
    got = redactor.text(text)
    assert got.counts == {"many": 300}
    assert not any(value in got.text for value in values)


def test_a_value_that_begins_another_is_found_on_its_own() -> None:
    known = KnownValues()
    for number in range(30):
        known.learn(f"Filler-{number}-{word(9)}", "filler")
    known.learn("Abc-123-x", "short")
    known.learn("Abc-123-x-and-much-longer-than-that", "long")
    got = Redactor(rules=(), known=known).text(
        "Abc-123-x-and-more Abc-123-x-and-much-longer-than-that"
    )
    assert got.counts == {"short": 1, "long": 1}


def test_a_long_value_is_found_over_its_pieces() -> None:
    redactor = Redactor(rules=())
    value = word(5000)
    redactor.learn(value, "blob")
    assert redactor.text(f"<{value}>").text == "<[REDACTED:blob]>"


def test_words_and_numbers_are_not_learned_unless_certain() -> None:
    redactor = Redactor()
    for value in ("", "abc", "production", "checkout-db", "8080", "12345678"):
        assert not redactor.learn(value)
    assert redactor.text("checkout-db production").counts == {}
    assert redactor.learn("letmein", certain=True)
    assert redactor.text("say letmein").counts == {"known": 1}
    assert not redactor.learn("abc", certain=True)


def test_a_value_of_several_lines_is_known_by_its_lines() -> None:
    redactor = Redactor()
    redactor.learn("first-Line-1\nsecond-Line-2\n", "two")
    assert redactor.text("x second-Line-2").counts == {"two": 1}


def test_learning_while_others_read() -> None:
    redactor = Redactor(rules=())
    failures: list[str] = []
    done = threading.Event()

    def read() -> None:
        while not done.is_set():
            if "Known-value-0" in redactor.text("a Known-value-0 b").text:
                failures.append("seen")

    redactor.learn("Known-value-0", "k")
    threads = [threading.Thread(target=read) for _ in range(2)]
    for thread in threads:
        thread.start()
    for number in range(1, 60):
        redactor.learn(f"Known-value-{number}", "k")
    done.set()
    for thread in threads:
        thread.join(10)
    assert failures == []


_BODY = "\n".join(word(64) for _ in range(4))
_PEM = f"-----BEGIN RSA PRIVATE KEY-----\n{_BODY}\n-----END RSA PRIVATE KEY-----"


def test_a_key_block_becomes_one_mask() -> None:
    got = REDACTOR.text(f"before\n{_PEM}\nafter\n")
    assert got.text == "before\n[REDACTED:private-key]\nafter\n"
    assert got.counts == {"private-key": 1}


def test_a_cut_key_block_is_swallowed_to_the_end() -> None:
    got = REDACTOR.text(_PEM[:150])
    assert word(8) not in got.text


def test_a_key_block_without_an_end_does_not_swallow_the_log() -> None:
    text = f"-----BEGIN RSA PRIVATE KEY-----\n{word(64)}\nINFO the server is up and runs\n"
    got = REDACTOR.text(text)
    assert got.text == "[REDACTED:private-key]\nINFO the server is up and runs\n"


def test_a_key_block_behind_log_prefixes() -> None:
    text = "".join(f"2026-11-30T10:00:00Z pod-1 {line}\n" for line in _PEM.splitlines())
    got = REDACTOR.text(text + "2026-11-30T10:00:01Z pod-1 done\n")
    assert word(8) not in got.text
    assert got.text.endswith("pod-1 done\n")


def test_block_scalars_and_nested_mappings() -> None:
    text = "stringData:\n  user: abc\n  on: true\nkind: Secret\npassword: >-\n  a\n\n  b\nname: x\n"
    got = REDACTOR.text("credentials:\n  user: abc\n  on: true\n" + text[text.index("kind") :])
    assert got.text == (
        "credentials:\n  user: [REDACTED:assignment]\n  on: true\nkind: Secret\n"
        "password: >-\n  [REDACTED:assignment]\nname: x\n"
    )


def test_a_mask_in_the_text_is_no_hiding_place() -> None:
    got = REDACTOR.text("password: [REDACTED:x]hunter2")
    assert "hunter2" not in got.text
    got = REDACTOR.text("password: [REDACTED: hunter2")
    assert "hunter2" not in got.text


@pytest.mark.parametrize(
    "unit",
    [
        "password=",
        "-----BEGIN RSA PRIVATE KEY-----",
        "://u:",
        "token/",
        "token: a|",
        "key ",
        "a.key=",
        '"keys":["',
        "docker -p ",
        "map[token:",
        "secret:\n  ",
        "passwordSecret:\n description:\n ",
        "token=${",
        'a_key=\\"a_key=',
    ],
)
def test_hostile_repetition_stays_linear(unit: str) -> None:
    text = unit * (100_000 // len(unit))
    before = time.process_time()
    REDACTOR.text(text)
    # Far above what it takes (0.1 s); a quadratic search needs more than half a minute.
    assert time.process_time() - before < 5


@pytest.mark.parametrize(
    "text",
    [
        " " * 30_000 + 'password=\\"password=' * 1500,
        'token="a[' + "]|" * 30_000 + '"',
        "token=" + "a." * 30_000 + " x",
    ],
    ids=["deep in a line", "like a type", "like an attribute"],
)
def test_one_long_hostile_line_stays_linear(text: str) -> None:
    before = time.process_time()
    REDACTOR.text(text)
    assert time.process_time() - before < 3


def test_a_value_longer_than_what_is_judged_is_masked_whole() -> None:
    value = "Zx9" * 400
    for text in (f"with password={value} x", f'token="{value}" x', f"run --api-key={value} x"):
        got = REDACTOR.text(text)
        assert "Zx9" not in got.text and got.text.endswith(" x")


@pytest.mark.parametrize("value", ["s3cr3t-Va/lue+Z", 'pa"ss\\wö<&>9'])
def test_known_values_in_the_forms_of_other_programs(value: str) -> None:
    redactor = Redactor()
    redactor.learn(value, "k")
    as_json = json.dumps(value, ensure_ascii=False)[1:-1]
    go = as_json.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    once = base64.b64encode(value.encode())
    forms = [
        go,
        json.dumps(go, ensure_ascii=False)[1:-1],
        json.dumps(as_json, ensure_ascii=False)[1:-1],
        as_json.replace("/", "\\/"),
        quote(quote(value, safe=""), safe=""),
        base64.b64encode(once).decode(),
    ]
    for form in forms:
        assert redactor.text(f"before {form} after").counts == {"k": 1}


def test_a_projected_token_volume_holds_no_secret() -> None:
    # What kubectl prints for nearly every pod.
    text = """\
  - name: kube-api-access-x7k2p
    projected:
      defaultMode: 420
      sources:
      - serviceAccountToken:
          expirationSeconds: 3607
          path: token
      - configMap:
          items:
          - key: ca.crt
            path: ca.crt
          name: kube-root-ca.crt
      - downwardAPI:
          items:
          - fieldRef:
              apiVersion: v1
              fieldPath: metadata.namespace
            path: namespace
"""
    assert REDACTOR.text(text).text == text


def test_what_is_nested_in_a_list_item_ends_with_the_item() -> None:
    inside = "- credentials:\n    user: hunter1\n    list:\n    - hunter2\n"
    got = REDACTOR.text(inside + "  note: plain\n- next: plain\n")
    assert "hunter" not in got.text
    assert got.text.endswith("  note: plain\n- next: plain\n")
    flat = REDACTOR.text("credentials:\n- hunter1\n- hunter2\nnext: plain\n")
    assert "hunter" not in flat.text and flat.text.endswith("next: plain\n")


def test_a_reference_to_a_secret_is_none() -> None:
    text = (
        "spec:\n  passwordSecret:\n    name: db\n    key: DB_PASSWORD\n  tokenRef:\n    name: x\n"
    )
    assert REDACTOR.text(text).text == text
    for more in ("    user: hunter2\n", "    name: Zx9Qw8Er7Ty6\n", "    - hunter2\n"):
        got = REDACTOR.text(f"spec:\n  passwordSecret:\n{more}    other: hunter3\n")
        assert "hunter" not in got.text and "Zx9" not in got.text


def test_a_schema_is_no_value_and_what_is_nested_in_it_is_looked_at() -> None:
    text = """\
properties:
  credentials:
    description: |-
      What it logs in with.

      See below.
    type: object
    properties:
      password:
        type: string
      token:
        description: A token.
        type: string
  next: 1
"""
    assert REDACTOR.text(text).text == text
    got = REDACTOR.text(text.replace("A token.", "say password=hunter2"))
    assert "hunter2" not in got.text


def test_a_description_without_a_type_is_a_value_like_any_other() -> None:
    text = "credentials:\n  description: hunter1\n" + "  x: hunter2\n" * 60 + "next: 1\n"
    got = REDACTOR.text(text)
    assert "hunter" not in got.text and got.text.endswith("next: 1\n")
