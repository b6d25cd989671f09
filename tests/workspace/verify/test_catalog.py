"""Every refusal of the catalog has its own word and names the line (tools spec 2.10)."""

from __future__ import annotations

import json
import os
from pathlib import Path
from textwrap import dedent

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from truepenny.workspace.verify import yaml_tree
from truepenny.workspace.verify.catalog import MAX_BYTES, MAX_CHECKS, load, read
from truepenny.workspace.verify.check import (
    CATALOG,
    PACKAGE,
    CatalogRefused,
    Kind,
    NumericRule,
    PerfRule,
)
from truepenny.workspace.verify.numeric_compare import Tolerance
from truepenny.workspace.verify.program import SHELLS, WRAPPERS, shell_in

WHOLE = """\
version: 2
checks:
  - id: unit
    description: Unit tests
    argv: [pytest, -q]
    cwd: part
    timeoutMs: 900000
    tags: [fast, "on"]
  - id: energy
    kind: numeric-compare
    argv: [python3, sim.py]
    reference: ref/energy.json
    tolerance: {relative: 1e-9, absolute: 0, ulp: 4}
    combine: any
    nonFinite: match
  - {id: speed, kind: perf-budget, argv: [x], budget: {wallTimeMs: 5, tolerance: {relative: .1}}}
  - {id: base, kind: perf-budget, argv: [x], baseline: b.json, tolerance: {relative: 0}}
""".replace(".1}", "0.1}")


def test_a_whole_catalog(tmp_path: Path) -> None:
    unit, energy, speed, base = read(WHOLE, tmp_path)
    assert (unit.id, unit.kind, unit.argv, unit.cwd) == (
        "unit", Kind.COMMAND, ("pytest", "-q"), "part",
    )  # fmt: skip
    assert (unit.timeout_ms, unit.tags, unit.place) == (900_000, ("fast", "on"), f"{CATALOG}:3")
    assert energy.rule == NumericRule("ref/energy.json", Tolerance(1e-9, 0.0, 4, "any", "match"))
    assert speed.rule == PerfRule(0.1, budget_ms=5.0)
    assert base.rule == PerfRule(0.0, baseline="b.json")


def check(more: str) -> str:
    return f"version: 2\nchecks:\n  - id: a\n    argv: [x]\n    {more}"


def numeric(more: str) -> str:
    return check(f"kind: numeric-compare\n    {more}")


def perf(more: str) -> str:
    return check(f"kind: perf-budget\n    {more}")


REFUSED = {
    "yaml_alias": ("version: 2\nchecks: *x", 2),
    "yaml_anchor": ("version: 2\nchecks: &x []", 2),
    "yaml_tag": ("version: !!int '2'\nchecks: []", 1),
    "yaml_merge": (check("<<: {cwd: a}"), 5),
    "yaml_documents": ("version: 2\nchecks: []\n---\nversion: 2", 3),
    "yaml_key": ("version: 2\nchecks: []\n? [a]\n: 1", 3),
    "not_yaml": ("version: 2\nchecks: ]", 2),
    "empty": ("# nothing\n", None),
    "too_deep": ("version: 2\nchecks: " + "[" * 20 + "]" * 20, 2),
    "duplicate_key": (check("argv: [y]"), 5),
    "duplicate_id": (check("cwd: b\n  - {id: a, argv: [y]}"), 6),
    "unknown_field": (check("shell: true"), 5),
    "missing_field": ("version: 2\nchecks:\n  - id: a\n", 3),
    "unknown_version": ("version: 3\nchecks: []", 1),
    "version_too_old": ("version: 1\nchecks:\n  - {id: a,\n     kind: command, argv: [x]}", 4),
    "wrong_type": (check("cwd: 7"), 5),
    "id_form": ("version: 2\nchecks:\n  - id: Upper\n    argv: [x]", 3),
    "id_reserved": ("version: 2\nchecks:\n  - id: frontend\n    argv: [x]", 3),
    "description_form": (check("description: ' a'"), 5),
    "argv_empty": ("version: 2\nchecks:\n  - id: a\n    argv: []", 4),
    "argv_line": ("version: 2\nchecks:\n  - id: a\n    argv: [make test]", 4),
    "argv_size": (f"version: 2\nchecks:\n  - id: a\n    argv: [{'x, ' * 65}]", 4),
    "shell": ("version: 2\nchecks:\n  - id: a\n    argv: [sh, -c, ls]", 4),
    "nul": (check('cwd: "a\\0b"'), 5),
    "path_outside": (check("cwd: a/../../b"), 5),
    "path_size": (check(f"cwd: {'a' * 513}"), 5),
    "symlinked_cwd": (check("cwd: link"), 5),
    "cwd_not_a_folder": (check("cwd: file/below"), 5),
    "timeout_range": (check("timeoutMs: 900001"), 5),
    "tags_size": (check(f"tags: [{'t, ' * 17}]"), 5),
    "duplicate_tag": (check("tags: [t, t]"), 5),
    "unknown_word": (check("kind: magic"), 5),
    "no_tolerance": (numeric("reference: r\n    tolerance: {}"), 7),
    "number_range": (numeric("reference: r\n    tolerance: {relative: -1}"), 7),
    "budget_or_baseline": (perf("tolerance: {relative: 1}"), 3),
    "too_many_checks": (
        "version: 2\nchecks: "
        + json.dumps([{"id": f"a{n}", "argv": ["x"]} for n in range(MAX_CHECKS + 1)]),
        2,
    ),
}


