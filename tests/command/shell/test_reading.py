"""Reading a line: what is kept of it, and what is refused by name."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from truepenny.command.refusal import Refusal
from truepenny.command.shell import Line, read_line
from truepenny.command.shell.ansi import decode
from truepenny.command.shell.reader import MAX_CHARS, MAX_WORDS


def line(text: str) -> Line:
    read = read_line(text)
    assert isinstance(read, Line), read
    return read


def refusal(text: str) -> Refusal:
    read = read_line(text)
    assert isinstance(read, Refusal), read
    return read


def test_operators_separate_commands_outside_quotes() -> None:
    read = line("a 'x;y' | b && c || d; e & f &")
    assert [c.argv for c in read.commands] == [("a", "x;y"), ("b",), ("c",), ("d",), ("e",), ("f",)]
    assert read.operators == ("|", "&&", "||", ";", "&")
    assert read.end == "&"
    assert [len(stages) for stages in read.pipelines()] == [2, 1, 1, 1, 1]


def test_redirections_keep_their_descriptor() -> None:
    (command,) = line("a 2>/dev/null b >>log 2>&1 &>x").commands
    assert command.argv == ("a", "b")
    found = [(r.fd, r.operator, r.target.text) for r in command.redirections]
    assert found == [(2, ">", "/dev/null"), (None, ">>", "log"), (2, ">&", "1"), (None, "&>", "x")]


@pytest.mark.parametrize(
    ("word", "expands"),
    [
        ("*.log", {"glob"}),
        ("'*'.log", set()),
        ("a[1]", {"glob"}),
        ("{a,b}", {"brace"}),
        ("{a,'b'}", {"brace"}),
        ("{}", set()),
        ("'{a,b}'", set()),
        ("~/x", {"tilde"}),
        ("a~", set()),
        ("a=~/x", {"tilde"}),
        ('"$x"', {"parameter"}),
        ("${x}y", {"parameter"}),
        ("'$x'", set()),
        ("a$", set()),
        ("\\*", set()),
    ],
)
def test_words_say_what_expands(word: str, expands: set[str]) -> None:
    assert line(f"p {word}").commands[0].words[1].expands == expands


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty"),
        (" \t", "empty"),
        ("a\nb", "newline"),
        ("a\rb", "newline"),
        ("a <<x", "redirection"),
        ("a <<<x", "redirection"),
        ("a {x}>y", "redirection"),
        ("a 123>y", "redirection"),
        ("a >&x", "redirection"),
        ("a >&2-", "redirection"),
        ("a `b`", "substitution"),
        ("a $(b)", "substitution"),
        ('a "$(b)"', "substitution"),
        ("a $((1))", "substitution"),
        ("a $[1]", "substitution"),
        ("a <(b)", "substitution"),
        ("a >(b)", "substitution"),
        ("a ${b:-c}", "parameter"),
        ("a ${!b}", "parameter"),
        ('a $"b"', "parameter"),
        ("(a)", "subshell"),
        ("a() b", "subshell"),
        ("if a; then b; fi", "shell_keyword"),
        ("for x in y; do a; done", "shell_keyword"),
        ("! a", "shell_keyword"),
        ("time a", "shell_keyword"),
        ("[ -f a ]", "shell_keyword"),
        ("{ a; }", "shell_keyword"),
        ("a 'b", "unclosed_quote"),
        ('a "b', "unclosed_quote"),
        ("a $'b\\'", "unclosed_quote"),
        ("a $'\\0'", "escape"),
        ("a $'\\xff'", "escape"),
        ("a $'\\u00e9'", "escape"),
        ("a $'\\ca'", "escape"),
        ("a #b", "comment"),
        ("a \\", "syntax"),
        ("a | | b", "syntax"),
        ("a;; b", "syntax"),
        ("| a", "syntax"),
        ("a |", "syntax"),
        ("a &&", "syntax"),
        ("a >", "syntax"),
        ("x[0]=1 a", "syntax"),
        ("a –b", "beyond_ascii"),
        ("a；b", "beyond_ascii"),
        ("a\u00a0b", "hidden_character"),
        ("a '\u202e'", "hidden_character"),
        ("a '\u200b'", "hidden_character"),
        ("a\x00b", "control_character"),
        ("a\x1bb", "control_character"),
        ("a" * (MAX_CHARS + 1), "too_long"),
        ("a " * (MAX_WORDS + 1), "too_long"),
    ],
)
def test_what_is_beyond_the_readers_is_refused_by_name(text: str, reason: str) -> None:
    assert refusal(text).rejected_by == reason


def test_a_line_that_the_two_readings_see_differently_is_refused() -> None:
    # The grammar of the second takes the blank after `$` for a name.
    assert refusal('a "$ b"').rejected_by == "disagreement"


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    read_line(text)
    decode(text)


@given(st.lists(st.text(st.characters(min_codepoint=32, max_codepoint=126)), min_size=1))
def test_a_quoted_word_is_its_value(values: list[str]) -> None:
    quoted = " ".join("'" + value.replace("'", "'\\''") + "'" for value in values)
    assert line(f"p {quoted}").commands[0].argv == ("p", *values)
