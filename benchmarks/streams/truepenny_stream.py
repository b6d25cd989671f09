"""A long stream read by our wire; argv: URL, deltas, protocol. Prints one JSON line."""

from __future__ import annotations

import json
import resource
import sys
import tempfile
from pathlib import Path

import anyio

from truepenny.model.capability import CapabilityMemory
from truepenny.model.endpoint import Endpoint
from truepenny.model.event import MessageEnd, TextDelta
from truepenny.model.message import user
from truepenny.model.profile import Profile
from truepenny.model.request import Model, ModelRequest
from truepenny.model.wires.anthropic_messages import AnthropicMessagesModel
from truepenny.model.wires.openai_chat import OpenAIChatModel
from truepenny.model.wires.openai_responses import OpenAIResponsesModel


def model(url: str, deltas: int, protocol: str, folder: str) -> Model:
    memory = CapabilityMemory(Path(folder) / "capabilities.json")
    profile = Profile(f"stream-{deltas}")
    if protocol == "messages":
        return AnthropicMessagesModel(Endpoint("zero", url, "none"), profile, capabilities=memory)
    endpoint = Endpoint("zero", f"{url}/v1", "none")
    wire = OpenAIChatModel if protocol == "chat" else OpenAIResponsesModel
    return wire(endpoint, profile, capabilities=memory)


async def read(made: Model) -> int:
    length, ended = 0, False
    async for event in made.stream(ModelRequest("", [user("go")])):
        if isinstance(event, TextDelta):
            length += len(event.text)
        ended = ended or isinstance(event, MessageEnd)
    await made.close()
    return length if ended else -1


async def main() -> None:
    url, deltas, protocol = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    with tempfile.TemporaryDirectory() as folder:
        await read(model(url, 10, protocol, folder))
        before = resource.getrusage(resource.RUSAGE_SELF)
        length = await read(model(url, deltas, protocol, folder))
        after = resource.getrusage(resource.RUSAGE_SELF)
    if length != deltas * len("some words "):
        sys.exit(f"read {length} characters")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(json.dumps({"cpu": cpu}))


anyio.run(main)
