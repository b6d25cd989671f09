"""Ends the processes of ours when we are killed ourselves, which no code of ours lives to see.

One small shell per runtime reads a pipe whose only writer is us. It is told of each process group
that starts and of each that ended; when the pipe closes, by an exit or by `kill -9`, it kills the
groups that it still holds. Unlike Linux's parent death signal it reaches whole groups, needs no
program between us and the child (whose failure to start would then look like its own exit code),
and works on any POSIX system. It costs one start of `sh` per runtime and two short writes a run.

A start is announced before it is made, since it takes milliseconds until its group is known:
killed amidst one, what came of it is found by the mark of this runtime and in its control group.

What it cannot do: a forked copy of this process that lives on keeps the pipe open.
"""

from __future__ import annotations

import atexit
import itertools
import os
import select
import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress

from truepenny.system.descendants import RUN_VARIABLE, hold_start, release_start, runtime_mark
from truepenny.system.process_identity import read_stat

SHELL = "/bin/sh"
"""POSIX names no path, but every system with kubectl has it here. Without one nothing is guarded:
all that is lost is the end of our children after a `kill -9`."""

NAME = "truepenny-guard"
"""What process listings show instead of `sh`."""

END_SECONDS = 1.0
"""How long an orderly exit waits for it; it ends within milliseconds of the pipe."""

START_LOOKS = 6
"""Looks at a start that we were killed amidst, 0.05 s apart: a fork becomes its program, and what
it starts in turn is there, within some milliseconds; a busy machine takes ten times as long."""

# Told `+ group:start` and `- group`; a start that is being made is a group `new-<number>`. A shell
# reads from a pipe byte by byte, some 0.4 us each beside the command itself, so lines are short.
# The start (clock ticks since boot, field 22 of /proc/<pid>/stat) keeps a number that was given
# away from being killed; a group whose leader is gone keeps its number taken. Where there is no
# /proc the start is empty and not compared.
# The names of a control group's folders may follow, each after a colon: `set/name`, below each of
# the folders that `= set folder:folder` told before. They have neither blanks nor colons. What is
# in them is killed and they are removed, a few looks long: the dead leave slowly.
_SCRIPT = r"""
trap '' HUP INT TERM
set -f
ours=$1
held=' ' folders= looks=1 blanks=$IFS
while read -r mark entry; do
  case $mark in
    +) held="$held$entry " ;;
    =) eval "set_${entry%% *}=\${entry#* }" ;;
    -)
      rest=${held#*" $entry:"}
      [ "$rest" = "$held" ] || held="${held%%" $entry:"*} ${rest#* }" ;;
  esac
done
for entry in $held; do
  group=${entry%%:*} start=${entry#*:}
  case $start in
    *:*)
      names=${start#*:} start=${start%%:*}
      IFS=:
      for name in $names; do
        eval "parents=\$set_${name%%/*}"
        for parent in $parents; do folders="$folders $parent/${name#*/}"; done
      done
      IFS=$blanks ;;
  esac
  # It may be amidst becoming its program, with no mark to be seen: some more looks then.
  case $group in
    new-*) looks=@LOOKS@; continue ;;
  esac
  if [ -n "$start" ] && read -r stat <"/proc/$group/stat"; then
    set -- ${stat##*) }
    [ "${20}" = "$start" ] || continue
  fi
  kill -s KILL -- "-$group"
done
# What left its group and session is known by the mark of this runtime in its environment; one whose
# first thread has ended shows it at the others.
case $held$ours in
  *:*TRUEPENNY_RUN=????????????????-)
    while [ "$looks" -gt 0 ]; do
      set +f
      for file in $(grep -lz "^$ours" /proc/[0-9]*/environ) \
          $(grep -lz "^$ours" /proc/[0-9]*/task/[0-9]*/environ); do
        file=${file%/environ}
        file=${file%/task/*}
        kill -s KILL "${file#/proc/}"
      done
      set -f
      looks=$((looks - 1))
      [ "$looks" -eq 0 ] || sleep 0.05
    done ;;
esac
IFS=' :'
look=0
while [ -n "$folders" ] && [ "$look" -lt 100 ]; do
  rest=
  for folder in $folders; do
    [ -d "$folder" ] || continue
    if [ -w "$folder/cgroup.kill" ]; then
      echo 1 >"$folder/cgroup.kill"
    else
      while read -r pid; do kill -s KILL "$pid"; done <"$folder/cgroup.procs"
    fi
    rmdir "$folder" || rest="$rest $folder"
  done
  folders=$rest look=$((look + 1))
  [ -z "$rest" ] || sleep 0.05
done
""".replace("@LOOKS@", str(START_LOOKS))


