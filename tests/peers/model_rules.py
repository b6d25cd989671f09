"""What a strict provider refuses: broken pairs of calls and results, missing fields, and the
parameters that a given model does not take. Returns the refusal, or None for a good request."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from itertools import pairwise
from typing import Any

from .model_script import Refuse

PARAMETERS: Mapping[str, tuple[str, str]] = {
    "max_tokens": (
        "max_tokens",
        "Unsupported parameter: 'max_tokens' is not supported with this model. "
        "Use 'max_completion_tokens' instead.",
    ),
    "max_completion_tokens": (
        "max_completion_tokens",
        "Unrecognized request argument supplied: max_completion_tokens",
    ),
    "temperature": (
        "temperature",
        "Unsupported value: 'temperature' does not support 0.5 with this model. "
        "Only the default (1) value is supported.",
    ),
    "stream_options": ("stream_options", "Unknown parameter: 'stream_options'."),
    "reasoning_effort": (
        "reasoning_effort",
        "Unsupported parameter: 'reasoning_effort' is not supported with this model.",
    ),
}
"""Top-level parameters and how providers word that a model does not take them."""

THINKING = {
    "thinking.enabled": '"thinking.type.enabled" is not supported for this model. '
    'Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.',
    "thinking.adaptive": "adaptive thinking is not supported on this model",
    "thinking.disabled": '"thinking.type.disabled" is not supported for this model.',
}


def check(protocol: str, body: Mapping[str, Any], refused: Collection[str]) -> Refuse | None:
    """Apply the refused parameters, then the protocol's own rules."""
    for name in refused:
        if name in PARAMETERS and name in body:
            param, message = PARAMETERS[name]
            return Refuse(400, message, param=param, code="unsupported_parameter")
        if name == "thinking." + str((body.get("thinking") or {}).get("type")):
            return Refuse(400, THINKING[name])
        if name == "effort" and "output_config" in body:
            return Refuse(400, "This model does not support the effort parameter.")
        roles = [message.get("role") for message in body.get("messages", [])]
        if name in ("developer", "system") and name in roles:
            message = f"Unsupported value: 'messages[0].role' does not support '{name}'"
            return Refuse(400, message, param="messages[0].role", code="unsupported_value")
    message = _RULES[protocol](body)
    return Refuse(400, message) if message else None


def _messages(body: Mapping[str, Any]) -> str:
    for name in ("model", "max_tokens", "messages"):
        if not body.get(name):
            return f"{name}: Field required"
    thinking = body.get("thinking") or {}
    if thinking.get("type") == "enabled":
        if not 1024 <= thinking.get("budget_tokens", 0) < body["max_tokens"]:
            return "`max_tokens` must be greater than `thinking.budget_tokens`"
        if body.get("temperature", 1) != 1:
            return "`temperature` may only be set to 1 when thinking is enabled."
        answers = [turn for turn in body["messages"] if turn["role"] == "assistant"]
        if answers and answers[-1]["content"][0]["type"] not in ("thinking", "redacted_thinking"):
            return "Expected `thinking` or `redacted_thinking`, but found another block."
    marks = json.dumps(body).count('"cache_control"')
    if marks > 4:
        return f"A maximum of 4 blocks with cache_control may be provided. Found {marks}."
    turns = body["messages"]
    if turns[0]["role"] != "user":
        return "messages: first message must use the user role"
    open_calls: list[str] = []
    used: set[str] = set()
    for number, turn in enumerate(turns):
        blocks = turn["content"]
        where = f"messages.{number}"
        results = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        if sorted(results) != sorted(open_calls):
            return (
                f"{where}: `tool_use` ids were found without `tool_result` blocks immediately "
                f"after, or the reverse: {open_calls} {results}"
            )
        for block in blocks:
            if block.get("is_error") and any(part["type"] != "text" for part in block["content"]):
                return f"{where}: all content must be type `text` if `is_error` is true"
        calls = [block for block in blocks if block["type"] == "tool_use"]
        open_calls = [block["id"] for block in calls]
        for call in calls:
            if call["id"] in used:
                return f"{where}: `tool_use` ids must be unique"
            used.add(call["id"])
            if not re.fullmatch(r"[A-Za-z0-9_-]+", call["id"]):
                return f"{where}: tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"
            if not re.fullmatch(r"[A-Za-z0-9_-]{1,64}", call["name"]):
                return f"{where}: tool_use.name: String should match pattern"
            if not isinstance(call["input"], dict):
                return f"{where}: tool_use.input: Input should be a valid dictionary"
        if turn["role"] == "assistant" and blocks[-1]["type"] == "thinking":
            return f"{where}: The final block in an assistant message cannot be `thinking`."
        for block in blocks:
            if block["type"] == "text" and not block["text"].strip():
                return f"{where}: text content blocks must contain non-whitespace text"
            if block["type"] == "thinking" and not block["signature"].startswith("sig-"):
                return f"{where}: Invalid `signature` in `thinking` block"
    return "tool_use without tool_result" if open_calls else ""


