"""Positions of keys: whatever `tomllib` reads, each of its keys is found where it is written."""

from __future__ import annotations

import time
import tomllib
from typing import Any

import tomlkit
from hypothesis import given
from hypothesis import strategies as st

from truepenny.config.position import KeyPath, Position, locate

TEXT = """\
# comment with [table] and key = 1
top = "a # b"
[model]
  default = 'x' # why
"quoted key".inner = 1

[providers.my-vllm]
models."qwen3:8b" = { context_window = 4096, tags = ["a", "b"] }
long = \"\"\"
[not a table]
x = 1\"\"\"
list = [
  1, # one
  [2, 3],
  { deep = true },
]
[[redact.rules]]
name = "a"
[[redact.rules]]
name = "b"
[redact.rules.sub]
key = 'it''s'
"""


def test_keys_tables_and_elements_have_their_line_and_column() -> None:
    text = TEXT.replace("'it''s'", "'its'")
    tomllib.loads(text)
    places = locate(text)
    expected: dict[KeyPath, tuple[int, int]] = {
        ("top",): (2, 1),
        ("model",): (3, 1),
        ("model", "default"): (4, 3),
        ("model", "quoted key", "inner"): (5, 14),
        ("providers", "my-vllm"): (7, 1),
        ("providers", "my-vllm", "models", "qwen3:8b"): (8, 8),
        ("providers", "my-vllm", "models", "qwen3:8b", "context_window"): (8, 23),
        ("providers", "my-vllm", "models", "qwen3:8b", "tags", 1): (8, 59),
        ("providers", "my-vllm", "long"): (9, 1),
        ("providers", "my-vllm", "list", 1, 0): (14, 4),
        ("providers", "my-vllm", "list", 2, "deep"): (15, 5),
        ("redact", "rules", 0, "name"): (18, 1),
        ("redact", "rules", 1, "name"): (20, 1),
        ("redact", "rules", 1, "sub", "key"): (22, 1),
    }
    assert {key: places.get(key) for key in expected} == {
        key: Position(*place) for key, place in expected.items()
    }


def paths(value: Any, path: KeyPath = ()) -> list[KeyPath]:
    if isinstance(value, dict):
        return [found for key, inner in value.items() for found in paths(inner, (*path, key))]
    if isinstance(value, list):
        inner = [found for i, part in enumerate(value) for found in paths(part, (*path, i))]
        return [path, *inner]
    return [path]


keys = st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")), min_size=1)
leaves = st.one_of(
    st.text(st.characters(codec="utf-8", exclude_categories=("Cs",))),
    st.integers(-(2**60), 2**60),
    st.booleans(),
    st.floats(allow_nan=False, allow_infinity=False),
)
values = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3)
)


@given(st.dictionaries(keys, values, max_size=5))
def test_every_key_of_any_document_is_found(document: dict[str, Any]) -> None:
    text = tomlkit.dumps(document)
    read = tomllib.loads(text)
    places = locate(text)
    lines = text.split("\n")
    for path in paths(read):
        if path:
            place = places[path]
            assert 1 <= place.line <= len(lines)
            assert 1 <= place.column <= len(lines[place.line - 1]) + 1


def test_keys_far_down_cost_no_more_than_the_first() -> None:
    text = "".join(f"[clusters.k{number}]\n" for number in range(20_000))
    begin = time.process_time()
    places = locate(text)
    assert time.process_time() - begin < 2
    assert places["clusters", "k19999"] == Position(20_000, 1)
