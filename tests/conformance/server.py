"""A shell server for tests: MCP over standard input and output, spoken by hand so that it starts
at once. It dies when a line says `die now`, and answers with an error when it says `complain`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

TOOLS = [
    {"name": "look", "inputSchema": {"type": "object", "properties": {"path": {"type": "string"}}}},
    {
        "name": "run_shell",
        "inputSchema": {
            "type": "object",
            "properties": {
                "command": {"type": "string"},
                "workdir": {"type": "string"},
                "timeout_ms": {"type": "integer"},
            },
        },
    },
]


def run(command: str, workdir: str, timeout_ms: int) -> dict[str, Any]:
    if "die now" in command:
        os._exit(1)
    if "complain" in command:
        text = "a complaint of the tool"
        return {"content": [{"type": "text", "text": text}], "isError": True}
    try:
        done = subprocess.run(
            ["sh", "-c", command], cwd=workdir, stdin=subprocess.DEVNULL, capture_output=True,
            encoding="utf-8", errors="backslashreplace", timeout=timeout_ms / 1000,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        fields: dict[str, Any] = {"timed_out": True, "stdout": "", "stderr": ""}
    else:
        fields = {
            "exit_code": done.returncode,
            "timed_out": False,
            "stdout": done.stdout,
            "stderr": done.stderr,
        }
    content = [{"type": "text", "text": json.dumps(fields)}]
    return {"content": content, "structuredContent": fields}


def answer(method: str, params: dict[str, Any]) -> dict[str, Any] | None:
    if method == "initialize":
        return {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "test-shell", "version": "1.2"},
        }
    if method == "tools/list":
        return {"tools": TOOLS}
    if method == "tools/call":
        return run(**params["arguments"])
    return None


def main() -> None:
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message:
            continue
        result = answer(message["method"], message.get("params", {}))
        reply: dict[str, Any] = {"jsonrpc": "2.0", "id": message["id"]}
        if result is None:
            reply["error"] = {"code": -32601, "message": "no such method"}
        else:
            reply["result"] = result
        print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    main()
