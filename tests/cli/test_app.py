from __future__ import annotations

import subprocess
import sys

import click
import pytest

from truepenny.cli.app import COMMANDS, root, run


def test_every_command_loads_and_is_named_as_listed() -> None:
    context = click.Context(root)
    for name in COMMANDS:
        command = root.get_command(context, name)
        assert command is not None
        assert command.name == name


def _walk(
    command: click.Command, path: tuple[str, ...]
) -> list[tuple[tuple[str, ...], click.Command]]:
    found = [(path, command)]
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            child = command.get_command(context, name)
            assert child is not None
            found += _walk(child, (*path, name))
    return found


def test_every_command_has_help_with_an_example(capsys: pytest.CaptureFixture[str]) -> None:
    for path, _ in _walk(root, ()):
        assert run([*path, "--help"]) == 0
        out = capsys.readouterr().out
        assert "Example: truepenny" in out or "Example: eval" in out, path


def test_unknown_command_is_a_usage_error_with_the_nearest_name(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["triag"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "'triage'" in captured.err


def test_version_imports_neither_click_nor_anyio() -> None:
    code = (
        "import sys; sys.argv = ['truepenny', 'version']\n"
        "from truepenny.__main__ import main; main()\n"
        "print(sorted({'click', 'anyio', 'pydantic', 'httpx2', 'asyncio'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_name_the_program(
    shell: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["completion", shell]) == 0
    assert "_TRUEPENNY_COMPLETE" in capsys.readouterr().out
