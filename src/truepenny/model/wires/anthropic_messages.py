"""The Anthropic Messages API (`POST /v1/messages`), version 2023-06-01."""

from __future__ import annotations

from typing import Any, ClassVar

from truepenny.model.profile import Profile
from truepenny.model.request import ModelRequest, ToolSchema

from .anthropic_body import encode_body, encode_tool
from .anthropic_stream import AnthropicMessagesDecoder
from .http import HttpModel, taken_ids

API_VERSION = "2023-06-01"


class AnthropicMessagesModel(HttpModel):
    """A model behind the Messages API; `base_url` ends before `/v1/messages` or after `/v1`."""

    wire: ClassVar[str] = "anthropic_messages"
    learnable: ClassVar[frozenset[str]] = frozenset(
        {"thinking", "thinking_off", "efforts", "temperature", "cache_markers"}
    )

    def encode(self, request: ModelRequest, profile: Profile) -> bytes:
        return encode_body(request, profile, self.origin, self._tools)

    def decoder(self, request: ModelRequest, profile: Profile) -> AnthropicMessagesDecoder:
        return AnthropicMessagesDecoder(
            profile, self.origin, self._ids, lambda: taken_ids(request.messages)
        )

    def _tool(self, tool: ToolSchema) -> dict[str, Any]:
        return encode_tool(tool)

    def _url(self) -> str:
        versioned = self.endpoint.base_url.rstrip("/").endswith("/v1")
        return self.endpoint.url("/messages" if versioned else "/v1/messages")

    def _auth(self, key: str) -> dict[str, str]:
        headers = {"anthropic-version": API_VERSION}
        if key:
            headers["x-api-key"] = key
        return headers
