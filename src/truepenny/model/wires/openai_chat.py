"""The OpenAI Chat Completions API (`POST /chat/completions` below a `/v1` base)."""

from __future__ import annotations

from typing import Any, ClassVar

from truepenny.model.profile import Profile
from truepenny.model.request import ModelRequest, ToolSchema

from .http import HttpModel, taken_ids
from .openai_chat_body import encode_body, encode_tool
from .openai_chat_stream import OpenAIChatDecoder


class OpenAIChatModel(HttpModel):
    """A model behind Chat Completions; `base_url` ends before `/chat/completions`."""

    wire: ClassVar[str] = "openai_chat"
    learnable: ClassVar[frozenset[str]] = frozenset(
        {"max_tokens_field", "stream_usage", "temperature", "efforts", "thinking", "system_role"}
    )

    def encode(self, request: ModelRequest, profile: Profile) -> bytes:
        return encode_body(request, profile, self.origin, self._tools)

    def decoder(self, request: ModelRequest, profile: Profile) -> OpenAIChatDecoder:
        return OpenAIChatDecoder(
            profile, self.origin, self._ids, lambda: taken_ids(request.messages)
        )

    def _tool(self, tool: ToolSchema) -> dict[str, Any]:
        return encode_tool(tool)

    def _url(self) -> str:
        return self.endpoint.url("/chat/completions")

    def _auth(self, key: str) -> dict[str, str]:
        return {"authorization": f"Bearer {key}"} if key else {}
