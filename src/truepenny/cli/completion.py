"""`truepenny completion`: the script that makes a shell complete commands and options."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

SHELLS = ("bash", "zsh", "fish")


@click.command(epilog='Example: eval "$(truepenny completion bash)"')
@click.argument("shell", type=click.Choice(SHELLS))
def completion(shell: str) -> None:
    """Print the completion script for SHELL; put it where your shell reads it.

    \b
    bash: truepenny completion bash > ~/.local/share/bash-completion/completions/truepenny
    zsh:  truepenny completion zsh  > "${fpath[1]}/_truepenny"
    fish: truepenny completion fish > ~/.config/fish/completions/truepenny.fish
    """
    from .app import root

    kind = get_completion_class(shell)
    if kind is None:
        raise click.UsageError(f"no completion for {shell}")
    click.echo(kind(root, {}, "truepenny", "_TRUEPENNY_COMPLETE").source())
