"""The tool `verify`: run what the project declares as its checks, and judge it as declared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import anyio

from truepenny.errors import ConfigurationError, CouldNotRun
from truepenny.tool.contract import ActionClass, CallContext, Plane, Tool
from truepenny.tool.process_facts import not_contained
from truepenny.tool.result import Result, invalid, refused
from truepenny.workspace.argument import unusable_text
from truepenny.workspace.workspace import Workspace

from .catalog import Catalog, load
from .catalog_field import MAX_PATH, MAX_WORD, MAX_WORDS
from .check import DEFAULT_TIMEOUT_MS, FRONTEND, MAX_TIMEOUT_MS, CatalogRefused
from .frontend import look
from .frontend_result import frontend_result
from .inside import NotInside
from .judgement import Ran, Validation, axes
from .listing import listing
from .numeric_value import MAX_BYTES
from .run import DEFAULT_OUTPUT_BYTES, Request, run_check

AROUND = 60.0
"""Seconds beyond the longest check: to end it, to judge a million numbers, to write it down."""

PARAMETERS: Mapping[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "check": {
            "type": "string",
            "description": "Id of the check. Left out: list all of them, run nothing.",
        },
        "path": {
            "type": "string",
            "description": f"File or folder for the check `{FRONTEND}`. Default: the workspace.",
        },
        "args": {
            "type": "array",
            "items": {"type": "string"},
            "maxItems": MAX_WORDS,
            "description": "More words for a command or package script.",
        },
        "browser": {
            "type": "string",
            "enum": ["auto", "required", "off"],
            "description": f"Loading pages for `{FRONTEND}`; auto (default): where a browser is.",
        },
        "cwd": {
            "type": "string",
            "description": "Folder to run in, relative to the workspace, instead of the declared.",
        },
        "timeout_ms": {
            "type": "integer",
            "minimum": 1,
            "maximum": MAX_TIMEOUT_MS,
            "description": "Default: what the check declares.",
        },
        "max_output_bytes": {
            "type": "integer",
            "minimum": 1,
            "maximum": MAX_BYTES,
            "description": f"Output that stops a check. Default {DEFAULT_OUTPUT_BYTES}; "
            "numeric checks always have their own limit.",
        },
        "record_baseline": {
            "type": "boolean",
            "description": "After a clean run, record its time as the new baseline.",
        },
    },
}

DESCRIPTION = (
    "Run a check that the project declares: a script of package.json, an entry of "
    ".truepenny/verifiers.yaml (commands, numeric comparison, time budgets), or `frontend` for the "
    "files of a web page. Without `check`: list them. Says apart whether it ran (execution), "
    "whether it passed (validation), and never that a result is scientifically valid."
)


def verify_tool(workspace: Workspace) -> Tool:
    """Return the tool over one workspace.

    `facts.detail` of a run: `check`, `kind`, `place`, `execution`, `validation`,
    `scientificValidity`, and what the kind adds (`numeric_judge`, `perf_judge`,
    `frontend_result`). Of a list: `checks`, `sources`, `skipped`. A catalog that is not taken is
    `refused` with its own reason and `place` (file and line). The outcome is `success` only where
    the check ran well and what it validates holds.
    """

    async def run(arguments: Mapping[str, Any], context: CallContext) -> Result:
        name = arguments.get("check")
        if wrong := _unusable(arguments):
            return wrong
        if name == FRONTEND:
            return await _frontend(workspace, arguments, context)
        try:
            catalog = await anyio.to_thread.run_sync(load, workspace.root)
        except CatalogRefused as problem:
            hint = "correct the declaration; until then no declared check runs"
            return refused(problem.reason, str(problem), hint, place=problem.place)
        if name is None:
            return _list(catalog, arguments)
        check = catalog.get(name)
        if check is None:
            known = ", ".join((*(one.id for one in catalog.checks), FRONTEND))
            return invalid("unknown_check", f"there is no check {name!r}", f"known: {known}")
        if foreign := _given(arguments, "path", "browser"):
            return invalid("not_taken", f"{foreign} is for the check {FRONTEND!r} alone")
        request = Request(
            tuple(arguments.get("args", ())),
            arguments.get("cwd"),
            arguments.get("timeout_ms"),
            arguments.get("max_output_bytes", DEFAULT_OUTPUT_BYTES),
            arguments.get("record_baseline", False),
        )
        return await run_check(workspace, check, request, context)

    return Tool(
        name="verify",
        description=DESCRIPTION,
        parameters=PARAMETERS,
        run=run,
        action_class=ActionClass.EXECUTE,
        plane=Plane.EXECUTE,
        concurrency="sequential",
        timeout=MAX_TIMEOUT_MS / 1000 + AROUND,
        example={"check": "test"},
    )


def _list(catalog: Catalog, arguments: Mapping[str, Any]) -> Result:
    if foreign := _given(arguments, *PARAMETERS["properties"]):
        return invalid("check_missing", f"{foreign} is given, but no check to run")
    return listing(catalog)


async def _frontend(
    workspace: Workspace, arguments: Mapping[str, Any], context: CallContext
) -> Result:
    if foreign := _given(arguments, "args", "cwd", "max_output_bytes", "record_baseline"):
        return invalid("not_taken", f"the check {FRONTEND!r} takes no {foreign}")
    path, browser = arguments.get("path", "."), arguments.get("browser", "auto")
    timeout = arguments.get("timeout_ms", DEFAULT_TIMEOUT_MS) / 1000
    never = axes(Ran.UNAVAILABLE, Validation.NOT_RUN)
    try:
        return frontend_result(path, await look(workspace, path, browser, timeout, context))
    except (CouldNotRun, ConfigurationError) as error:
        return not_contained(error).with_facts(detail=never)
    except NotInside as problem:
        made = refused if problem.reason == "outside_workspace" else invalid
        result = made(problem.reason, str(problem))
        return result.with_facts(detail=never)


def _given(arguments: Mapping[str, Any], *names: str) -> str:
    """Return the first of the names that the call gives."""
    return next((name for name in names if name in arguments), "")


def _unusable(arguments: Mapping[str, Any]) -> Result | None:
    """Return why an argument can be given to no process; None where all can."""
    for name, most in (("cwd", MAX_PATH), ("path", MAX_PATH)):
        if name in arguments and (wrong := unusable_text(arguments[name], name, most)):
            return wrong
    for word in arguments.get("args", ()):
        if wrong := unusable_text(word, "a word of args", MAX_WORD):
            return wrong
    cwd = arguments.get("cwd", "")
    if cwd.startswith("/") or ".." in cwd.split("/"):
        hint = "give a path relative to the workspace, without `..`"
        return refused("path_outside", f"cwd {cwd!r} is no path in the workspace", hint)
    return None
