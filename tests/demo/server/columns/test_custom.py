from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from truepenny.demo.server.columns.custom import follow

VALUE: Any = {
    "spec": {"name": "x", "list": [1, 2], "a.b": "dotted"},
    "status": {"conditions": [{"type": "Ready", "status": "True"}, {"type": "Other"}]},
}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        (".spec.name", "x"),
        (".spec.list[1]", 2),
        (".spec.list[*]", "1,2"),
        (r".spec.a\.b", "dotted"),
        (".spec['a.b']", "dotted"),
        ('.status.conditions[?(@.type=="Ready")].status', "True"),
        (".status.conditions[?(@.type == 'Nope')].status", None),
        (".spec.missing.deeper", None),
        (".spec.list[7]", None),
        ("spec", None),
        (".spec.name extra]", None),
    ],
)
def test_paths(path: str, found: Any) -> None:
    assert follow(VALUE, path) == found


@given(st.text(alphabet=".[]*?()@='\"ab0\\", max_size=30))
def test_any_path_is_followed_or_finds_nothing(path: str) -> None:
    follow(VALUE, path)
