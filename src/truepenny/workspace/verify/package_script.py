"""The scripts of package.json that are checks by their names; npm runs them, no shell of ours."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from . import inside
from .catalog_field import ID, MAX_ID
from .check import PACKAGE, CatalogRefused, Check, Kind

MAX_BYTES = 1024 * 1024
"""The largest package.json in use are some 100 KB."""

MAX_SCRIPTS = 128

NAMES = re.compile(r"(?:test|lint|build|typecheck|check|format|ci)(?:[^A-Za-z0-9].*)?", re.DOTALL)
"""Names of tools spec 2.10, with any suffix that a mark sets off."""

QUIET = {
    "npm_config_audit": "false",
    "npm_config_fund": "false",
    "npm_config_update_notifier": "false",
    "npm_config_logs_max": "0",
}
"""npm asks nobody and leaves no log: a check has no network and no home of its own."""

SHOWN = 200
"""Characters of a script that a list shows."""


@dataclass(frozen=True, slots=True)
class PackageScripts:
    """What the file declares; `skipped` names scripts whose names are no ids."""

    checks: tuple[Check, ...]
    note: str
    skipped: tuple[str, ...] = ()


def scripts(root: Path) -> PackageScripts:
    """Read package.json. Raises CatalogRefused for one that cannot be relied on."""
    try:
        data = inside.read(root, PACKAGE, MAX_BYTES)
    except inside.NotInside as refusal:
        if refusal.reason == "missing" and not (root / PACKAGE).is_symlink():
            return PackageScripts((), "not there")
        raise CatalogRefused(f"package_{refusal.reason}", str(refusal), PACKAGE) from None
    found = _scripts(data)
    wanted = {name: value for name, value in found.items() if NAMES.fullmatch(name)}
    if len(wanted) > MAX_SCRIPTS:
        raise CatalogRefused("too_many_checks", f"more than {MAX_SCRIPTS} scripts", PACKAGE)
    checks: list[Check] = []
    skipped: list[str] = []
    for name, value in wanted.items():
        if not ID.fullmatch(name) or len(name) > MAX_ID or not isinstance(value, str):
            skipped.append(name)
            continue
        # `--` ends npm's own options: what follows is the script's.
        argv = ("npm", "run", name, "--")
        line = " ".join(value.split())
        shown = line if len(line) <= SHOWN else f"{line[:SHOWN]}…"
        checks.append(Check(name, Kind.PACKAGE, argv, PACKAGE, shown, env=dict(QUIET)))
    others = len(found) - len(wanted)
    note = f"{len(checks)} checks, {others} scripts of other names"
    return PackageScripts(tuple(checks), note, tuple(skipped))


def _scripts(data: bytes) -> dict[str, Any]:
    try:
        value = json.loads(data.decode("utf-8-sig"), object_pairs_hook=_once)
    except _Twice as error:
        message = f"the key {error.args[0]!r} comes twice in one object"
        raise CatalogRefused("duplicate_key", message, PACKAGE) from None
    except (ValueError, RecursionError) as error:
        raise CatalogRefused("package_not_json", f"not JSON: {error}", PACKAGE) from None
    if not isinstance(value, dict):
        raise CatalogRefused("package_not_json", "not a JSON object", PACKAGE)
    found = cast("dict[str, Any]", value).get("scripts", {})
    if not isinstance(found, dict):
        raise CatalogRefused("wrong_type", "scripts is not an object", PACKAGE)
    return cast("dict[str, Any]", found)


class _Twice(Exception):
    pass


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise _Twice(name)
        found[name] = value
    return found
