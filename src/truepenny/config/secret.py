"""Secrets by reference: `env:NAME`, `file:PATH`, or the secret itself. None is ever shown."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from truepenny.errors import ConfigurationError

if TYPE_CHECKING:
    from pydantic import SecretStr

MASK = "[secret]"

MAX_FILE_BYTES = 65_536
"""A key, token or password is far shorter; a longer file is the wrong file."""


def resolve(reference: str | SecretStr, env: Mapping[str, str]) -> str:
    """Return the secret that a reference stands for; a literal stands for itself.

    A file's final line break is not part of the secret; `~` is the home directory. Raises
    ConfigurationError if the variable is not set or empty, or the file cannot be read, is empty,
    is not UTF-8 or is longer than `MAX_FILE_BYTES`. The message never holds the secret.
    """
    text = reference if isinstance(reference, str) else reference.get_secret_value()
    kind, separator, rest = text.partition(":")
    if separator and kind == "env":
        return _from_environment(rest, env)
    if separator and kind == "file":
        return _from_file(rest, env)
    return text


def shown(reference: str | SecretStr) -> str:
    """Return what may be shown: a reference as it is written, a literal as a mask."""
    text = reference if isinstance(reference, str) else reference.get_secret_value()
    return text if text.startswith(("env:", "file:")) else MASK


def _from_environment(name: str, env: Mapping[str, str]) -> str:
    value = env.get(name, "")
    if not value:
        state = "empty" if name in env else "not set"
        raise ConfigurationError(
            f"the environment variable is {state}",
            where=f"env:{name}",
            remedy=f"Set {name}, or name another place of the secret.",
        )
    return value


def _from_file(name: str, env: Mapping[str, str]) -> str:
    path = expand(name, env)
    where, remedy = f"file:{name}", "Name a readable file that holds the secret alone."
    try:
        data = read_file(path, MAX_FILE_BYTES)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise ConfigurationError(
            f"the file cannot be read: {reason}", where=where, remedy=remedy
        ) from error
    if len(data) > MAX_FILE_BYTES:
        raise ConfigurationError(
            f"the file is longer than {MAX_FILE_BYTES} bytes", where=where, remedy=remedy
        )
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ConfigurationError(
            f"the file is not UTF-8 at byte {error.start}", where=where, remedy=remedy
        ) from None
    text = text.removesuffix("\n").removesuffix("\r")
    if not text:
        raise ConfigurationError("the file is empty", where=where, remedy=remedy)
    return text


def read_file(path: Path, limit: int) -> bytes:
    """Return a file's content, one byte over `limit` at most. Raises OSError.

    A pipe or socket is refused: waiting for its other end would hang every command, and a second
    read would find it empty.
    """
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except ValueError:  # a NUL in the name
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL)) from None
    with open(handle, "rb") as file:
        mode = os.fstat(handle).st_mode
        if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode):
            raise OSError(errno.EINVAL, "a pipe, not a file")
        return file.read(limit + 1)


def expand(path: str, env: Mapping[str, str]) -> Path:
    """Return the path with a leading `~/` replaced by the home directory that `env` names."""
    if path == "~" or path.startswith("~/"):
        home = env.get("HOME")
        return (Path(home) if home else Path.home()) / path[2:]
    return Path(path)
