"""Which Python runs the tool server: ours, where it can be seen inside; else the system's.

Run by root from a private place (a Python below /root), the account of commands cannot reach our
interpreter. A system Python of the same version runs the same code and the same packages.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from truepenny.errors import CouldNotRun
from truepenny.sandbox.plan import Plan
from truepenny.sandbox.roots import file_roots

SYSTEM = ("/usr/bin/python3", "/usr/local/bin/python3", "/bin/python3")

SECONDS = 10.0
"""A Python says its version within milliseconds."""


@dataclass(frozen=True, slots=True)
class Interpreter:
    """The words that start it, without modules of the working directory or a home, and the
    variables that it needs beside."""

    words: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict[str, str])


def interpreter(plan: Plan) -> Interpreter:
    """Return one that can be seen inside the plan. Raises CouldNotRun where there is none."""
    roots = file_roots(plan)
    own = Path(sys.executable)
    if all(roots.readable(Path(path)) for path in (own.parent, os.path.realpath(own))):
        return Interpreter((str(own), "-I"))
    packages = Path(sysconfig.get_path("purelib"))
    if roots.readable(packages):
        for name in SYSTEM:
            if roots.readable(Path(os.path.realpath(name))) and _version(name) == _ours():
                # Programs of our packages (ripgrep) lie beside our interpreter, not this one.
                path = os.pathsep.join((os.defpath, str(own.parent)))
                return Interpreter((name, "-P", "-s"), {"PYTHONPATH": str(packages), "PATH": path})
    raise CouldNotRun(
        f"{plan.account.name} cannot reach the Python that Truepenny runs with ({own})",
        where="the tool server",
        remedy="Install Truepenny outside of private folders such as /root, or run it as an "
        "ordinary user.",
    )


def _ours() -> str:
    return f"{sys.version_info.major}.{sys.version_info.minor}"


@cache
def _version(program: str) -> str:
    code = "import sys; print('%d.%d' % sys.version_info[:2])"
    try:
        done = subprocess.run(
            [program, "-I", "-S", "-c", code],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=SECONDS,
            check=False,
            env={},
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.decode("ascii", "replace").strip()
