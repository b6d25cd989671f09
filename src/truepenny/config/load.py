"""Loading the settings: environment over file over default, with a source for every value.

A file that is not there is fine, unless `TRUEPENNY_CONFIG` names it; a file that cannot be read is
an error. An unknown key is warned about and left out; a value of a wrong type or out of range is an
error that names key, place and value.
"""

from __future__ import annotations

import re
import stat
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, cast

from pydantic import ValidationError

from truepenny.errors import ConfigurationError

from . import complaint, environment
from .jump import BadJump, jump_chain
from .position import KeyPath, Position, locate
from .schema import Entry, Kind, Table, root
from .secret import expand, read_file
from .settings import Settings

FILE_NAME = "truepenny.toml"
FILE_VARIABLE = "TRUEPENNY_CONFIG"

MAX_FILE_BYTES = 1_048_576
"""A settings file of a megabyte is not a settings file."""

DEFAULT = "default"
"""The source of a value that nobody set."""


class ConfigDirectory(Protocol):
    """What is needed of `truepenny.system.directories.Directories`."""

    @property
    def config(self) -> Path:
        """The directory of the settings file."""
        ...


@dataclass(frozen=True, slots=True)
class SettingWarning:
    """Something that has no effect or is unwise. `where` is file:line:column or a variable."""

    where: str
    message: str
    remedy: str


@dataclass(frozen=True, slots=True)
class Loaded:
    """What loading came to.

    `sources` names, for each dotted key that somebody set, `FILE:LINE:COLUMN` or
    `environment NAME`; a key that is not there has its default. `file` is None if there is none.
    """

    settings: Settings
    warnings: tuple[SettingWarning, ...] = ()
    sources: Mapping[str, str] = field(default_factory=dict[str, str])
    file: Path | None = None

    def source(self, key: str) -> str:
        """Return where a dotted key's value comes from."""
        return self.sources.get(key, DEFAULT)


def load(directories: ConfigDirectory, env: Mapping[str, str]) -> Loaded:
    """Read the file and the environment. Raises ConfigurationError; creates nothing."""
    path, data, positions = _read_file(directories, env)
    places: dict[KeyPath, str] = {}
    warnings: list[SettingWarning] = []
    if path is not None:
        places = {key: f"{path}:{position}" for key, position in positions.items()}
        _drop_unknown(data, root(), (), places, warnings)
        _warn_of_open_secrets(path, data, warnings)
    _overlay(data, env, places, warnings)
    try:
        settings = Settings.model_validate(data)
    except ValidationError as error:
        raise complaint.from_validation(error, places) from None
    _check_jumps(settings, places)
    return Loaded(settings, tuple(warnings), dict(_sources(data, root(), (), places)), path)


def _check_jumps(settings: Settings, places: Mapping[KeyPath, str]) -> None:
    for name in settings.hosts:
        try:
            jump_chain(name, settings.hosts)
        except BadJump as error:
            path = ("hosts", error.host, "jump")
            raise ConfigurationError(
                f"{complaint.dotted(path)} {error.message}",
                where=complaint.place_of(path, places),
                remedy=error.remedy,
            ) from None


def _read_file(
    directories: ConfigDirectory, env: Mapping[str, str]
) -> tuple[Path | None, dict[str, Any], Mapping[KeyPath, Position]]:
    named = env.get(FILE_VARIABLE, "")
    path = expand(named, env) if named else directories.config / FILE_NAME
    try:
        raw = read_file(path, MAX_FILE_BYTES)
    except (FileNotFoundError, NotADirectoryError) as error:
        if named:
            raise ConfigurationError(
                f"{FILE_VARIABLE} names a file that is not there",
                where=str(path),
                remedy=f"Create it, or unset {FILE_VARIABLE}.",
            ) from error
        return None, {}, {}
    except OSError as error:
        raise ConfigurationError(
            f"the settings file cannot be read: {error.strerror or type(error).__name__}",
            where=str(path),
            remedy="Make it readable, or move it away to run with the defaults.",
        ) from error
    text = _decode(raw, path)
    try:
        return path, tomllib.loads(text), locate(text)
    except tomllib.TOMLDecodeError as error:
        raise _bad_toml(error, text, path) from None
    except RecursionError:
        raise _not_toml("it is nested too deeply", str(path)) from None
    except ValueError:  # `tomllib` leaves the limit of digits to `int`
        raise _not_toml("a number is too long", str(path)) from None


def _decode(raw: bytes, path: Path) -> str:
    if len(raw) > MAX_FILE_BYTES:
        raise ConfigurationError(
            f"the settings file is longer than {MAX_FILE_BYTES} bytes",
            where=str(path),
            remedy=f"Check that {FILE_VARIABLE} names the right file.",
        )
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise ConfigurationError(
            f"the settings file is not UTF-8 at byte {error.start}",
            where=f"{path}:{line}",
            remedy="Save it as UTF-8.",
        ) from None


_PLACE = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")


