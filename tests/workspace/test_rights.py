"""A folder that the account of commands may not write: a failure there says why."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest

from tests.tool.tools import tool
from truepenny.model.message import Text
from truepenny.tool.contract import CallContext
from truepenny.tool.outcome import Outcome
from truepenny.tool.result import Facts, Result
from truepenny.workspace.bash import bash_tool
from truepenny.workspace.rights import with_rights

from .world import World, read, world


@asynccontextmanager
async def owned_by_us() -> AsyncGenerator[World]:
    """Open a folder that is ours: as root not that of the account."""
    async with world("none") as made:
        os.chown(made.root, os.geteuid(), os.getegid())
        made.root.chmod(0o755)
        yield made


@pytest.mark.anyio
async def test_a_failed_command_says_who_may_not_write() -> None:
    async with owned_by_us() as made:
        bash = with_rights(bash_tool(made.workspace), made.workspace)
        failed = await made.call(bash, {"command": "touch new"})
        if os.geteuid() != 0:
            assert failed.outcome is Outcome.SUCCESS
            assert made.workspace.barred is None
            return
        assert failed.outcome is Outcome.TARGET_FAILED
        text = read(failed)
        assert "which may not write in" in text
        assert f"chown -R {made.workspace.barred} {made.root}" in text
        assert failed.facts.detail["unwritable_as"] == made.workspace.barred
        # It is told of failures alone, and tried once.
        assert "may not write" not in read(await made.call(bash, {"command": "true"}))


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("outcome", "reason", "told"),
    [
        (Outcome.TARGET_FAILED, "no_permission", True),
        (Outcome.TARGET_FAILED, "", True),
        (Outcome.INVALID_ARGUMENTS, "not_found", False),
        (Outcome.REFUSED, "outside_roots", False),
        (Outcome.SUCCESS, "", False),
    ],
)
async def test_only_what_rights_may_explain_is_told_of(
    outcome: Outcome, reason: str, told: bool
) -> None:
    async def run(arguments: Mapping[str, Any], context: CallContext) -> Result:
        return Result(outcome, (Text("said"),), Facts(reason=reason))

    async with world("none") as made:
        made.workspace.barred = "ada"
        result = await made.call(with_rights(tool(run=run), made.workspace), {"say": "x"})
        assert ("unwritable_as" in result.facts.detail) is told


@pytest.mark.anyio
async def test_where_it_may_write_nothing_is_added() -> None:
    async with world("none") as made:
        bash = with_rights(bash_tool(made.workspace), made.workspace)
        failed = await made.call(bash, {"command": "exit 3"})
        assert (made.workspace.barred, failed.facts.notes) == ("", ())
