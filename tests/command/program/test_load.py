"""The tables of programs: all of them load, what they say holds together, and mistakes are loud."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from truepenny.command.instead import ALTERNATIVES, forbidden
from truepenny.command.program.grammar import Grammar
from truepenny.command.program.judge import JUDGES
from truepenny.command.program.load import FOLDER, TableInvalid, programs, read
from truepenny.command.program.value import matcher

JUDGED_BY_LINE = {"kubectl"}
FAMILIES_OF_LOCAL = {"file", "inspection", "compressed", "environment"}
"""What the agent's own machine does without (spec/diagnostics.md 3.4)."""


def grammars(grammar: Grammar) -> Iterator[Grammar]:
    yield grammar
    for inner in grammar.subcommands.values():
        yield from grammars(inner)


def test_every_family_has_a_file_of_its_name() -> None:
    families = {program.family for program in programs().values()}
    assert families == {path.stem for path in FOLDER.glob("*.toml")}
    assert len(families) == 20


def test_the_families_are_where_they_may_be() -> None:
    for program in programs().values():
        if program.family == "cluster":
            assert program.contexts == {"local"}
        elif program.family in FAMILIES_OF_LOCAL:
            assert program.contexts == {"node", "pod", "host"}
        else:
            assert program.contexts == {"local", "node", "pod", "host"}


def test_no_forbidden_program_is_in_the_tables_but_those_with_a_judge_or_no_operand() -> None:
    # `env` runs nothing without operands, and kubectl has a grammar of its own.
    assert {name for name in programs() if forbidden(name)} == {"env", "kubectl"}
    assert programs()["env"].grammar.operands == ()


def test_judges_and_tables_name_each_other() -> None:
    named = {g.judge for p in programs().values() for g in grammars(p.grammar) if g.judge}
    assert named == {*JUDGES, *JUDGED_BY_LINE}


def test_every_kind_of_value_can_be_matched() -> None:
    for program in programs().values():
        for grammar in grammars(program.grammar):
            for flag in grammar.flags.values():
                assert (flag.arity == "none") == (flag.kind == "")
                if flag.kind:
                    matcher(flag.kind)
            for place in grammar.operands:
                matcher(place.kind)


def test_every_alternative_begins_with_a_program_that_is_known() -> None:
    assert {line.split()[0] for line in ALTERNATIVES.values()} <= set(programs())
    assert not set(ALTERNATIVES) & set(programs())


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("x", "t.toml"),
        ("[x]", "t.toml: family"),
        ("[family]\nname='f'\ncontexts=[]", "t.toml"),
        ("[family]\nname='f'\ncontexts=['moon']", "t.toml: family.contexts"),
        ("[family]\nname='f'\ncontexts=['node']\nmore=1", "t.toml: family"),
        ("family=1", "t.toml: family"),
    ],
)
def test_a_broken_head_is_named(text: str, place: str) -> None:
    with pytest.raises(TableInvalid) as caught:
        list(read(text, "t.toml"))
    assert caught.value.where.startswith(place)


@pytest.mark.parametrize(
    ("body", "word"),
    [
        ("switch = '-a'", "switch"),
        ("switches = 1", "text"),
        ("switches = 'a'", "'a'"),
        ("switches = '-a -a'", "twice"),
        ("switches = '-a'\nvalues = { int = '-a' }", "twice"),
        ("switches = '-a'\nwhy = { '-a' = 'x' }", "both"),
        ("values = '-a'", "table"),
        ("style = 'odd'", "odd"),
        ("operands = 'path* path'", "path*"),
        ("bare = 1", "true or false"),
        ("expression = true", "number"),
        ("judge = 'curl'", "judge"),
        ("also = 'x'", "list"),
        ("also = ['x y']", "'x y'"),
        ("subcommands.'a b' = {}\nsubcommands.a = {}", "twice"),
        ("subcommands.a = 1", "table"),
    ],
)
def test_a_broken_program_is_named_with_its_mistake(body: str, word: str) -> None:
    text = f"[family]\nname='f'\ncontexts=['node']\n[prog]\n{body}\n"
    with pytest.raises(TableInvalid) as caught:
        list(read(text, "t.toml", judges=False))
    assert caught.value.where.startswith("t.toml: prog")
    assert word in str(caught.value)
