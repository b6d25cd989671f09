"""Every declared check of a workspace, or why there is no list (tools spec 2.10).

Fails closed: a catalog with one entry that is not taken gives no checks at all.
"""

from __future__ import annotations

import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast

from . import inside
from .catalog_field import Fields
from .check import (
    CATALOG,
    DEFAULT_TIMEOUT_MS,
    PACKAGE,
    CatalogRefused,
    Check,
    Kind,
    NumericRule,
    PerfRule,
)
from .numeric_compare import MAX_ULP, Tolerance
from .package_script import PackageScripts, scripts
from .program import shell_in
from .yaml_tree import Scalar, parse

MAX_BYTES = 262_144
MAX_CHECKS = 128
"""Of a catalog (tools spec 2.10)."""

VERSIONS = (1, 2)
"""1 knows commands, 2 also numeric comparison and time budgets."""


@dataclass(frozen=True, slots=True)
class Catalog:
    """All checks in the order of their files. `sources` says for each file what came of it;
    `skipped` names package scripts of the listed kinds whose names cannot be ids."""

    checks: tuple[Check, ...]
    sources: dict[str, str]
    skipped: tuple[str, ...] = ()

    def get(self, name: str) -> Check | None:
        return next((check for check in self.checks if check.id == name), None)


def load(root: Path) -> Catalog:
    """Read both files. Raises CatalogRefused."""
    declared, note = _declared(root)
    package: PackageScripts = scripts(root)
    names = {check.id: check for check in declared}
    for check in package.checks:
        if other := names.get(check.id):
            message = f"the id {check.id!r} is also a script of {check.place}"
            raise CatalogRefused("duplicate_id", message, other.place)
    sources = {CATALOG: note, PACKAGE: package.note}
    return Catalog((*declared, *package.checks), sources, package.skipped)


def _declared(root: Path) -> tuple[tuple[Check, ...], str]:
    try:
        data = inside.read(root, CATALOG, MAX_BYTES)
    except inside.NotInside as refusal:
        if refusal.reason == "missing" and not _named(root / CATALOG):
            return (), "not there"
        raise CatalogRefused(f"catalog_{refusal.reason}", str(refusal), CATALOG) from None
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        message = f"not UTF-8 (byte {error.start})"
        raise CatalogRefused("not_utf8", message, CATALOG) from None
    checks = read(text, root)
    return checks, f"{len(checks)} checks"