def _chat(body: Mapping[str, Any]) -> str:
    for name in ("model", "messages"):
        if not body.get(name):
            return f"Missing required parameter: '{name}'."
    open_calls: list[str] = []
    for number, turn in enumerate(body["messages"]):
        where = f"messages[{number}]"
        if turn["role"] == "tool":
            if turn.get("tool_call_id") not in open_calls:
                return (
                    f"{where}: messages with role 'tool' must be a response to a preceding "
                    "message with 'tool_calls'."
                )
            open_calls.remove(turn["tool_call_id"])
            if not isinstance(turn["content"], str):
                return f"{where}.content: expected a string"
            continue
        if open_calls:
            return (
                f"{where}: An assistant message with 'tool_calls' must be followed by tool "
                f"messages responding to each 'tool_call_id': {open_calls}"
            )
        if turn["role"] == "assistant":
            calls = turn.get("tool_calls") or []
            if not calls and not turn.get("content"):
                return f"{where}.content: expected a string, got null."
            open_calls = [call["id"] for call in calls]
            if len(set(open_calls)) != len(open_calls):
                return f"{where}: duplicate tool call ids"
            for call in calls:
                if not isinstance(json.loads(call["function"]["arguments"]), dict):
                    return f"{where}: arguments must be an object"
    return f"tool calls without results: {open_calls}" if open_calls else ""


def _responses(body: Mapping[str, Any]) -> str:
    for name in ("model", "input"):
        if not body.get(name):
            return f"Missing required parameter: '{name}'."
    calls: dict[str, int] = {}
    for item in body["input"]:
        kind = item.get("type", "message")
        if kind == "function_call":
            if item["call_id"] in calls:
                return f"Duplicate function call with call_id {item['call_id']}."
            calls[item["call_id"]] = 0
            json.loads(item["arguments"])
        elif kind == "function_call_output":
            if calls.get(item["call_id"]) != 0:
                return f"No tool call found for function call output {item['call_id']}."
            calls[item["call_id"]] = 1
        elif kind == "reasoning":
            if not str(item.get("encrypted_content", "")).startswith("enc-"):
                return f"Item with id '{item.get('id')}' not found. Items are not persisted."
            if "status" in item:
                return "Unknown parameter: 'input[0].status'."
    kinds = [item.get("type", "message") for item in body["input"]]
    for kind, after in pairwise([*kinds, "end"]):
        if kind == "reasoning" and after not in ("reasoning", "message", "function_call"):
            return "Item of type 'reasoning' was provided without its required following item."
    missing = [call_id for call_id, answered in calls.items() if not answered]
    return f"No tool output found for function call {missing[0]}." if missing else ""


_RULES = {"anthropic_messages": _messages, "openai_chat": _chat, "openai_responses": _responses}
