"""References to secrets: followed where they lead, never shown, named when broken."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from pydantic import SecretStr

from truepenny.config.secret import MASK, MAX_FILE_BYTES, resolve, shown
from truepenny.errors import ConfigurationError


def test_the_three_forms(tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_bytes(b"from-file\r\n")
    assert resolve("env:KEY", {"KEY": "from-env"}) == "from-env"
    assert resolve(f"file:{file}", {}) == "from-file"
    assert resolve("file:~/key", {"HOME": str(tmp_path)}) == "from-file"
    assert resolve("plain:text", {}) == "plain:text"
    assert resolve(SecretStr("literal"), {}) == "literal"


@pytest.mark.parametrize("content", [None, b"", b"\n", b"\xff\xfe", b"x" * (MAX_FILE_BYTES + 1)])
def test_a_broken_file_is_named(tmp_path: Path, content: bytes | None) -> None:
    file = tmp_path / "key"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(ConfigurationError) as caught:
        resolve(f"file:{file}", {})
    assert caught.value.where == f"file:{file}"


@pytest.mark.parametrize("env", [{}, {"KEY": ""}])
def test_a_missing_variable_is_named(env: dict[str, str]) -> None:
    with pytest.raises(ConfigurationError) as caught:
        resolve("env:KEY", env)
    assert caught.value.where == "env:KEY"


def test_a_reference_is_shown_and_a_literal_is_not() -> None:
    assert shown("env:KEY") == "env:KEY"
    assert shown("file:/k") == "file:/k"
    assert shown("sk-1234") == MASK


def test_a_pipe_or_an_impossible_name_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name in (str(tmp_path / "pipe"), "a\0b"):
        with pytest.raises(ConfigurationError) as caught:
            resolve(f"file:{name}", {})
        assert caught.value.where == f"file:{name}"
