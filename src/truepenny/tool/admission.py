"""The one admission that every call passes (architecture, law 2).

Order, strongest first: a denied name, a whitelist, the tool's own rules, read-only, approval.
A later step can only narrow what an earlier one let through.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .contract import ActionClass, Tool
from .decision import ALLOW, Decision, Verdict, deny


@dataclass(frozen=True, slots=True)
class Policy:
    """What is allowed in a session.

    `allow` None is every tool and an empty set is none: two different instructions. `human` says
    whether somebody is there to be asked; without, ask becomes deny.
    """

    read_only: bool = False
    allow: frozenset[str] | None = None
    deny: frozenset[str] = frozenset()
    human: bool = False


class Admission:
    """Decides calls under one policy. Pure: the same call always gets the same decision."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy

    def decide(self, tool: Tool, arguments: Mapping[str, Any]) -> Decision:
        """Return allow, ask or deny for one call whose arguments fit the schema."""
        policy = self.policy
        if tool.name in policy.deny:
            return deny("tool_denied", f"{tool.name} is denied here", rule="policy.deny")
        if policy.allow is not None and tool.name not in policy.allow:
            return deny(
                "tool_not_allowed",
                f"{tool.name} is not among the allowed tools",
                rule="policy.allow",
            )
        own = tool.judge(arguments) if tool.judge else ALLOW
        if own.verdict is Verdict.DENY:
            return own
        if policy.read_only and tool.action_class is not ActionClass.READ:
            return deny(
                "read_only",
                f"{tool.name} is of class {tool.action_class}; this session only reads",
                rule="policy.read_only",
            )
        if tool.action_class is ActionClass.READ and own.verdict is Verdict.ALLOW:
            return ALLOW
        if not policy.human:
            return deny(
                "nobody_to_ask",
                f"{tool.name} ({tool.action_class}) needs a person's approval; none is here",
                rule=own.rule or "policy.human",
                hint="run it in an interactive session",
            )
        return Decision(Verdict.ASK, own.reason or "needs_approval", own.rule or "action_class")
