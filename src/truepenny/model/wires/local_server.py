"""The process that runs a local model: llama.cpp's own server, on loopback, for one parent.

Run as `python -m truepenny.model.wires.local_server`. It reads one JSON line (`Start`), answers
with one JSON line (`Ready`, or `{"error": ...}`), then serves until its input ends: a parent that
closes it or dies takes it along. A process of its own, because native code that crashes (a wheel
built for another processor, memory that runs out) must not take the run with it.
"""

from __future__ import annotations

import json
import os
import sys
import urllib.request
from dataclasses import asdict, dataclass
from typing import Any, cast

PROPS_SECONDS = 30.0
"""The server is up already when its properties are asked for."""


@dataclass(frozen=True, slots=True)
class Start:
    """What to run, and the name it answers by. `context` in tokens.

    `threads` 0 leaves the number to llama.cpp.
    `key` keeps other users of the machine away from the port; it never is an argument, which they
    could read.
    """

    path: str
    name: str
    key: str
    context: int
    threads: int = 0


@dataclass(frozen=True, slots=True)
class Ready:
    """What runs. `tools` says whether the model's chat template can carry tools at all."""

    address: str
    context: int
    tools: bool


def serve(start: Start) -> tuple[Any, Ready]:
    """Start the server and return it with what it is; it stops when the object is deleted."""
    import xllamacpp  # pyright: ignore[reportMissingImports]

    native = cast(Any, xllamacpp)
    params = native.CommonParams()
    params.model.path = start.path
    params.model_alias = {start.name}
    params.n_ctx = start.context
    params.n_parallel = 1
    params.port = 0
    params.api_keys = [start.key]
    params.ui = False
    params.offline = True
    if start.threads:
        params.cpuparams.n_threads = start.threads
    server = native.Server(params)
    address = str(server.listening_address)
    props = _props(address, start.key)
    caps = props.get("chat_template_caps", {})
    settings = props.get("default_generation_settings", {})
    ready = Ready(
        address, int(settings.get("n_ctx", start.context)), bool(caps.get("supports_tools"))
    )
    return server, ready


def _props(address: str, key: str) -> dict[str, Any]:
    request = urllib.request.Request(f"{address}/props", headers={"Authorization": f"Bearer {key}"})
    with urllib.request.urlopen(request, timeout=PROPS_SECONDS) as reply:
        return json.load(reply)


def main() -> None:
    """Serve one parent."""
    # llama.cpp writes where it likes; the parent reads nothing but our one line.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    start = Start(**json.loads(sys.stdin.buffer.readline()))
    try:
        server, ready = serve(start)
    except Exception as error:
        print(json.dumps({"error": f"{type(error).__name__}: {error}"}), file=answers, flush=True)
        os._exit(1)
    print(json.dumps(asdict(ready)), file=answers, flush=True)
    # What it logs from here on has no reader, and a log that only grows is a leak.
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    sys.stdin.buffer.read()
    # Not by unwinding: the server's destructor waits for an answer that is being written.
    assert server is not None
    os._exit(0)


if __name__ == "__main__":
    main()
