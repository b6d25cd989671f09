"""Asking the credential proxy from inside the sandbox. This file runs by itself.

    python3 -I -S client.py credential NAME          the value, with a line break
    python3 -I -S client.py tool NAME [ARGUMENT ...] the tool's output and exit code

Without a socket it takes the value from the environment, or becomes the program itself, but never
where the sandbox marker is set: inside, a missing socket is a fault and no reason to do without.
"""

from __future__ import annotations

import json
import os
import socket
import sys

SOCKET = "TRUEPENNY_CREDENTIAL_SOCKET"
BARRED = "TRUEPENNY_CREDENTIAL_BARRED"
"""Says why there is no socket, where it is known."""
MARKER = "TRUEPENNY_SANDBOXED"
SECONDS = 310.0
"""Ten more than the longest program of the proxy."""
ANSWER_BYTES = 1024 * 1024
REFUSED = 4
"""Exit code of a request that was refused: that of our commands for it."""


def main(words: list[str], env: dict[str, str]) -> int:
    """Ask, or do it directly. Returns the exit code."""
    if len(words) < 2 or words[0] not in ("credential", "tool"):
        return fail("say `credential NAME` or `tool NAME [ARGUMENT ...]`", 2)
    kind, name, arguments = words[0], words[1], words[2:]
    path = env.get(SOCKET, "")
    if not path:
        return directly(kind, name, arguments, env)
    if kind == "credential":
        request = {"type": "credential", "name": name}
    else:
        request = {"tool": name, "args": arguments}
    try:
        answer = json.loads(ask(path, json.dumps(request).encode("ascii") + b"\n"))
    except (OSError, ValueError) as error:
        return fail(f"the credential proxy does not answer: {error}", 5)
    if "value" in answer:
        return say(answer["value"] + "\n", 1)
    say(answer.get("stdout", ""), 1)
    say(answer.get("stderr", ""), 2)
    for stream, count in answer.get("omitted", {}).items():
        fail(f"{count} more characters of {stream} were left out", 0)
    if "error" in answer:
        tools = answer.get("authorized_tools")
        more = f"; tools: {', '.join(tools) or 'none'}" if tools is not None else ""
        message = f"{name}: {answer['error']} ({answer.get('reason')}{more})"
        return fail(message, answer.get("returncode", REFUSED))
    return answer["returncode"] % 256


def directly(kind: str, name: str, arguments: list[str], env: dict[str, str]) -> int:
    """Do without the proxy, outside."""
    if env.get(MARKER):
        why = env.get(BARRED) or f"inside the sandbox, and {SOCKET} is not set"
        return fail(f"{name}: {why}", REFUSED)
    if kind == "credential":
        if not env.get(name):
            return fail(f"{name}: the credential is not set (credential_not_present)", REFUSED)
        return say(env[name] + "\n", 1)
    try:
        os.execvpe(name, [name, *arguments], env)
    except OSError as error:
        return fail(f"{name}: {error.strerror}", 127)


def ask(path: str, request: bytes) -> bytes:
    """Return the line that answers a request. Raises OSError, ValueError for one too long."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(SECONDS)
        connection.connect(path)
        connection.sendall(request)
        answer = b""
        while b"\n" not in answer:
            piece = connection.recv(65536)
            if not piece:
                raise ValueError("it closed the connection")
            answer += piece
            if len(answer) > ANSWER_BYTES:
                raise ValueError(f"more than {ANSWER_BYTES} bytes")
    return answer


def say(text: str, descriptor: int) -> int:
    """Write all of a text. Returns 0."""
    with open(descriptor, "wb", closefd=False) as stream:
        stream.write(text.encode("utf-8", "backslashreplace"))
    return 0


def fail(message: str, code: int) -> int:
    """Say what is wrong on standard error. Returns the code."""
    say(f"truepenny: {message}\n", 2)
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], dict(os.environ)))