def _bad_toml(error: tomllib.TOMLDecodeError, text: str, path: Path) -> ConfigurationError:
    # Before 3.14 the place is in the message alone.
    message = str(error)
    found = _PLACE.search(message)
    if found is not None and found[1]:
        place = f"{found[1]}:{found[2]}"
    else:
        lines = text.split("\n")
        place = f"{len(lines)}:{len(lines[-1]) + 1}"
    reason = _PLACE.sub("", message)
    return _not_toml(f"{reason[:1].lower()}{reason[1:]}", f"{path}:{place}")


def _not_toml(reason: str, where: str) -> ConfigurationError:
    return ConfigurationError(
        f"not valid TOML: {reason}",
        where=where,
        remedy="Text needs quotes, a table is [name], a key is name = value.",
    )


def _drop_unknown(
    data: dict[str, Any],
    table: Table,
    path: KeyPath,
    places: Mapping[KeyPath, str],
    warnings: list[SettingWarning],
) -> None:
    """Remove the keys that the tree does not have, each with a warning; go down into the others."""
    for key in list(data):
        here = (*path, key)
        entry = table.get(key)
        if entry is None:
            del data[key]
            message, remedy = complaint.unknown_key(key, path, table)
            warnings.append(SettingWarning(places[here], message, remedy))
        else:
            _drop_unknown_inside(data[key], entry, here, places, warnings)


def _drop_unknown_inside(
    value: Any,
    entry: Entry,
    path: KeyPath,
    places: Mapping[KeyPath, str],
    warnings: list[SettingWarning],
) -> None:
    if entry.table is None:
        return
    if entry.kind is Kind.ARRAY and isinstance(value, list):
        tables = [((*path, index), one) for index, one in enumerate(cast("list[Any]", value))]
    else:
        tables = [(path, value)]
    for where, table in tables:
        if isinstance(table, dict):
            _drop_unknown(cast("dict[str, Any]", table), entry.table, where, places, warnings)


def _warn_of_open_secrets(
    path: Path, data: Mapping[str, Any], warnings: list[SettingWarning]
) -> None:
    try:
        mode = path.stat().st_mode
    except OSError:
        return
    if mode & (stat.S_IRWXG | stat.S_IRWXO) and _holds_secret(data, root()):
        warnings.append(
            SettingWarning(
                str(path),
                "the file holds a secret and other users of this machine can read it",
                f"Run: chmod 600 {path}",
            )
        )


def _holds_secret(data: Mapping[str, Any], table: Table) -> bool:
    for key, value in data.items():
        entry = table.get(key)
        if entry is None:
            continue
        if entry.secret:
            if any(not text.startswith(("env:", "file:")) for text in _texts(value)):
                return True
        elif (
            isinstance(value, dict)
            and entry.table is not None
            and _holds_secret(cast("dict[str, Any]", value), entry.table)
        ):
            return True
    return False


def _texts(value: Any) -> list[str]:
    if isinstance(value, dict):
        value = list(cast("dict[str, Any]", value).values())
    parts = cast("list[Any]", value) if isinstance(value, list) else [value]
    return [part for part in parts if isinstance(part, str)]


def _overlay(
    data: dict[str, Any],
    env: Mapping[str, str],
    places: dict[KeyPath, str],
    warnings: list[SettingWarning],
) -> None:
    variables, strays = environment.read(env, data)
    for stray in strays:
        remedy = f"Did you mean {stray.suggestion}?" if stray.suggestion else "Unset it."
        warnings.append(SettingWarning(f"environment {stray.name}", "it names no setting", remedy))
    for variable in variables:
        if not _put(data, variable.path, variable.value):
            continue
        place = f"environment {variable.name}"
        for known in [key for key in places if key[: len(variable.path)] == variable.path]:
            del places[known]
        places[variable.path] = place
        entry = _entry_at(variable.path)
        if entry is not None:
            _drop_unknown_inside(variable.value, entry, variable.path, _Places(place), warnings)


def _put(data: dict[str, Any], path: tuple[str, ...], value: Any) -> bool:
    """Set a value; False where the file has no table on the way: the check of types says so."""
    for key in path[:-1]:
        inner: Any = data.setdefault(key, {})
        if not isinstance(inner, dict):
            return False
        data = cast("dict[str, Any]", inner)
    data[path[-1]] = value
    return True


class _Places(dict[KeyPath, str]):
    """One place for every key: a whole table came in one variable."""

    def __init__(self, place: str) -> None:
        super().__init__()
        self._place = place

    def __missing__(self, key: KeyPath) -> str:
        return self._place


def _entry_at(path: tuple[str, ...]) -> Entry | None:
    table: Table | None = root()
    entry: Entry | None = None
    for key in path:
        entry = table.get(key) if table is not None else None
        table = entry.table if entry is not None else None
    return entry


def _sources(
    data: Mapping[str, Any], table: Table, path: KeyPath, places: Mapping[KeyPath, str]
) -> list[tuple[str, str]]:
    """Return the place of every dotted key that holds a value and was set."""
    found: list[tuple[str, str]] = []
    for key, value in data.items():
        here = (*path, key)
        entry = table.get(key)
        if entry is not None and entry.kind is Kind.TABLE and entry.table and value:
            found += _sources(cast("dict[str, Any]", value), entry.table, here, places)
        else:
            found.append((complaint.dotted(here), complaint.place_of(here, places)))
    return found
