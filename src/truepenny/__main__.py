"""The entry point of the `truepenny` command.

Version questions are answered before anything is imported: the start of a command line tool is paid
on every call, and shell completion calls it on every key.
"""

from __future__ import annotations

import sys

from truepenny import __version__


def main() -> None:
    """Run the command line in `sys.argv` and exit with its code."""
    arguments = sys.argv[1:]
    if arguments in (["version"], ["--version"], ["-V"]):
        try:
            sys.stdout.write(f"truepenny {__version__}\n")
            sys.stdout.flush()
        except (AttributeError, OSError):
            arguments = ["version"]  # Closed or full: the whole program says so.
        else:
            return
    from truepenny.cli.streams import finish, prepare

    prepare()
    try:
        from truepenny.cli.app import run
        from truepenny.cli.interrupt import heed

        heed()
        code = run(arguments)
    except KeyboardInterrupt as error:  # While it was starting or ending.
        from truepenny.cli.failure import exit_code

        code = exit_code(error)
    sys.exit(finish(code))


if __name__ == "__main__":
    main()
