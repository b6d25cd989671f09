"""Recorded commands: `kubectl exec` over a WebSocket of the `v5.channel.k8s.io` protocol.

Each message starts with a channel byte: 0 stdin, 1 stdout, 2 stderr, 3 the final Status. A command
that the world has not recorded ends with exit code 127 and says so: nothing is made up.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence

from truepenny.demo.host.machine import Machine
from truepenny.demo.server.debug_job import ended, node_line, node_of
from truepenny.demo.server.exchange import Request, Send
from truepenny.demo.server.status import Refusal
from truepenny.demo.server.surroundings import World
from truepenny.demo.server.value import Object, dig, listing, text

PROTOCOLS = ("v5.channel.k8s.io", "v4.channel.k8s.io")
"""Subprotocols spoken, the preferred one first."""

_STDOUT, _STDERR, _ERROR = b"\x01", b"\x02", b"\x03"
_NOT_RECORDED = 127  # what a shell answers for a command that it does not find
_CHUNK = 32 * 1024  # bytes in one message, about what a kubelet sends


def protocol(offered: Sequence[str]) -> str:
    """Choose the subprotocol; raises Refusal 400 where none is shared."""
    for name in PROTOCOLS:
        if name in offered:
            return name
    raise Refusal(400, f"exec needs one of the WebSocket protocols {', '.join(PROTOCOLS)}")


def command(request: Request) -> list[str]:
    """Return the argv; raises Refusal 400 for none."""
    argv = [value for key, value in request.pairs if key == "command"]
    if not argv:
        raise Refusal(400, "you must specify at least one command for the container")
    return argv


def container(request: Request, pod: Object) -> str:
    """Return the container to run in: the named one, else the first; raises Refusal 400."""
    names = [text(entry, "name") for entry in listing(pod, "spec", "containers")]
    wanted = request.query.get("container", "") or (names[0] if names else "")
    if wanted not in names:
        name = text(pod, "metadata", "name")
        raise Refusal(400, f"container {wanted} is not valid for pod {name}")
    return wanted


def check(request: Request, pod: Object) -> None:
    """Raise Refusal where a command could not run: no argv, no such or no running container."""
    command(request)
    name = container(request, pod)
    phase = text(pod, "status", "phase")
    if phase in ("Succeeded", "Failed"):
        message = f"cannot exec into a container in a completed pod; current phase is {phase}"
        raise Refusal(400, message)
    for status in listing(pod, "status", "containerStatuses"):
        if dig(status, "name") == name and dig(status, "state", "running") is not None:
            return
    raise Refusal(500, f'container not found ("{name}")')


async def run(
    request: Request, pod: Object, world: World, send: Send, *, status: bytes | None = None
) -> None:
    """Send the recorded output and the final Status over an accepted socket.

    `status` replaces the Status, for faults; empty means that none is sent.
    """
    argv = command(request)
    namespace, name = text(pod, "metadata", "namespace"), text(pod, "metadata", "name")
    if node := node_of(pod):
        answer = _on_node(world, node, argv)
    else:
        answer = world.exec(namespace, name, container(request, pod), argv)
    if answer is None:
        said = f"practice cluster: no recorded answer for: {shlex.join(argv)}\n"
        answer = b"", said.encode(), _NOT_RECORDED
    stdout, stderr, code = answer
    for channel, data in ((_STDOUT, stdout), (_STDERR, stderr)):
        for start in range(0, len(data), _CHUNK):
            await _send(send, channel + data[start : start + _CHUNK])
    ended = json.dumps(_status(code)).encode() if status is None else status
    if ended:
        await _send(send, _ERROR + ended)


def _on_node(world: World, node: str, argv: Sequence[str]) -> tuple[bytes, bytes, int] | None:
    """Answer what is run in a debug pod: a line on its node, as recorded for the machine of that
    name, or the end of one."""
    line = node_line(argv)
    if line is not None:
        known = (machine for machine in world.hosts if machine.name == node)
        found = next(known, Machine(node, "")).answer(line)
        return found.stdout.encode(), found.stderr.encode(), found.code
    said = ended(argv)
    return None if said is None else (said, b"", 0)


def _status(code: int) -> Object:
    if code == 0:
        return {"metadata": {}, "status": "Success"}
    return {
        "metadata": {},
        "status": "Failure",
        "message": f"command terminated with non-zero exit code: exit status {code}",
        "reason": "NonZeroExitCode",
        "details": {"causes": [{"reason": "ExitCode", "message": str(code)}]},
    }


async def _send(send: Send, data: bytes) -> None:
    await send({"type": "websocket.send", "bytes": data})
