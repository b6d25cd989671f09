"""The format of a case: one command, and what a truthful account of it says.

A case is data that any driver in any language can read: TOML, one file a category. Words in
commands, file texts and expectations are replaced before use: `@NAP@` by a number of seconds that
no other process has among its arguments, `@WORK@` by the absolute folder of the case.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Annotated, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from truepenny.errors import ConfigurationError

CASES = Path(__file__).parent / "cases"

SUITE_FILE = "suite.toml"
"""Beside the categories: the version and what all cases share."""

FORMAT = 1
"""The format of the files. A driver that knows another one must not guess."""

DEFAULT_TIMEOUT = 20.0
"""Seconds a command gets where time is not what the case is about: none needs two of them."""

Level = Literal["must", "should"]

Pieces = tuple[str, ...]
"""A value in pieces, to be joined: so no scanner takes these files for a leak."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class CaseFile(_Strict):
    """A file that is there before the command runs. `path` is relative; `mode` is octal."""

    path: str
    text: str = ""
    mode: Annotated[str, Field(pattern="^[0-7]{3,4}$")] = "644"


class Expect(_Strict):
    """What a truthful account says. Only what is given is judged; None is "not judged".

    `output` is what the command wrote, both streams; `text` is everything that a model reads.
    """

    exit_code: int | None = None
    exit_in_text: bool | None = None
    """The exit code is in the text, not only in fields that a model never sees."""
    signal: int | None = None
    """A signal number; an exit code of 128 plus it is accepted, as shells put it."""
    failure_told: bool | None = None
    """Anything that says "it failed": code, signal, time-out, a failed stage, the error flag."""
    flagged: bool | None = None
    """The error flag alone."""
    timed_out: bool | None = None
    interrupted: bool | None = None
    """Something stopped it before its own end: time, a cap, a signal, a lack of memory."""
    truncated: bool | None = None
    whole_or_told: Annotated[int, Field(gt=0)] | None = None
    """Bytes of output: either all of them are there, or it is said that they are not."""
    stage_failure: bool | None = None
    """Some stage of a pipeline failed, whatever the last one did."""
    output_contains: tuple[str, ...] = ()
    output_lacks: tuple[str, ...] = ()
    output_order: tuple[str, ...] = ()
    """Each after the one before."""
    output_empty: bool | None = None
    stdout_contains: tuple[str, ...] = ()
    stderr_contains: tuple[str, ...] = ()
    text_contains: tuple[str, ...] = ()
    text_contains_any: tuple[str, ...] = ()
    """At least one of them, without regard to case."""
    text_lacks: tuple[str, ...] = ()
    text_at_most: Annotated[int, Field(gt=0)] | None = None
    """UTF-8 bytes of all that a model reads."""
    bytes_written: int | None = None
    """The raw bytes that the command wrote, both streams: what the account says of them."""
    undecodable_told: bool | None = None
    """It is said that something was not UTF-8, or the very bytes are shown escaped."""
    secret_absent: tuple[Pieces, ...] = ()
    """No secret, joined from its pieces, anywhere in the answer."""
    controls_absent: bool | None = None
    """No escape, control (but tab and newline) or direction-changing character in the text."""
    sandbox_told: bool | None = None
    ended_within: Annotated[float, Field(gt=0)] | None = None
    """Seconds until the answer (or until the abort had taken effect), seen from outside."""
    no_process_left: bool | None = None
    """A moment later no process has the number `@NAP@` among its arguments."""
    files_present: tuple[str, ...] = ()
    files_absent: tuple[str, ...] = ()
    """Paths in the folder of the case, looked at from outside after the call."""
    usable_after: bool | None = None
    """The next call of the same tool works."""


