"""What commands run as may be barred from the folder itself, and a failure then says so.

Root's commands become an ordinary account, which in a folder of root's may write nothing;
"Permission denied" alone does not tell whoever owns the folder why.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import anyio.to_thread

from truepenny.errors import TruepennyError
from truepenny.sandbox.access import folder_access
from truepenny.sandbox.account import account_for
from truepenny.tool.contract import CallContext, Tool
from truepenny.tool.outcome import Outcome
from truepenny.tool.result import Result

from .workspace import Workspace

TOLD = frozenset({Outcome.TARGET_FAILED, Outcome.UPSTREAM_FAILED})
"""Failures of what ran, whatever it says of them."""

NO_PERMISSION = "no_permission"
"""The reason of a file tool that was refused by the file system."""


def with_rights(tool: Tool, workspace: Workspace) -> Tool:
    """Return the tool whose failed results say where the account may not write the folder, as a
    note and in `detail` (`unwritable_as`: the account). Tried at the first failure, for all calls.
    """

    async def run(arguments: Mapping[str, Any], context: CallContext) -> Result:
        result = await tool.run(arguments, context)
        facts = result.facts
        if result.outcome not in TOLD and facts.reason != NO_PERMISSION:
            return result
        name = await anyio.to_thread.run_sync(barred, workspace)
        if not name:
            return result
        note = (
            f"commands run as {name}, which may not write in {workspace.root}: "
            f"`chown -R {name} {workspace.root}`, or set sandbox.account"
        )
        return result.with_facts(
            notes=(*facts.notes, note), detail={**facts.detail, "unwritable_as": name}
        )

    return replace(tool, run=run)


def barred(workspace: Workspace) -> str:
    """Return the account that root became and that may not write the folder; empty where it may,
    where nobody was become, and where it cannot be found out. Blocking; asked once."""
    if workspace.barred is None:
        workspace.barred = _barred(workspace)
    return workspace.barred


def _barred(workspace: Workspace) -> str:
    try:
        account = account_for(workspace.root, workspace.sandbox_settings.account)
        if not account.drop or folder_access(account, workspace.root).write:
            return ""
    except TruepennyError:
        return ""
    return account.name