class Guard:
    """Holds process groups until they are released or we are gone. Safe to use from threads."""

    def __init__(self, shell: str = SHELL) -> None:
        self._shell = shell
        self._lock = threading.Lock()
        self._held: dict[int | str, str] = {}
        self._starts = itertools.count(1)
        self._sets: dict[tuple[str, ...], int] = {}
        self._told: dict[int | str, str] = {}
        self._told_sets = 0
        self._process: subprocess.Popen[bytes] | None = None
        self._pipe = -1
        self._runtime = 0  # the process that started it: a fork needs one of its own

    def start(self) -> None:
        """Start the shell before there is a group: the first one is then told without delay."""
        with self._lock:
            if self._runtime != os.getpid():
                self._forget()
            if self._process is None:
                self._begin()

    def expect(self, folders: Sequence[str] = ()) -> str:
        """Announce a start, with the folders of its control group; `release` what is returned once
        the group is held or there is none."""
        name = f"new-{next(self._starts)}"
        self._add(name, "", folders)
        return name

    def hold(self, group: int, folders: Sequence[str] = (), announced: str = "") -> None:
        """Hold a group that was just started, named by its leader, with its control group's
        folders, in place of what was `announced`. A folder with a blank or a colon in its name is
        not told."""
        stat = read_stat(group)
        self._add(group, str(stat.start) if stat else "", folders, announced)

    def _add(self, key: int | str, start: str, folders: Sequence[str], instead: str = "") -> None:
        told = [name for name in folders if not any(c in ": \t\n" for c in name)]
        with self._lock:
            if self._runtime != os.getpid():
                self._forget()
            self._held[key] = ":".join([str(key), start, *self._short(told)])
            self._held.pop(instead, None)
            # One that was killed is replaced, once, and told of everything that is held.
            if self._process is None or not self._tell():
                self._begin()

    def _short(self, folders: Sequence[str]) -> list[str]:
        """Return the folders by name, those of one name together."""
        places: dict[str, list[str]] = {}
        for folder in folders:
            place, _, name = folder.rpartition("/")
            places.setdefault(name, []).append(place)
        return [
            f"{self._sets.setdefault(tuple(found), len(self._sets))}/{name}"
            for name, found in places.items()
        ]

    def release(self, key: int | str) -> None:
        """Let go of a group that has ended, or of a start that was made or given up."""
        with self._lock:
            if self._held.pop(key, None) is not None and self._process is not None:
                self._tell()

    def close(self) -> None:
        """End the shell; what it still holds is killed. Holding again starts another."""
        with self._lock:
            if self._runtime == os.getpid():
                self._end()

    def _begin(self) -> None:
        self._end()
        self._runtime = os.getpid()
        try:
            read, write = os.pipe()
        except OSError:
            return
        try:
            self._process = subprocess.Popen(
                [NAME, "-c", _SCRIPT, NAME, f"{RUN_VARIABLE}={runtime_mark()}"],
                executable=self._shell,
                stdin=read,
                # Its own everything: it must not hold the caller's pipes, folder or terminal.
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                env={"PATH": os.defpath},
                start_new_session=True,
            )
        except OSError:
            os.close(write)
            return
        finally:
            os.close(read)
        hold_start(self._process.pid)
        # A shell that is slow or was stopped must not stop us when its pipe is full.
        os.set_blocking(write, False)
        self._pipe = write
        self._told, self._told_sets = {}, 0
        self._tell()

    def _tell(self) -> bool:
        """Tell what changed since it was told last; False where it is gone.

        What finds no room in the pipe is told with the next change: a guard that is slow, or was
        stopped, holds us up no longer than that, and to replace it would end all that it holds.
        """
        try:
            for some in _batches(self._news()):
                os.write(self._pipe, b"".join(line for line, _ in some))
                for _, key in some:
                    self._note(key)
        except BlockingIOError:
            return True
        except OSError:
            return False
        return True

    def _news(self) -> list[tuple[bytes, int | str | None]]:
        """Return the lines that it lacks, each with the key that it is about: None for a set."""
        told, held = self._told, self._held
        sets = list(self._sets.items())[self._told_sets :]
        # A number that came again: the old group goes first.
        again = [key for key in told if key in held and told[key] != held[key]]
        lines: list[tuple[str, int | str | None]] = [
            *((f"= {number} {':'.join(folders)}\n", None) for folders, number in sets),
            *((f"- {key}\n+ {held[key]}\n", key) for key in again),
            *((f"+ {entry}\n", key) for key, entry in held.items() if key not in told),
            # Last: a group that takes the place of an announcement is there before that goes.
            *((f"- {key}\n", key) for key in told if key not in held),
        ]
        return [(line.encode("utf-8", "surrogateescape"), key) for line, key in lines]

    def _note(self, key: int | str | None) -> None:
        if key is None:
            self._told_sets += 1
        elif key in self._held:
            self._told[key] = self._held[key]
        else:
            self._told.pop(key, None)

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        os.close(self._pipe)
        try:
            process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        release_start(process.pid)

    def _forget(self) -> None:
        """Drop what a fork took over: the shell and its groups are the parent's."""
        if self._process is not None:
            self._process.returncode = 0  # not our child: nothing to wait for
            self._process = None
            with suppress(OSError):
                os.close(self._pipe)
        self._held.clear()


def _batches(
    news: list[tuple[bytes, int | str | None]],
) -> Iterator[list[tuple[bytes, int | str | None]]]:
    """Yield lines together that a pipe takes whole or not at all."""
    some: list[tuple[bytes, int | str | None]] = []
    size = 0
    for one in news:
        if some and size + len(one[0]) > select.PIPE_BUF:
            yield some
            some, size = [], 0
        some.append(one)
        size += len(one[0])
    if some:
        yield some


GUARD = Guard()
"""The one of this runtime."""

atexit.register(GUARD.close)