def _named(path: Path) -> bool:
    """Whether something has the name, a link that leads nowhere included."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True
    return True


def read(text: str, root: Path) -> tuple[Check, ...]:
    """Read the text of a catalog. Raises CatalogRefused."""
    top = Fields(parse(text, CATALOG), CATALOG, "the catalog")
    version = top.node("version")
    if not isinstance(version, Scalar) or version.value is True or version.value not in VERSIONS:
        message = f"version must be one of {', '.join(map(str, VERSIONS))}"
        raise top.refuse("unknown_version", message, version.line)
    nodes = top.items("checks", MAX_CHECKS, "too_many_checks")
    top.end()
    found: dict[str, Check] = {}
    for node in nodes:
        fields = Fields(node, CATALOG, "a check")
        check = _check(fields, int(cast("int", version.value)), root)
        if other := found.get(check.id):
            message = f"the id {check.id!r} is taken by {other.place}"
            raise CatalogRefused("duplicate_id", message, check.place)
        found[check.id] = check
    return tuple(found.values())


def _check(fields: Fields, version: int, root: Path) -> Check:
    line = fields.line("id")
    identity = fields.identity()
    kinds = (Kind.COMMAND,) if version == 1 else (Kind.COMMAND, Kind.NUMERIC, Kind.PERF)
    if version == 1 and fields.has("kind"):
        message = "version 1 has commands alone and no field kind; say `version: 2`"
        raise fields.refuse("version_too_old", message, fields.line("kind"))
    kind = Kind(fields.word("kind", kinds, Kind.COMMAND))
    argv_line = fields.line("argv")
    argv = fields.argv()
    cwd_line = fields.line("cwd")
    cwd = fields.path("cwd") if fields.has("cwd") else ""
    if problem := cwd_problem(root, cwd):
        raise fields.refuse(*problem, cwd_line)
    if word := shell_in(argv, root / cwd):
        message = f"{word!r} is a shell; name the program and its words instead"
        raise fields.refuse("shell", message, argv_line)
    rule: NumericRule | PerfRule | None = None
    if kind is Kind.NUMERIC:
        rule = _numeric(fields)
    elif kind is Kind.PERF:
        rule = _perf(fields)
    check = Check(
        identity, kind, argv, f"{CATALOG}:{line}", fields.description(), cwd,
        fields.timeout() if fields.has("timeoutMs") else DEFAULT_TIMEOUT_MS,
        fields.tags(), rule,
    )  # fmt: skip
    fields.end()
    return check


def cwd_problem(root: Path, cwd: str) -> tuple[str, str] | None:
    """Return reason and message where a folder is reached over a symbolic link or is none.

    One that is missing is no fault of the declaration: a build may make it.
    """
    path = root
    for part in Path(cwd).parts:
        path = path / part
        try:
            mode = path.lstat().st_mode
        except FileNotFoundError:
            return None
        except OSError as error:
            return "unreadable_cwd", f"cwd {cwd!r} cannot be looked at: {error.strerror}"
        if stat.S_ISLNK(mode):
            return "symlinked_cwd", f"cwd {cwd!r} goes over the symbolic link {part!r}"
        if not stat.S_ISDIR(mode):
            return "cwd_not_a_folder", f"cwd {cwd!r} is not a folder"
    return None


def _numeric(fields: Fields) -> NumericRule:
    reference = fields.path("reference")
    line = fields.line("tolerance")
    limits = fields.mapping("tolerance")
    if not any(map(limits.has, ("relative", "absolute", "ulp"))):
        message = "tolerance needs at least one of relative, absolute, ulp"
        raise fields.refuse("no_tolerance", message, line)
    relative = limits.number("relative") if limits.has("relative") else None
    absolute = limits.number("absolute") if limits.has("absolute") else None
    ulp_line = limits.line("ulp")
    ulp = int(limits.number("ulp", whole=True)) if limits.has("ulp") else None
    if ulp is not None and ulp > MAX_ULP:
        raise fields.refuse("number_range", f"ulp must be at most {MAX_ULP}", ulp_line)
    limits.end()
    combine = fields.word("combine", ("all", "any"), "all")
    non_finite = fields.word("nonFinite", ("fail", "match"), "fail")
    tolerance = Tolerance(
        None if relative is None else float(relative),
        None if absolute is None else float(absolute),
        ulp,
        cast('Literal["all", "any"]', combine),
        cast('Literal["fail", "match"]', non_finite),
    )
    return NumericRule(reference, tolerance)


def _perf(fields: Fields) -> PerfRule:
    if fields.has("budget") == fields.has("baseline"):
        message = "a perf-budget needs exactly one of budget and baseline"
        raise fields.refuse("budget_or_baseline", message, fields.line("baseline"))
    if fields.has("budget"):
        budget = fields.mapping("budget")
        wall = budget.number("wallTimeMs", above_zero=True)
        relative = _relative(budget) if budget.has("tolerance") else 0.0
        budget.end()
        return PerfRule(relative, budget_ms=float(wall))
    line = fields.line("baseline")
    baseline = fields.path("baseline")
    if not baseline.endswith(".json"):
        # It is written on request: never a file that something else reads as its own.
        raise fields.refuse("baseline_form", "baseline must be a .json file", line)
    return PerfRule(_relative(fields), baseline=baseline)


def _relative(fields: Fields) -> float:
    limits = fields.mapping("tolerance")
    relative = float(limits.number("relative"))
    limits.end()
    return relative
