"""The words that run a line on a host, and those that end what is left of it.

Closing a channel ends nothing on the other side. So a line runs in a session of its own, whose id
comes back before the line starts, and with a variable in its environment that all its processes
inherit; both find them again from a fresh connection. What comes back does so on standard error
between two separators (`MarkFilter` takes it out): nothing is left on the host's disk.
"""

from __future__ import annotations

import re
import secrets
import shlex
from dataclasses import dataclass

VARIABLE = "TRUEPENNY_RUN"
"""In the environment of a line and of whatever it starts."""

MARK = b"\x1e"
"""The ASCII record separator: it stands before and behind what is ours."""

MARK_BYTES = 512
"""The longest mark: the token, a word and the statuses of a hundred stages."""

TERM_STEPS = 20
"""Looks, a tenth of a second apart, before an ending gets harder, and again before giving up."""

_RUN = """\
token=$1 line=$2 report=$3 plain=$4
if [ "$5" = 1 ]; then exec 5<&0; else exec 5</dev/null; fi
export TRUEPENNY_RUN="$token"
if bash=$(command -v bash); then
  shell=bash
  set -- "$bash" -o pipefail -c -- "$report$line"
elif [ "$plain" != 1 ]; then
  printf '\\036%s none 0\\036' "$token" >&2
  exit 127
else
  shell=sh
  set -- /bin/sh -c -- "$line"
fi
left=0
if command -v setsid >/dev/null 2>&1; then
  exec 4>&1
  session=$(setsid /bin/sh -c '
    echo "$$"; printf "\\036%s session %s\\036" "$1" "$$" >&2
    exec >&4 4>&-
    shift
    exec "$@"' sh "$token" "$@" <&5 5<&-)
  code=$?
  exec 4>&-
  kill -s 0 -- "-$session" 2>/dev/null && left=1
else
  printf '\\036%s session 0\\036' "$token" >&2
  "$@" <&5 5<&-
  code=$?
fi
printf '\\036%s %s %s\\036' "$token" "$shell" "$left" >&2
exit "$code"
"""
# Run in the foreground, so that no signal is ignored in it that is not elsewhere. A program in the
# foreground of a script leads no group, and `setsid` then becomes it without a process between.
# The session's id is what the substitution reads; the line writes to the real output (4).

_REPORT = """\
trap 'builtin printf "\\036%s stages %s %s\\036" {token} "$?" "${{PIPESTATUS[*]}}" >&2' EXIT; """
# Before a line with a pipe: what each stage of its last pipeline came to, as for a line run here
# (`truepenny.execute.shell`). A line that does not parse is not begun, with it as without.

_PLAIN = re.compile(r"""[A-Za-z0-9_ ./:,=@%+|*?'"-]*""")
"""Lines without an operator, expansion or word that only one of the two shells knows."""

END = """\
token=$1 session=$2 steps=$3
if ! [ -r /proc/self/stat ]; then echo "$token unknown"; exit 0; fi
look() {
  pids=
  for file in $(grep -ls "TRUEPENNY_RUN=$token" /proc/[0-9]*/environ 2>/dev/null); do
    pid=${file#/proc/}
    pids="$pids ${pid%/environ}"
  done
  [ "$session" = 0 ] && return
  for file in /proc/[0-9]*/stat; do
    row=
    { while IFS= read -r part || [ -n "$part" ]; do row="$row$part "; done <"$file"; } 2>/dev/null
    set -- ${row##*) }
    case ${1:-Z} in [ZXx]) continue ;; esac
    [ "${4:-}" = "$session" ] || continue
    pid=${file#/proc/}
    pid=${pid%/stat}
    case " $pids " in *" $pid "*) ;; *) pids="$pids $pid" ;; esac
  done
}
wait_for_them() {
  step=0
  while look; [ -n "$pids" ] && [ "$step" -lt "$steps" ]; do
    sleep 0.1 2>/dev/null || sleep 1
    step=$((step + 1))
  done
}
look
set -- $pids
found=$#
if [ -n "$pids" ]; then kill -TERM $pids 2>/dev/null; wait_for_them; fi
if [ -n "$pids" ]; then kill -KILL $pids 2>/dev/null; wait_for_them; fi
if [ -n "$pids" ]; then echo "$token left$pids"; else echo "$token gone $found"; fi
"""


