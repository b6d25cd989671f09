"""The first words of a start: join the control groups, set limits, and become the next words.

Membership of a control group is inherited at a fork, so what joins must be the process itself,
before the program is there; a step between fork and exec in our own process would cost a copy of
its page tables. So a shell writes `0`, itself, to the files by which groups are joined (as root it
is root still) and is replaced. Where Landlock holds it already, which judges the opening of a file
and not writing to it, it inherits them open, and closes them. What it cannot do stops the start: a
program never runs outside its limits.

`PWD` is set for the next words, as every shell does; bash adds `_` and `SHLVL`.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass

from .confinement import NotStarted, Refused
from .trusted import SHELL, find

FAILED = 125
"""The exit code of our own words where they fail, as `env` and `timeout` use it."""

HIGHEST_IN_DASH = 9
"""A redirection of dash takes one digit only; bash takes any number."""

_SCRIPT = f"""
while [ "$1" != -- ]; do
  case $1 in
    -u) ulimit -u "$2" 2>/dev/null || ulimit -p "$2" || exit {FAILED}; shift 2 ;;
    -*) ulimit "$1" "$2" || exit {FAILED}; shift 2 ;;
    /*) echo 0 >"$1" || {{ echo "$0: the control group cannot be joined" >&2; exit {FAILED}; }}
       shift ;;
    *) echo 0 >&"$1" || {{ echo "$0: the control group cannot be joined" >&2; exit {FAILED}; }}
       eval "exec $1>&-"; shift ;;
  esac
done
shift
exec "$@"
"""
# `-u` is the number of processes in bash; dash and busybox call it `-p`, which bash uses for pipes.


@dataclass(frozen=True, slots=True)
class Placement:
    """The words, and how their failure is told from the program's. `token` is a name that only
    this start knows: the shell puts it before its complaints, and a program cannot guess it."""

    words: tuple[str, ...]
    token: str

    def verdict(self, code: int | None, stderr: str) -> NotStarted | None:
        """Read an end: None where the words did their work, whatever came after them."""
        if code is None or code == 0 or not stderr.startswith(self.token):
            return None
        line = stderr.partition("\n")[0].removeprefix(self.token).lstrip(": ")
        return NotStarted(Refused.SANDBOX, line)


def place(joins: Sequence[int] | Sequence[str], rlimits: Sequence[str] = ()) -> Placement:
    """Return the words that join groups and set `rlimits` (words of `rlimits.rlimit_words`); the
    next words follow directly.

    `joins` are `ControlGroup.joins`, or `ControlGroup.descriptors` where no file can be opened any
    more. Those mostly have two digits, which takes a bash: half a millisecond more.
    """
    token = new_token()
    numbers = [one for one in joins if isinstance(one, int)]
    words = (*shell_words(_SCRIPT, token, numbers), *map(str, joins), *rlimits, "--")
    return Placement(words, token)


def new_token() -> str:
    """Return a name that nobody can guess."""
    return f"truepenny-start-{secrets.token_hex(6)}"


def shell_words(script: str, name: str, descriptors: Sequence[int]) -> tuple[str, ...]:
    """Return the words of a shell that runs `script` as `name` and can use these descriptors.

    bash as POSIX says, and without what the environment would make it read before.
    """
    bash = find("bash") if any(number > HIGHEST_IN_DASH for number in descriptors) else None
    shell = (SHELL,) if bash is None else (bash, "--posix", "-p")
    return (*shell, "-c", script, name)
