from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from truepenny.workspace.file.glob import Glob


@pytest.mark.parametrize(
    ("pattern", "fits", "not_"),
    [
        ("*.py", ["a.py", "d/e/a.py", ".py"], ["a.pyc", "a.py/x"]),
        ("src/*.py", ["src/a.py", "x/src/a.py"], ["src/d/a.py", "xsrc/a.py"]),
        ("/src/*.py", ["src/a.py"], ["x/src/a.py"]),
        ("src/**/t.py", ["src/t.py", "src/a/b/t.py"], ["src/xt.py"]),
        ("**/x", ["x", "a/x", "a/b/x"], ["ax"]),
        ("a/**", ["a/b", "a/b/c"], ["a", "b/c"]),
        ("?.t", ["a.t"], ["ab.t", ".t", "/.t"]),
        ("[ab]c", ["ac", "bc"], ["cc", "[ab]c"]),
        ("[!ab]c", ["cc"], ["ac"]),
        ("x[!a]y", ["xby"], ["x/y", "xay"]),
        ("[]]", ["]"], ["["]),
        ("*.{js,ts}", ["a.js", "a.ts"], ["a.jsx"]),
        (r"\*", ["*"], ["a"]),
        ("a.b", ["a.b"], ["axb"]),
        ("[", ["["], ["a"]),
        ("./a", ["a", "d/a"], ["b"]),
        ("{a,b}{c", ["a{c", "b{c"], ["a"]),
        ("{a,{b,c}}d", ["ad", "bd", "cd"], ["d"]),
        ("[b-a]", [], ["a", "b"]),
    ],
)
def test_patterns(pattern: str, fits: list[str], not_: list[str]) -> None:
    glob = Glob(pattern)
    assert [path for path in fits if not glob.fits(path)] == []
    assert [path for path in not_ if glob.fits(path)] == []


@pytest.mark.parametrize("pattern", ["", "x" * 2000, "a\0b", "/", "{a,b}" * 8])
def test_what_is_no_pattern_says_so(pattern: str) -> None:
    with pytest.raises(ValueError, match="pattern"):
        Glob(pattern)


@given(st.text(max_size=30), st.text(max_size=10))
def test_no_pattern_is_a_surprise(pattern: str, path: str) -> None:
    try:
        Glob(pattern).fits(path)
    except ValueError:
        pass


def test_no_pattern_takes_long() -> None:
    name = "a" * 250
    assert not Glob("*a" * 200 + "*b").fits("/".join([name] * 15))
    assert not Glob("**/a*/" * 60 + "b").fits("/".join([name] * 15))
    assert Glob("*a" * 100).fits(name)


@given(st.lists(st.sampled_from(["a", "b", "ab"]), min_size=1, max_size=5))
def test_two_stars_are_any_names(names: list[str]) -> None:
    path = "/".join(names)
    assert Glob("/**").fits(path)
    assert Glob(f"/**/{names[-1]}").fits(path)
    assert Glob(f"/{names[0]}/**").fits(path) == (len(names) > 1)
    assert Glob(f"/**/{path}/**/x").fits(f"{path}/x")
