from __future__ import annotations

import pytest

from truepenny.tool.registry import Registry

from .tools import ECHO_SCHEMA, tool


def test_schemas_are_one_object_in_the_order_given() -> None:
    registry = Registry([tool("zebra"), tool("ant")])
    assert [schema.name for schema in registry.schemas] == ["zebra", "ant"]
    assert registry.schemas is registry.schemas
    assert registry.schemas[0].parameters is ECHO_SCHEMA


@pytest.mark.parametrize(
    ("bad", "says"),
    [
        (tool("Echo"), "tool name"),
        (tool("a b"), "tool name"),
        (tool("x" * 65), "tool name"),
        (tool(description=" "), "description"),
        (tool(schema={"type": "array"}), "closed"),
        (tool(schema={"type": "object", "properties": {}}), "closed"),
    ],
)
def test_a_tool_that_would_fail_on_its_first_call_is_refused_at_start(bad, says) -> None:
    with pytest.raises(ValueError, match=says):
        Registry([bad])


def test_names_are_exact_and_unique() -> None:
    with pytest.raises(ValueError, match="two tools"):
        Registry([tool(), tool()])
    registry = Registry([tool("kubectl")])
    assert registry.get("Kubectl") is None
    assert registry.get("kubectl ") is None
    assert registry.nearest("kubctl") == ("kubectl",)
