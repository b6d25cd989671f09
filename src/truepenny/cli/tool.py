"""`truepenny tool`: every tool by hand, through the same admission as a model's call."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

import click

from truepenny.errors import UsageError

from . import complete
from .call import call as call_tool
from .call import exit_code, show
from .failure import Finished, say
from .place import place, place_options
from .terminal import json_text, table
from .work import Work, every_tool, in_folder, needs_folder, needs_host, work_options
from .workbench import Workbench

if TYPE_CHECKING:
    from truepenny.tool.contract import Tool

CALL_EXAMPLE = """truepenny tool call --demo checkout-oom kubectl '{"args": ["get", "nodes"]}'"""


@click.group(epilog="Example: truepenny tool list")
def tool() -> None:
    """List, describe and call the tools that a model can use."""


@tool.command("list", epilog="Example: truepenny tool list --json")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def list_tools(as_json: bool) -> None:
    """List the tools with what they do to the world."""
    tools = list(every_tool(Workbench()))
    if as_json:
        rows = [_described(one) for one in tools]
        click.echo(json_text({"tools": rows}))
        return
    cells = [(one.name, str(one.action_class), _first_sentence(one.description)) for one in tools]
    table(("TOOL", "CLASS", "WHAT IT DOES"), cells, sys.stdout)


@tool.command(epilog="Example: truepenny tool describe kubectl")
@click.argument("name", shell_complete=complete.tool)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def describe(name: str, as_json: bool) -> None:
    """Print what NAME does, its arguments and an example."""
    bench = Workbench()
    registry = every_tool(bench)
    found = registry.get(name)
    if found is None:
        raise _unknown(name, registry)
    if as_json:
        click.echo(json_text(_described(found)))
        return
    click.echo(f"{found.name} ({found.action_class}, {found.concurrency}, {found.timeout:g} s)\n")
    click.echo(f"{found.description}\n")
    required = set(found.parameters.get("required", ()))
    cells = [
        (argument, _type(schema), "yes" if argument in required else "", _text(schema))
        for argument, schema in found.parameters.get("properties", {}).items()
    ]
    table(("ARGUMENT", "TYPE", "REQUIRED", "MEANING"), cells, sys.stdout)
    if found.example:
        words = "--workspace . " if needs_folder(bench, name) else ""
        given = shlex.quote(json.dumps(dict(found.example)))
        click.echo(f"\nExample: truepenny tool call {words}{name} {given}")


@tool.command(epilog=f"Example: {CALL_EXAMPLE}")
@click.argument("name", shell_complete=complete.tool)
@click.argument("arguments", metavar="[JSON]", default="{}")
@click.argument("rest", nargs=-1, metavar="")
@place_options
@work_options
@click.option("--json", "as_json", is_flag=True, help="Print the whole result as one JSON object.")
def call(
    name: str,
    arguments: str,
    rest: tuple[str, ...],
    cluster: str | None,
    demo: str | None,
    faults: tuple[str, ...],
    workspace: str | None,
    autonomy: str | None,
    as_json: bool,
) -> None:
    """Call NAME with a JSON object of arguments and print what a model would read.

    A call that needs approval asks at the terminal; where nobody is there, it is refused (exit 4).
    """
    if rest:
        words = json.dumps({"args": [arguments, *rest]}, ensure_ascii=False)
        raise UsageError(
            "is one JSON object in quotes, not words",
            where="JSON",
            remedy=f"Write it like this: truepenny tool call kubectl {shlex.quote(words)}",
        )
    bench, work = Workbench(), Work(workspace, autonomy)
    registry = every_tool(bench)
    given = _object(arguments, registry.get(name))
    if registry.get(name) is None:
        raise _unknown(name, registry)
    folder = needs_folder(bench, name)
    if folder and work.root(bench) is None:
        raise UsageError(
            f"{name} works in a folder, and none is bound",
            where="--workspace",
            remedy=f"Name one: truepenny tool call --workspace . {name} …",
        )
    elsewhere = folder or in_folder(bench, work, name) or needs_host(bench, name)
    with place(bench, cluster, demo, faults, elsewhere=elsewhere) as reached:
        if reached.notice:
            say(reached.notice)
        result = call_tool(bench, reached, name, given, work)
    show(result, as_json)
    raise Finished(exit_code(result.outcome))


def _object(text: str, tool: Tool | None) -> Mapping[str, Any]:
    try:
        value = json.loads(text, parse_constant=_no_number, object_pairs_hook=_unambiguous)
    except (ValueError, RecursionError) as error:
        raise UsageError(
            f"is not JSON: {_fault(error)}",
            where="JSON",
            remedy=f"Quote it for the shell: {shlex.quote(_example(tool))}",
        ) from None
    if not isinstance(value, dict):
        raise UsageError(f"must be an object, not {type(value).__name__}", where="JSON")
    return cast("Mapping[str, Any]", value)


def _example(tool: Tool | None) -> str:
    """Return arguments of the tool that work; of a typical one where the name is unknown."""
    if tool is None or not tool.example:
        return '{"args": ["get", "pods"]}'
    return json.dumps(dict(tool.example), ensure_ascii=False)


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is no number")


def _unambiguous(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A key that is given twice has two readings: what was checked may not be what runs."""
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("a key is given twice in one object")
    return made


def _fault(error: ValueError | RecursionError) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg} at character {error.pos}"
    return "it is nested too deeply" if isinstance(error, RecursionError) else str(error)


def _unknown(name: str, registry: Any) -> UsageError:
    near = ", ".join(registry.nearest(name))
    remedy = f"Did you mean {near}?" if near else f"There are: {', '.join(registry.names)}"
    return UsageError(f"there is no tool {name!r}", where="NAME", remedy=remedy)


def _described(found: Any) -> dict[str, Any]:
    return {
        "name": found.name,
        "description": found.description,
        "class": str(found.action_class),
        "plane": str(found.plane),
        "concurrency": found.concurrency,
        "timeout": found.timeout,
        "parameters": found.parameters,
        "example": dict(found.example),
    }


def _first_sentence(text: str) -> str:
    return " ".join(text.split()).partition(". ")[0].rstrip(".") + "."


def _type(schema: Mapping[str, Any]) -> str:
    kind = schema.get("type", "any")
    if isinstance(kind, list):
        return " or ".join(map(str, cast("list[object]", kind)))
    return f"{kind} of {schema['items'].get('type', 'any')}" if kind == "array" else str(kind)


def _text(schema: Mapping[str, Any]) -> str:
    return str(schema.get("description", ""))
