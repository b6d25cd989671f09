"""The tree of commands. Each is imported only when it is the one asked for."""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Sequence

import click

from .failure import exit_code

COMMANDS: dict[str, tuple[str, str]] = {
    "run": ("run:run", "Ask the agent; it investigates and answers with evidence."),
    "triage": ("triage:triage", "Check a cluster with the built-in rules, no model involved."),
    "demo": ("demo:demo", "Serve the practice cluster (a simulator) with an incident."),
    "models": ("models:models", "List the models that can be used, or probe them."),
    "tool": ("tool:tool", "List, describe and call any tool by hand."),
    "redact": ("redact:redact", "Copy a text without its secrets, as a filter."),
    "host": ("host:host", "List the hosts that are reached over SSH, dial or forget one."),
    "skill": ("skill:skill", "List the skills, show one, or check a folder of your own."),
    "sandbox": ("sandbox:sandbox", "Show what a command could reach, and what holds it."),
    "session": ("session:session", "Look at past sessions: answers, calls, numbers."),
    "report": ("report:report", "Show what deep investigations found, as a document."),
    "command": ("command:command", "Try the rules that read-only command lines are held to."),
    "evaluate": ("evaluate:evaluate", "Score a model against incidents with known causes."),
    "conformance": (
        "conformance:conformance",
        "Hold a tool that runs commands to the result contract.",
    ),
    "doctor": ("doctor:doctor", "Check what works on this machine, and what to do if not."),
    "config": ("config:config", "Show the effective settings and where each comes from."),
    "completion": ("completion:completion", "Print the completion script of your shell."),
    "version": ("version:version", "Print the version."),
}
"""Name: where the command is defined below `truepenny.cli`, and its line in the list."""


class LazyGroup(click.Group):
    """A group that knows its commands by name and imports one at a time."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[cmd_name][0].partition(":")
        return getattr(importlib.import_module(f"truepenny.cli.{module}"), attribute)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in COMMANDS and not args[0].startswith("-"):
            near = difflib.get_close_matches(args[0], COMMANDS, n=1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            if " " in args[0]:
                # A sentence is a question to the agent, not a misspelt command.
                hint = f' To ask the agent: truepenny run "{args[0]}"'
            ctx.fail(f"there is no command {args[0]!r}.{hint}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        # From the table, not from the commands: help must not import all of them.
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog='Example: truepenny run "Why is checkout failing?"',
)
@click.version_option(package_name="truepenny", message="truepenny %(version)s")
def root() -> None:
    """Truepenny: an agent whose results never say more than what happened."""


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code (architecture: 0 to 5, 130)."""
    try:
        result: object = root.main(
            args=list(arguments), prog_name="truepenny", standalone_mode=False
        )
    except BaseException as error:
        return exit_code(error)
    return result if isinstance(result, int) else 0