class Case(_Strict):
    """One case. `why` says what goes wrong for people where a tool fails it."""

    id: Annotated[str, Field(pattern="^[a-z0-9][a-z0-9-]*$")]
    title: str
    why: str
    level: Level = "must"
    reports: tuple[str, ...] = ()
    """Public reports of it, as `owner/repository#number`."""
    command: str
    pad: Annotated[int, Field(ge=0, le=10_000_000)] = 0
    needs: tuple[str, ...] = ()
    """Programs beside a shell and the usual small ones; missing: the case is not run."""
    timeout: Annotated[float, Field(gt=0)] | None = None
    """Seconds the tool is told to allow; given only where that limit is part of the case."""
    abort_after: Annotated[float, Field(gt=0)] | None = None
    """Seconds after which the caller takes the call back."""
    slow: bool = False
    """It floods or waits for more than a second."""
    files: tuple[CaseFile, ...] = ()
    expect: Expect
    category: str = ""
    """Filled in from the file."""

    @property
    def limit(self) -> float:
        """Seconds that the tool is told to allow."""
        return DEFAULT_TIMEOUT if self.timeout is None else self.timeout


class Category(_Strict):
    """One file of cases."""

    format: int
    category: Annotated[str, Field(pattern="^[a-z-]+$")]
    title: str
    case: Annotated[tuple[Case, ...], Field(min_length=1)]


class SuiteFile(_Strict):
    """What all cases share. `environment` is what the tool itself is started with, in pieces."""

    format: int
    version: str
    order: tuple[str, ...]
    environment: dict[str, Pieces]


class Suite(_Strict):
    """All of it, in the suite's own order of categories."""

    version: str
    environment: dict[str, str]
    categories: tuple[Category, ...]

    @property
    def cases(self) -> tuple[Case, ...]:
        """Every case."""
        return tuple(case for category in self.categories for case in category.case)

    def choose(
        self, *, categories: Sequence[str] = (), ids: Sequence[str] = (), slow: bool = True
    ) -> tuple[Case, ...]:
        """Return the cases of the categories and with the ids (empty: all), in order.

        Raises ConfigurationError for a name that is none.
        """
        _known("category", categories, [one.category for one in self.categories])
        _known("case", ids, [case.id for case in self.cases])
        return tuple(
            case
            for case in self.cases
            if (not categories or case.category in categories)
            and (not ids or case.id in ids)
            and (slow or not case.slow)
        )


def _known(kind: str, asked: Sequence[str], there: Sequence[str]) -> None:
    unknown = sorted(set(asked) - set(there))
    if unknown:
        raise ConfigurationError(
            f"no {kind} named {', '.join(unknown)}",
            where="conformance",
            remedy="`truepenny conformance --list` shows what there is.",
        )


@cache
def shipped() -> Suite:
    """Read the suite that is part of this version."""
    return read_suite(CASES)


def read_suite(folder: Path) -> Suite:
    """Read a folder of case files; one that says something else raises ConfigurationError."""
    about = _read(folder / SUITE_FILE, SuiteFile)
    found = {
        path.stem: _read(path, Category)
        for path in sorted(folder.glob("*.toml"))
        if path.name != SUITE_FILE
    }
    if sorted(about.order) != sorted(found):
        raise ConfigurationError(
            f"lists {sorted(about.order)}, there are {sorted(found)}",
            where=str(folder / SUITE_FILE),
        )
    categories: list[Category] = []
    seen: set[str] = set()
    for name in about.order:
        category = found[name]
        where = str(folder / f"{name}.toml")
        if category.category != name:
            raise ConfigurationError(f"calls itself {category.category!r}", where=where)
        twice = sorted(
            case.id for at, case in enumerate(category.case)
            if case.id in seen or case.id in [other.id for other in category.case[:at]]
        )  # fmt: skip
        if twice:
            raise ConfigurationError(f"ids used twice: {', '.join(twice)}", where=where)
        seen.update(case.id for case in category.case)
        cases = tuple(case.model_copy(update={"category": name}) for case in category.case)
        categories.append(category.model_copy(update={"case": cases}))
    return Suite(
        version=about.version,
        environment={name: "".join(pieces) for name, pieces in about.environment.items()},
        categories=tuple(categories),
    )


T = TypeVar("T", Category, SuiteFile)


def _read(path: Path, kind: type[T]) -> T:
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
        if data.get("format") != FORMAT:
            raise ConfigurationError(f"is not of format {FORMAT}", where=str(path))
        return kind.model_validate(data)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, ValidationError) as error:
        raise ConfigurationError(str(error), where=str(path)) from error
