"""One line on one node, through its debug pod: run, read, and ended there when it must be.

In the pod a shell makes a session, notes its id in the pod's own /tmp and enters the namespaces of
the node's first process. A fresh exec finds the line again by that id, and by a variable that all
its processes inherit: the pod sees the processes of the node. Nothing is written on the node.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import anyio

from truepenny.diagnose.host.remote_shell import (
    END,
    TERM_STEPS,
    Ended,
    is_plain,
    new_token,
    read_ended,
)
from truepenny.diagnose.pod.pod_exec import meaning_behind
from truepenny.execute.command import CaptureLimits, Command
from truepenny.execute.ending import Leg, Outcome
from truepenny.execute.execution import Execution
from truepenny.execute.habit import nothing_found
from truepenny.execute.outcome import Classification, Marker
from truepenny.execute.process import run as run_process
from truepenny.execute.stage import stages
from truepenny.system.clock import Clock
from truepenny.text.redact import Redactor

from .debug_job import CONTAINER
from .debug_pods import DebugPod

BACKSTOP_SECONDS = 30
"""On the node a line is killed this long after its time, should nobody of us be there to do it."""

END_SECONDS = 20.0
"""For ending what is left: one more exec, and twice two seconds on the node."""

_ENTER = """\
export TRUEPENNY_RUN="$1"
shift
setsid /bin/sh -c 'echo "$$" >"/tmp/truepenny-$TRUEPENNY_RUN.sid"; exec "$@"' sh "$@"
code=$?
rm -f "/tmp/truepenny-$TRUEPENNY_RUN.sid"
exit "$code"
"""
# In the foreground of a script `setsid` leads no group and becomes the program: the code is its.

_LINE = """\
if bash=$(command -v bash); then exec "$bash" -o pipefail -c -- "$1"; fi
if [ "$2" = 1 ]; then exec /bin/sh -c -- "$1"; fi
echo 'truepenny: no bash on the node' >&2
exit 127
"""
# As on hosts: sh runs only what it reads as bash does.

_STOP = """\
session=$(cat "/tmp/truepenny-$2.sid" 2>/dev/null)
rm -f "/tmp/truepenny-$2.sid"
exec /bin/sh -c "$1" truepenny "$2" "${session:-0}" "$3"
"""

_MARKERS = (
    Marker(
        re.compile(r"nsenter: "), Outcome.CHANNEL_FAILED, "namespace_entry", Leg.NAMESPACE_ENTRY
    ),
    Marker(re.compile(r"truepenny: no bash on the node$"), Outcome.MISSING_DEPENDENCY, "no_bash"),
)


@dataclass(frozen=True, slots=True)
class NodeRun:
    """What came of a line. `ended` says what is known of what it left on the node, None where
    there was nothing to end."""

    execution: Execution
    meaning: Classification
    ended: Ended | None = None


async def run_on_node(
    pod: DebugPod,
    line: str,
    *,
    seconds: float,
    limits: CaptureLimits,
    redactor: Redactor,
    clock: Clock,
    stdin: bytes | None = None,
) -> NodeRun:
    """Run a line of bash on the pod's node. Cancelling ends it there before it propagates."""
    token = new_token()
    limit = str(int(seconds) + BACKSTOP_SECONDS)
    entered = (
        *("timeout", "-s", "KILL", limit),
        *("nsenter", "-t", "1", "-m", "-u", "-i", "-n", "-p", "--"),
        *("/bin/sh", "-c", _LINE, "sh", line, str(int(is_plain(line)))),
    )
    argv = ("/bin/sh", "-c", _ENTER, "sh", token, *entered)
    try:
        execution = await run_process(
            Command(
                argv=_kubectl(pod, argv, reads=stdin is not None),
                env=pod.cluster.environment(),
                stdin=stdin,
                timeout=seconds,
                limits=limits,
                redactor=redactor,
            ),
            clock=clock,
        )
    except BaseException:
        with anyio.CancelScope(shield=True):
            await _end(pod, token)
        raise
    words = stages(line)
    codes = nothing_found(words[-1]) if words else ()
    meaning = meaning_behind(execution, codes, _MARKERS)
    broken = execution.cause is not None or meaning.leg is Leg.TRANSPORT
    ended = await _end(pod, token) if broken or "&" in line else None
    return NodeRun(execution, meaning, ended)


def _kubectl(pod: DebugPod, argv: Sequence[str], *, reads: bool = False) -> tuple[str, ...]:
    cluster = pod.cluster
    return (
        cluster.kubectl.find(),
        *cluster.kubectl.arguments(cluster.context.name),
        "exec",
        *(("-i",) if reads else ()),
        *("-n", cluster.debug_namespace, pod.pod, "-c", CONTAINER, "--"),
        *argv,
    )


async def _end(pod: DebugPod, token: str) -> Ended:
    """End what is left of a line by a fresh exec, and say whether that is certain."""
    argv = ("/bin/sh", "-c", _STOP, "sh", END, token, str(TERM_STEPS))
    done = await run_process(
        Command(argv=_kubectl(pod, argv), env=pod.cluster.environment(), timeout=END_SECONDS)
    )
    if done.failure is not None or done.cause is not None or done.exit.effective != 0:
        said = done.stderr.text.strip().rpartition("\n")[2]
        return Ended("unknown", why=f"the node could not be asked: {said[:200] or 'no answer'}")
    return read_ended(token, done.stdout.text)
