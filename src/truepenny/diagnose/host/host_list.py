"""The `host_list` tool: which hosts are bound. None is dialled."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from truepenny.execute.ending import ByteCounts, Outcome
from truepenny.model.message import Text
from truepenny.tool.contract import ActionClass, CallContext, Plane, Tool
from truepenny.tool.result import Completeness, Facts, Result, invalid

from .host import NO_HOST_REMEDY, Host, Hosts

DEFAULT_LIMIT, MAX_LIMIT = 20, 100
"""Hosts in one answer (diagnostics spec 2)."""

_DESCRIPTION = """\
List the hosts that can be reached over SSH: name, address, user, whether it is production, what \
it is for, and its jump host. `query` keeps those that have it in name, address or description. \
Nothing is dialled."""


def host_list_tool(hosts: Hosts) -> Tool:
    """Return the tool. `Facts.detail` holds what the text holds: `hosts`, `total` (that fit) and
    `next_cursor` (None: that was all). No secret and no place of one is in it; `problem` says why
    a host cannot be dialled as things stand."""

    async def run(arguments: Mapping[str, Any], context: CallContext) -> Result:
        query = str(arguments.get("query", "")).lower()
        fitting = [host for host in hosts if query in _searched(host)]
        names = [host.name for host in fitting]
        begin = 0
        if (cursor := arguments.get("cursor")) is not None:
            if cursor not in names:
                return invalid("cursor", f"{cursor!r} is no cursor of this list", "leave it out")
            begin = names.index(cursor) + 1
        if not names:
            return _nothing(hosts, query)
        shown = fitting[begin : begin + arguments.get("limit", DEFAULT_LIMIT)]
        more = begin + len(shown) < len(fitting)
        detail = {
            "hosts": [entry(host) for host in shown],
            "total": len(fitting),
            "next_cursor": shown[-1].name if more else None,
        }
        text = json.dumps(detail, ensure_ascii=False, indent=1)
        size = len(text.encode())
        whole = Completeness(unit="hosts", shown=len(shown), total=len(fitting))
        if len(shown) < len(fitting):
            following = f"host_list cursor={shown[-1].name}" if more else ""
            whole = Completeness(
                "partial", "one page", "hosts", len(shown), len(fitting), following
            )
        facts = Facts(completeness=whole, bytes=ByteCounts(size, size), detail=detail)
        return Result(Outcome.SUCCESS, (Text(text),), facts)

    return Tool(
        name="host_list",
        description=_DESCRIPTION,
        parameters={
            "type": "object",
            "properties": {
                "query": {"type": "string", "description": "Part of name, address, description."},
                "limit": {
                    "type": "integer",
                    "minimum": 1,
                    "maximum": MAX_LIMIT,
                    "description": f"Hosts in one answer, {DEFAULT_LIMIT} unless given.",
                },
                "cursor": {"type": "string", "description": "`next_cursor` of the page before."},
            },
            "additionalProperties": False,
        },
        run=run,
        action_class=ActionClass.READ,
        plane=Plane.OBSERVE,
        example={"query": "web"},
    )


def entry(host: Host) -> dict[str, Any]:
    """Return what may be said about a host."""
    made: dict[str, Any] = {
        "name": host.name,
        "address": host.address,
        "port": host.port,
        "user": host.entry.user,
        "auth": host.entry.auth,
        "is_production": host.entry.production,
        "description": host.entry.description,
        "jump_host": host.jump,
    }
    if problem := host.problem:
        made["problem"] = problem
    return made


def _searched(host: Host) -> str:
    return f"{host.name}\n{host.address}\n{host.entry.description}".lower()


def _nothing(hosts: Hosts, query: str) -> Result:
    bound = bool(hosts.names)
    message = f"No bound host has {query!r} in it." if bound else "No host is bound."
    detail: dict[str, Any] = {"hosts": [], "total": 0, "next_cursor": None}
    reason, hint = ("nothing_found", "") if bound else ("no_host", NO_HOST_REMEDY)
    facts = Facts(reason=reason, hint=hint, detail=detail)
    return Result(Outcome.NO_MATCH, (Text(message),), facts)
