"""The OpenAI Responses API (`POST /responses` below a `/v1` base)."""

from __future__ import annotations

from typing import Any, ClassVar

from truepenny.model.profile import Profile
from truepenny.model.request import ModelRequest, ToolSchema

from .http import HttpModel, taken_ids
from .openai_responses_body import encode_body, encode_tool
from .openai_responses_stream import OpenAIResponsesDecoder


class OpenAIResponsesModel(HttpModel):
    """A model behind the Responses API; `base_url` ends before `/responses`."""

    wire: ClassVar[str] = "openai_responses"
    learnable: ClassVar[frozenset[str]] = frozenset({"temperature", "efforts", "thinking"})

    def encode(self, request: ModelRequest, profile: Profile) -> bytes:
        return encode_body(request, profile, self.origin, self._tools)

    def decoder(self, request: ModelRequest, profile: Profile) -> OpenAIResponsesDecoder:
        return OpenAIResponsesDecoder(
            profile, self.origin, self._ids, lambda: taken_ids(request.messages)
        )

    def _tool(self, tool: ToolSchema) -> dict[str, Any]:
        return encode_tool(tool)

    def _url(self) -> str:
        return self.endpoint.url("/responses")

    def _auth(self, key: str) -> dict[str, str]:
        return {"authorization": f"Bearer {key}"} if key else {}
