"""A long stream read by an official SDK; argv: URL, deltas, protocol. Prints one JSON line."""

from __future__ import annotations

import json
import resource
import sys

import anthropic
import openai


def chat(url: str, deltas: int) -> int:
    client = openai.OpenAI(base_url=f"{url}/v1", api_key="none")
    stream = client.chat.completions.create(
        model=f"stream-{deltas}", messages=[{"role": "user", "content": "go"}], stream=True
    )
    return sum(len(chunk.choices[0].delta.content or "") for chunk in stream if chunk.choices)


def messages(url: str, deltas: int) -> int:
    client = anthropic.Anthropic(base_url=url, api_key="none")
    with client.messages.stream(
        model=f"stream-{deltas}", max_tokens=9, messages=[{"role": "user", "content": "go"}]
    ) as stream:
        return sum(len(text) for text in stream.text_stream)


def responses(url: str, deltas: int) -> int:
    client = openai.OpenAI(base_url=f"{url}/v1", api_key="none")
    stream = client.responses.create(model=f"stream-{deltas}", input="go", stream=True)
    return sum(len(event.delta) for event in stream if event.type == "response.output_text.delta")


def main() -> None:
    url, deltas = sys.argv[1], int(sys.argv[2])
    read = {"chat": chat, "messages": messages, "responses": responses}[sys.argv[3]]
    read(url, 10)
    before = resource.getrusage(resource.RUSAGE_SELF)
    length = read(url, deltas)
    after = resource.getrusage(resource.RUSAGE_SELF)
    if length != deltas * len("some words "):
        sys.exit(f"read {length} characters")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(json.dumps({"cpu": cpu}))


main()
