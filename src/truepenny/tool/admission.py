"""The one admission that every call passes (architecture, law 2).

Order, strongest first: a denied name, a whitelist, the tool's own rules, the level of autonomy,
approval, then `narrow` where there is one.
A later step can only narrow what an earlier one let through.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from .autonomy import Autonomy, verdict
from .contract import ActionClass, Tool
from .decision import ALLOW, Decision, Verdict, deny

Narrow = Callable[[Tool, Mapping[str, Any]], Decision]
"""Judges a call that all else lets through; it may know what came before, and may only deny."""


@dataclass(frozen=True, slots=True)
class Policy:
    """What is allowed in a session.

    `allow` None is every tool and an empty set is none: two different instructions. `human` says
    whether somebody is there to be asked; without, ask becomes deny.
    """

    autonomy: Autonomy = Autonomy.SUGGEST
    allow: frozenset[str] | None = None
    deny: frozenset[str] = frozenset()
    human: bool = False


class Admission:
    """Decides calls under one policy. But for `narrow` the same call gets the same decision."""

    def __init__(self, policy: Policy, narrow: Narrow | None = None) -> None:
        self.policy = policy
        self._narrow = narrow

    def decide(self, tool: Tool, arguments: Mapping[str, Any]) -> Decision:
        """Return allow, ask or deny for one call whose arguments fit the schema."""
        decision = self._by_policy(tool, arguments)
        if decision.verdict is not Verdict.DENY and self._narrow is not None:
            narrowed = self._narrow(tool, arguments)
            return narrowed if narrowed.verdict is Verdict.DENY else decision
        return decision

    def _by_policy(self, tool: Tool, arguments: Mapping[str, Any]) -> Decision:
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
        level = verdict(tool.action_class, policy.autonomy)
        if level is Verdict.DENY:
            return deny(
                "read_only" if policy.autonomy is Autonomy.READ_ONLY else "never_allowed",
                f"{tool.name} is of class {tool.action_class}; this session is {policy.autonomy}",
                rule="policy.autonomy",
            )
        if level is Verdict.ALLOW and own.verdict is Verdict.ALLOW:
            return ALLOW
        if not policy.human:
            return deny(
                "nobody_to_ask",
                f"{tool.name} ({tool.action_class}) needs a person's approval; none is here",
                rule=own.rule or "policy.autonomy",
                hint=_hint(tool.action_class, own),
            )
        return Decision(Verdict.ASK, own.reason or "needs_approval", own.rule or "policy.autonomy")


def _hint(action_class: ActionClass, own: Decision) -> str:
    """Return how a person may let it through: a wider level if one would, else their presence."""
    if own.verdict is Verdict.ALLOW:
        for autonomy in Autonomy:
            if verdict(action_class, autonomy) is Verdict.ALLOW:
                return f"a person can allow it with --autonomy {autonomy}"
    return "run it in an interactive session"
