"""A few scripts, as a source hands them out."""

from __future__ import annotations

from truepenny.tool.script import Script, UnknownScript

BASH = b"""#!/usr/bin/env bash
# reads nothing: a program that reads gets nothing of the script
cat
printf 'got %s\\n' "$@"
echo 'password=hunter2hunter2' >&2
echo 'status: ok'
"""


class Shelf:
    """A source over a few scripts, each for every place unless `only` names one."""

    def __init__(self, *only: str) -> None:
        self.only = only or ("local", "node", "pod", "host")
        self.bodies: dict[str, tuple[str, bytes]] = {
            "probe.sh": ("bash", BASH),
            "probe.py": (
                "python3",
                b"import sys\nprint(sys.argv[1:])\nprint('status: no_match')\n",
            ),
            "silent.sh": ("sh", b"echo status: ok\necho 'more: data'\nexit 3\n"),
            "slow.sh": ("bash", b"echo status: ok; exec cat /dev/zero >/dev/null\n"),
        }

    def script(self, skill: str, name: str) -> Script:
        known = tuple(f"try/{one}" for one in self.bodies)
        if skill != "try" or name not in self.bodies:
            raise UnknownScript(skill, name, known, "# Try\nHow to try.")
        interpreter, body = self.bodies[name]
        return Script(skill, name, body, interpreter, self.only)
