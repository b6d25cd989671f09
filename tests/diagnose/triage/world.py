"""Answers the rules' queries from Kubernetes objects in memory, as kubectl would."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from truepenny.diagnose.triage.evidence import Evidence
from truepenny.diagnose.triage.observation import Observation, Status, observe
from truepenny.diagnose.triage.query import Query

NOW = datetime(2026, 6, 1, 12, 0, tzinfo=UTC)


def plural(kind: str) -> str:
    if kind.endswith("y"):
        return kind.lower()[:-1] + "ies"
    return kind.lower() + ("es" if kind.endswith("ss") else "s")


class Objects:
    """Objects, logs and refusals of one cluster; `fetch` fits the engine."""

    def __init__(
        self,
        objects: Sequence[Mapping[str, Any]],
        *,
        logs: Callable[[str, str, str, bool], str | None] = lambda *_: None,
        forbidden: Sequence[str] = (),
    ) -> None:
        self.objects = list(objects)
        self.logs = logs
        self.forbidden = set(forbidden)
        self.asked: list[tuple[str, ...]] = []

    async def fetch(self, query: Query, id: str) -> Observation:
        return self.answer(query.argv, id)

    def answer(self, argv: tuple[str, ...], id: str) -> Observation:
        self.asked.append(argv)
        status, text, reason = self.say(argv)
        return observe(id, argv, status, text, reason)

    def say(self, argv: tuple[str, ...]) -> tuple[Status, str, str]:
        verb = argv[0]
        where = argv[argv.index("-n") + 1] if "-n" in argv else None
        if verb == "logs":
            if "logs" in self.forbidden:
                return Status.FORBIDDEN, "", "forbidden"
            container = argv[argv.index("-c") + 1]
            text = self.logs(where or "", argv[1], container, "--previous" in argv)
            return (Status.NO_MATCH, "", "not_found") if text is None else (Status.OK, text, "")
        kinds = [kind.split(".")[0] for kind in argv[1].split(",")]
        named = len(argv) > 2 and not argv[2].startswith("-")
        found = [
            dict(each)
            for each in self.objects
            if any(plural(each["kind"]) == kind or each["kind"].lower() == kind for kind in kinds)
            and plural(each["kind"]) not in self.forbidden
            and (where is None or each["metadata"].get("namespace") == where)
            and (not named or each["metadata"]["name"] == argv[2])
        ]
        refused = [kind for kind in kinds if kind in self.forbidden]
        errors = "".join(
            f'Error from server (Forbidden): {kind} is forbidden: User "x" cannot list\n'
            for kind in refused
        )
        if verb == "describe":
            return _described(found)
        if "name" in argv:
            lines = [f"{each['kind'].lower()}/{each['metadata']['name']}" for each in found]
            return Status.OK, "\n".join(lines), ""
        if named:
            if not found:
                return Status.NO_MATCH, "", "not_found"
            return Status.OK, json.dumps(found[0]), ""
        if refused and len(refused) == len(kinds):
            return Status.FORBIDDEN, errors, "forbidden"
        return Status.OK, json.dumps({"kind": "List", "items": found}) + "\n" + errors, ""


def _described(found: list[dict[str, Any]]) -> tuple[Status, str, str]:
    if not found:
        return Status.NO_MATCH, "", "not_found"
    data = found[0].get("data", {})
    lines = [f"Name:         {found[0]['metadata']['name']}", "", "Data", "===="]
    for key, value in data.items():
        if found[0]["kind"] == "Secret":
            lines.append(f"{key}:  {len(value)} bytes")
        else:
            lines += [f"{key}:", "----", str(value), ""]
    return Status.OK, "\n".join(lines) + "\n", ""


def evidence(now: datetime = NOW) -> Evidence:
    return Evidence(now)
