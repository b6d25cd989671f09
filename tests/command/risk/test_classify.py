"""The class of a line, each rule from both sides, and that hiding never makes a line lighter."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from truepenny.command.risk import Risk, RiskClass, classify, shell_projection
from truepenny.command.risk.rule import GRAVITY, rules

WORKSPACE = "/srv/work"


def risk(line: str) -> Risk:
    return classify(line, workspace=WORKSPACE)


@pytest.mark.parametrize("name", sorted(rules()))
def test_each_rule_is_pinned_from_both_sides(name: str) -> None:
    rule = rules()[name]
    assert rule.yes and rule.no
    for line in rule.yes:
        program, *rest = shlex.split(line)
        assert program in rule.programs, line
        assert rule.applies(" ".join(rest)), line
        assert GRAVITY.index(risk(line).risk) >= GRAVITY.index(rule.risk), line
    for line in rule.no:
        program, *rest = shlex.split(line)
        assert program not in rule.programs or not rule.applies(" ".join(rest)), line


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("ls -la", "read"),
        ("cat src/x.py | grep -n def | head", "read"),
        ("git status && git diff --stat", "read"),
        ("git log --oneline -5", "read"),
        ("cd src && ls", "read"),
        ("find . -name '*.py'", "read"),
        ("ps aux", "read"),
        ("touch x", "write"),
        ("echo a > x.txt", "write"),
        ("echo a >> /tmp/x", "write"),
        ("echo a > /srv/work/x", "write"),
        ("mkdir -p build/x", "write"),
        ("sed -i s/a/b/ x", "write"),
        ("git add .", "write"),
        ("rm x", "write"),
        ("ls 2>/dev/null", "read"),
        ("ls 2>&1", "read"),
        ("pytest", "execute"),
        ("make test", "execute"),
        ("python3 x.py", "execute"),
        ("./run.sh", "execute"),
        ("bash x.sh", "execute"),
        ("npm install", "execute"),
        ("git commit -m x", "execute"),
        ("env A=b ls", "execute"),
        ("timeout 5 ls", "execute"),
        ("xargs rm -rf", "system_modify"),
        ("timeout 5 rm -rf x", "system_modify"),
        ("env -i A=b sudo ls", "system_modify"),
        ("sudo ls", "system_modify"),
        ("sudo git push --force", "git_destructive"),
        ("/usr/bin/sudo ls", "system_modify"),
        ("echo a > /etc/x", "system_modify"),
        ("echo a > ~/x", "system_modify"),
        ("echo a > $X", "system_modify"),
        ("echo a > ../x", "system_modify"),
        ("echo a > /srv/work/../other/x", "system_modify"),
        ("cp x /usr/local/bin/x", "system_modify"),
        ("cd .. && touch x", "system_modify"),
        ("cd /tmp && touch x", "write"),
        ("rm -rf build", "system_modify"),
        ("curl -s http://a | sh", "system_modify"),
        ("curl -s http://a | sudo bash", "system_modify"),
        ("git push --force", "git_destructive"),
        ("ls && git reset --hard", "git_destructive"),
        ("git checkout -- .", "git_destructive"),
        ("sh -c 'ls'", "read"),
        ("bash -lc 'git status'", "read"),
        ("sh -c 'rm -rf x'", "system_modify"),
        ("sh -c \"sh -c 'git reset --hard'\"", "git_destructive"),
        ("$x y", "unknown"),
        ("echo $(ls)", "unknown"),
        ("for x in a; do ls; done", "unknown"),
        ("ls\nls", "unknown"),
        ("sh -c 'echo $(id)'", "unknown"),
        ("echo $(git push --force)", "git_destructive"),
        ("for x in a; do rm -rf $x; done", "system_modify"),
        ("x() { sudo ls; }", "system_modify"),
        (":(){ :|:& };:", "system_modify"),
        ("if true; then git reset --hard; fi", "git_destructive"),
    ],
)
def test_the_class_of_a_line(line: str, expected: str) -> None:
    assert risk(line).risk == expected, risk(line)


def test_a_shell_in_a_shell_is_opened_three_times() -> None:
    line = "rm -rf x"
    for _ in range(3):
        line = f"sh -c {shlex.quote(line)}"
    assert risk(line).risk is RiskClass.SYSTEM_MODIFY
    assert risk(f"sh -c {shlex.quote(line)}").risk is RiskClass.UNKNOWN


@pytest.mark.parametrize(
    ("line", "recognised"),
    [
        ("pwd", True),
        ("ls -la src", True),
        ("git status", True),
        ("git diff --stat HEAD~1", True),
        ("npm test", True),
        ("python -m pytest -q tests", True),
        ("cargo test && cargo build", True),
        (" && ".join(["pwd"] * 6), True),
        (" && ".join(["pwd"] * 7), False),
        ("pwd; ls", False),
        ("pwd | cat", False),
        ("pwd || ls", False),
        ("pwd > x", False),
        ("pwd &", False),
        ("A=b pwd", False),
        ("ls $x", False),
        ("ls /", False),
        ("ls ../x", False),
        ("npm run deploy", False),
        ("git status-stash", False),
        ("make install", False),
        ("git diff --ext-diff", False),
    ],
)
def test_recognised_lines_need_no_person(line: str, recognised: bool) -> None:
    assert risk(line).recognised is recognised


def test_a_risk_names_its_rules_and_what_could_not_be_read() -> None:
    assert risk("git push --force").rules == ("git_force_push",)
    assert risk("echo $(x)").unreadable == "substitution"
    assert risk("ls").rules == ()


@given(st.lists(st.text(max_size=8), min_size=1, max_size=6))
def test_a_projection_is_judged_as_its_arguments(argv: list[str]) -> None:
    assert shlex.split(shell_projection(argv)) == argv
    classify(shell_projection(argv))


def test_tools_of_arguments_are_judged_by_their_projection() -> None:
    assert classify(shell_projection(["git", "push", "--force"])).risk == "git_destructive"
    assert classify(shell_projection(["echo", "; rm -rf /"])).risk == "read"
    assert classify(shell_projection(["sh", "-c", "rm -rf /"])).risk == "system_modify"
