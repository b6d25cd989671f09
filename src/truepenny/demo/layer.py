"""Incident folders: what is in one, and how it is laid over the base world.

scenario.toml   name, title, question, summary, tags, root, cause, explanation
objects.yaml    nodes, namespaces, workloads, jobs, cronjobs, gangs, services, objects, static,
                events (all in shorthand; see `truepenny.demo.expand`)
logs/<namespace>/<pod or workload>/<container>[.previous].log
exec.toml       canned commands
metrics.toml    usage that differs from the made-up default, or `available = false`
hosts.toml      simulated machines that are reached over SSH
permissions.toml  who the reader is and what it may not read; other identities by name
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from truepenny.demo.merge import merged
from truepenny.errors import ConfigurationError

ROOT = Path(__file__).parent / "scenarios"
BASE = "_base"


@dataclass(frozen=True, slots=True)
class Scenario:
    """An incident as a person chooses it, and its solution.

    `question` is what to ask, `summary` tells no solution; `root` is the guilty object as
    {kind, namespace, name} (empty where nothing is wrong), `cause` one short phrase and
    `explanation` the whole story for people.
    """

    name: str
    title: str
    question: str
    summary: str
    tags: tuple[str, ...] = ()
    root: Mapping[str, str] = field(default_factory=dict[str, str])
    cause: str = ""
    explanation: str = ""


def scenarios() -> list[Scenario]:
    """Return every shipped incident, sorted by name."""
    return [read_scenario(folder.name) for folder in sorted(ROOT.iterdir()) if _is_incident(folder)]


def _is_incident(folder: Path) -> bool:
    return folder.name != BASE and (folder / "scenario.toml").is_file()


def read_scenario(name: str) -> Scenario:
    """Return one incident's description; an unknown name raises ConfigurationError."""
    folder = folder_of(name)
    with (folder / "scenario.toml").open("rb") as file:
        data = tomllib.load(file)
    if data["name"] != name:
        raise ConfigurationError(f"the folder {name} describes {data['name']!r}")
    data["tags"] = tuple(data["tags"])
    return Scenario(**data)


def folder_of(name: str) -> Path:
    """Return the folder of an incident; an unknown name raises ConfigurationError."""
    known = sorted(folder.name for folder in ROOT.iterdir() if _is_incident(folder))
    if name not in known:
        import difflib

        near = difflib.get_close_matches(name, known, n=3)
        raise ConfigurationError(
            f"there is no incident named {name!r}",
            remedy=f"Did you mean {', '.join(near)}?" if near else f"Choose: {', '.join(known)}.",
        )
    return ROOT / name


def shorthand(name: str) -> dict[str, Any]:
    """Return the base world with the incident laid over it; events of both are kept."""
    base, over = _yaml(ROOT / BASE / "objects.yaml"), _yaml(folder_of(name) / "objects.yaml")
    whole = merged(base, over)
    whole["events"] = [*base.get("events", []), *over.get("events", [])]
    return whole


def table(name: str, file_name: str) -> dict[str, Any]:
    """Return a TOML file of the base world with the incident's laid over it."""
    return merged(_toml(ROOT / BASE / file_name), _toml(folder_of(name) / file_name))


@cache
def _yaml(path: Path) -> dict[str, Any]:
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    if not path.is_file():
        return {}
    return yaml.load(path.read_text(encoding="utf-8"), Loader=loader) or {}


def _toml(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    return tomllib.loads(path.read_text(encoding="utf-8"))


def split_identity(written: str) -> tuple[str, str]:
    """Split `INCIDENT@IDENTITY`; the identity is empty, the default one, where none is named."""
    name, _, identity = written.partition("@")
    return name, identity