@pytest.mark.parametrize("reason", REFUSED)
def test_each_refusal_has_its_word_and_its_line(reason: str, tmp_path: Path) -> None:
    text, line = REFUSED[reason]
    (tmp_path / "link").symlink_to(tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(CatalogRefused) as caught:
        read(text, tmp_path)
    assert caught.value.reason == reason
    assert caught.value.place == (CATALOG if line is None else f"{CATALOG}:{line}")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (check("id: b"), "duplicate_key"),
        ("version: true\nchecks: []", "unknown_version"),
        ("version: '2'\nchecks: []", "unknown_version"),
        ("version: 2\nchecks: {}", "wrong_type"),
        ("version: 2\nchecks: [a]", "wrong_type"),
        ("version: 2\nchecks: []\nmore: 1", "unknown_field"),
        ("- version", "wrong_type"),
        (f"version: 2\nchecks:\n  - id: {'a' * 65}\n    argv: [x]", "id_form"),
        (f"version: 2\nchecks:\n  - id: a\n    argv: [{'x' * 4097}]", "argv_size"),
        ("version: 2\nchecks:\n  - id: a\n    argv: [x, 1]", "wrong_type"),
        ("version: 2\nchecks:\n  - id: a\n    argv: ls", "wrong_type"),
        ("version: 2\nchecks:\n  - id: on\n    argv: ['']", "argv_empty"),
        (check("timeoutMs: 0"), "timeout_range"),
        (check("timeoutMs: 1.5"), "wrong_type"),
        (check("timeoutMs: true"), "wrong_type"),
        (check("timeoutMs: 1:30"), "wrong_type"),
        (check("cwd: /tmp"), "path_outside"),
        (check("cwd: ''"), "path_outside"),
        (check(f"description: {'d' * 513}"), "description_form"),
        (check("description: 'a\tb'"), "description_form"),
        (check(f"tags: [{'t' * 33}]"), "tags_size"),
        (check("reference: r"), "unknown_field"),
        (numeric("tolerance: {ulp: 1}"), "missing_field"),
        (numeric("reference: r\n    tolerance: {ulp: 9007199254740992}"), "number_range"),
        (numeric("reference: r\n    tolerance: {ulp: 0.5}"), "wrong_type"),
        (numeric("reference: r\n    tolerance: {ulp: 1, near: 2}"), "unknown_field"),
        (numeric("reference: r\n    tolerance: {relative: 1e999}"), "number_range"),
        (numeric("reference: r\n    tolerance: {relative: .inf}"), "wrong_type"),
        (numeric(f"reference: r\n    tolerance: {{relative: {'9' * 399}}}"), "number_range"),
        (numeric("reference: ../r\n    tolerance: {ulp: 1}"), "path_outside"),
        (numeric("reference: r\n    tolerance: {ulp: 1}\n    combine: some"), "unknown_word"),
        (perf("budget: {wallTimeMs: 0}"), "number_range"),
        (perf("budget: {wallTimeMs: 1}\n    baseline: b"), "budget_or_baseline"),
        (perf("baseline: b.json"), "missing_field"),
        (perf("baseline: .git/config"), "baseline_form"),
        (perf("budget: {wallTimeMs: 1}\n    tolerance: {relative: 1}"), "unknown_field"),
        ("a: \x01", "not_yaml"),
        ("a\0", "nul"),
    ],
)
def test_further_refusals(text: str, reason: str, tmp_path: Path) -> None:
    with pytest.raises(CatalogRefused) as caught:
        read(text, tmp_path)
    assert caught.value.reason == reason


@pytest.mark.parametrize("words", [(name,) for name in sorted(SHELLS)])
def test_every_shell_is_a_shell_also_with_a_path_or_behind_a_wrapper(
    words: tuple[str, ...], tmp_path: Path
) -> None:
    assert shell_in(words, tmp_path)
    assert shell_in((f"/opt/bin/{words[0]}", "-c", "x"), tmp_path)
    assert all(shell_in((wrapper, "-x", *words), tmp_path) for wrapper in WRAPPERS)


def test_a_link_to_a_shell_is_a_shell_and_other_programs_are_not(tmp_path: Path) -> None:
    (tmp_path / "check").symlink_to("/bin/bash")
    assert shell_in(("./check",), tmp_path) == "./check"
    assert not shell_in(("check",), tmp_path)
    assert not shell_in(("python3", "bash"), tmp_path)
    assert not shell_in(("./bash.py",), tmp_path)