def new_token() -> str:
    """Return what names one run: too long to be met by chance in anybody's output."""
    return secrets.token_hex(12)


def run_words(token: str, line: str, *, reads: bool = False) -> str:
    """Return what the login shell is given to run a line by bash. The line reads what is sent to
    it with `reads`, and nothing otherwise.

    Where there is no bash, sh runs a line that both read alike, and no other: what was admitted as
    bash reads it may be something else to sh (`&>` is one operator to bash and two to sh).
    """
    report = _REPORT.format(token=token) if "|" in line else ""
    return _words(_RUN, token, line, report, str(int(is_plain(line))), str(int(reads)))


def end_words(token: str, session: int) -> str:
    """Return the command that ends what is left of a run, TERM first, then KILL."""
    return _words(END, token, str(session), str(TERM_STEPS))


def is_plain(line: str) -> bool:
    """Whether bash and sh read a line alike."""
    return _PLAIN.fullmatch(line) is not None


def _words(script: str, *arguments: str) -> str:
    # Single quotes mean the same to every login shell in use.
    return shlex.join(("exec", "/bin/sh", "-c", script, "truepenny", *arguments))


@dataclass(frozen=True, slots=True)
class Ended:
    """What the ending of a run came to: `gone` (confirmed; `found` were still there), `left`
    (`pids` could not be ended) or `unknown` (`why`)."""

    state: str
    found: int = 0
    pids: tuple[int, ...] = ()
    why: str = ""


def read_ended(token: str, output: str) -> Ended:
    """Read what `end_words` wrote."""
    for line in output.splitlines():
        match line.split():
            case [first, "gone", count] if first == token and count.isdecimal():
                return Ended("gone", int(count))
            case [first, "left", *pids] if first == token and all(map(str.isdecimal, pids)):
                return Ended("left", len(pids), tuple(map(int, pids)))
            case [first, "unknown"] if first == token:
                return Ended("unknown", why="its processes cannot be looked at there (no /proc)")
            case _:
                continue
    return Ended("unknown", why="it did not say")


class MarkFilter:
    """Takes our marks out of a stream of bytes. `session` is the first id that came, 0 where the
    host has no `setsid`. `shell` (`none`: there was no bash, and the line did not run) and `left`
    are None until the line has ended. `statuses` are the
    shell's own and then those of the stages of its last pipeline, where it told them."""

    def __init__(self, token: str) -> None:
        self.session: int | None = None
        self.shell: str | None = None
        self.left: bool | None = None
        self.statuses: tuple[int, ...] | None = None
        self._start = MARK + token.encode() + b" "
        self._mark = re.compile(re.escape(self._start) + rb"([a-z]+) ([\d ]{1,400})" + MARK)
        self._held = b""

    def feed(self, data: bytes) -> bytes:
        """Return what is not ours; the beginning of a mark is held back until it is whole."""
        data = self._mark.sub(self._taken, self._held + data)
        at = data.rfind(MARK, max(len(data) - MARK_BYTES, 0))
        begun = data[at:] if at >= 0 else b""
        if begun and (self._start.startswith(begun) or begun.startswith(self._start)):
            data = data[:at]
        else:
            begun = b""
        self._held = begun
        return data

    def finish(self) -> bytes:
        """Return what was held back and did not become a mark."""
        held, self._held = self._held, b""
        return held

    def _taken(self, match: re.Match[bytes]) -> bytes:
        word, numbers = match[1].decode(), tuple(map(int, match[2].split()))
        # Each counts where it comes first: the line knows the token and may write more of them.
        match word, numbers:
            case "session", (number,) if self.session is None:
                self.session = number
            case "stages", (_, *_) if self.statuses is None:
                self.statuses = numbers
            case (("bash" | "sh" | "none"), (left,)) if self.left is None:
                self.shell, self.left = word, left == 1
            case _:
                pass
        return b""
