"""Stands in for the native package: the same few names, over a plain HTTP server.

What it does is chosen by the model file's content: `crash`, `refuse`, `hang`, `tools` (a template
that carries tools), anything else (one that carries none). Every request is appended, as JSON, to
the file beside the model that ends in `.log`; an answer echoes what the test wrote to `.answer`.
"""

from __future__ import annotations

import json
import os
import signal
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any


class CommonParams(SimpleNamespace):
    def __init__(self) -> None:
        super().__init__(
            model=SimpleNamespace(path=""),
            cpuparams=SimpleNamespace(n_threads=0),
            n_ctx=0,
            port=8080,
            api_keys=[],
            ui=True,
            offline=False,
            n_parallel=4,
            model_alias=set(),
        )


class Server:
    def __init__(self, params: CommonParams) -> None:
        path = Path(params.model.path)
        content = path.read_text(encoding="utf-8")
        if content == "crash":
            os.write(2, b"illegal instruction ahead\n")
            os.kill(os.getpid(), signal.SIGILL)
        if content == "refuse":
            os.write(2, b"failed to load model\n")
            raise RuntimeError("Failed to init server")
        if content == "hang":
            threading.Event().wait()
        path.with_suffix(".pid").write_text(str(os.getpid()), encoding="utf-8")
        handler = type("Handler", (_Handler,), {"params": params, "path_of_model": path})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self.listening_address = f"http://127.0.0.1:{self._server.server_port}"


class _Handler(BaseHTTPRequestHandler):
    params: CommonParams
    path_of_model: Path

    def do_GET(self) -> None:
        if self._allowed():
            tools = self.path_of_model.read_text(encoding="utf-8") == "tools"
            self._json(
                {
                    "chat_template_caps": {"supports_tools": tools},
                    "default_generation_settings": {"n_ctx": self.params.n_ctx},
                }
            )

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        if not self._allowed():
            return
        with self.path_of_model.with_suffix(".log").open("ab") as log:
            log.write(body + b"\n")
        text = self.path_of_model.with_suffix(".answer").read_text(encoding="utf-8")
        frames = [
            {"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": None}]},
            {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
        ]
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        for frame in frames:
            self.wfile.write(b"data: " + json.dumps({"id": "x", **frame}).encode() + b"\n\n")
        self.wfile.write(b"data: [DONE]\n\n")

    def _allowed(self) -> bool:
        if self.headers["authorization"] == f"Bearer {self.params.api_keys[0]}":
            return True
        self.send_error(401)
        return False

    def _json(self, document: Any) -> None:
        body = json.dumps(document).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None: ...