@given(st.text(max_size=200))
def test_any_text_is_a_tree_or_refused(text: str) -> None:
    try:
        yaml_tree.parse(text, "f")
    except CatalogRefused as problem:
        assert problem.place.startswith("f")


@pytest.mark.parametrize("name", ["CSafeLoader", "SafeLoader"])
def test_both_parsers_give_the_same_tree(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    usual = yaml_tree.parse(WHOLE, "f")
    monkeypatch.setattr(yaml, "CSafeLoader", getattr(yaml, name, yaml.SafeLoader), raising=False)
    assert yaml_tree.parse(WHOLE, "f") == usual


def test_plain_words_mean_what_json_makes_of_them() -> None:
    text = "[yes, on, 12:30, 2026-01-01, 0o7, 010, 1_000, null, ~, true, '1', 1, 1e3, -0.5]"
    tree = yaml_tree.parse(text, "f")
    assert isinstance(tree, yaml_tree.Sequence)
    assert [item.value for item in tree.items if isinstance(item, yaml_tree.Scalar)] == [
        "yes", "on", "12:30", "2026-01-01", "0o7", "010", "1_000", None, None, True, "1", 1,
        1000.0, -0.5,
    ]  # fmt: skip


def put(root: Path, name: str, data: bytes) -> Path:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def refusal(root: Path) -> tuple[str, str]:
    with pytest.raises(CatalogRefused) as caught:
        load(root)
    return caught.value.reason, caught.value.place


def test_a_catalog_outside_of_the_workspace_is_none(tmp_path: Path) -> None:
    root = (tmp_path / "work").resolve()
    put(root, "real/verifiers.yaml", b"version: 1\nchecks: [{id: a, argv: [x]}]")
    put(tmp_path, "outside/verifiers.yaml", b"version: 1\nchecks: []")
    link = root / ".truepenny"
    link.symlink_to(tmp_path / "outside")
    assert refusal(root) == ("catalog_outside_workspace", CATALOG)
    link.unlink()
    link.symlink_to("real")
    assert [one.id for one in load(root).checks] == ["a"]
    link.unlink()
    link.symlink_to("nowhere")
    assert load(root).checks == ()  # No such folder, so no catalog in it.
    link.unlink()
    link.mkdir()
    (link / "verifiers.yaml").symlink_to("nowhere")
    assert refusal(root)[0] == "catalog_missing"


def test_files_that_are_no_catalog(tmp_path: Path) -> None:
    root = tmp_path.resolve()
    put(root, CATALOG, b"x" * (MAX_BYTES + 1))
    assert refusal(root)[0] == "catalog_too_large"
    put(root, CATALOG, b"\xff")
    assert refusal(root)[0] == "not_utf8"
    (root / CATALOG).unlink()
    os.mkfifo(root / CATALOG)
    assert refusal(root)[0] == "catalog_not_a_file"
    (root / CATALOG).unlink()
    (root / CATALOG).mkdir()
    assert refusal(root)[0] == "catalog_not_a_file"


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"{", "package_not_json"),
        (b"[]", "package_not_json"),
        (b"\xff", "package_not_json"),
        (b"[" * 100_000, "package_not_json"),
        (b'{"scripts": []}', "wrong_type"),
        (b'{"scripts": {"test": "a", "test": "b"}}', "duplicate_key"),
        (
            json.dumps({"scripts": {f"test:{n}": "x" for n in range(129)}}).encode(),
            "too_many_checks",
        ),
        (b" " * (1024 * 1024 + 1), "package_too_large"),
    ],
    ids=str,
)
def test_a_package_file_that_cannot_be_relied_on(data: bytes, reason: str, tmp_path: Path) -> None:
    put(tmp_path, PACKAGE, data)
    assert refusal(tmp_path.resolve()) == (reason, PACKAGE)


def test_which_package_scripts_are_checks(tmp_path: Path) -> None:
    names = ["test", "test:unit", "test.e2e", "ci-all", "check_x", "formatted", "tests", "deploy"]
    data = json.dumps({"scripts": dict.fromkeys(names, " a\n b ") | {"test:Ä": "x", "lint": 3}})
    put(tmp_path, PACKAGE, data.encode())
    found = load(tmp_path.resolve())
    assert [one.id for one in found.checks] == [
        "test",
        "test:unit",
        "test.e2e",
        "ci-all",
        "check_x",
    ]
    assert {one.argv for one in found.checks[:1]} == {("npm", "run", "test", "--")}
    assert found.checks[0].description == "a b"
    assert found.skipped == ("test:Ä", "lint")
    assert found.sources[PACKAGE] == "5 checks, 3 scripts of other names"


def test_a_documented_catalog_is_read(tmp_path: Path) -> None:
    page = Path(__file__).parents[3] / "docs/verify.md"
    _, _, rest = page.read_text(encoding="utf-8").partition("```yaml\n")
    text, _, _ = rest.partition("```")
    assert len(read(dedent(text), tmp_path)) >= 4
