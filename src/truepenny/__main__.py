"""The entry point of the `truepenny` command.

Version questions are answered before anything is imported: the start of a command line tool is paid
on every call, and shell completion calls it on every key.
"""

from __future__ import annotations

import sys

from truepenny import __version__


def main() -> None:
    """Run the command line in `sys.argv` and exit with its code."""
    if sys.argv[1:] in (["version"], ["--version"], ["-V"]):
        sys.stdout.write(f"truepenny {__version__}\n")
        return
    from truepenny.cli.app import run

    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
