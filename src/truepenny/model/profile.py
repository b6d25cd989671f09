"""What a model can do, as data. Wires read it; no wire looks at a model's name.

The shipped data lives in `profiles/*.toml`, a person's settings override it, and
`truepenny.model.capability` overrides what neither of them pinned by what a server refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

MaxTokensField = Literal["max_tokens", "max_completion_tokens"]
SystemRole = Literal["system", "developer"]
ThinkingForm = Literal["none", "budget", "adaptive", "effort"]

STANDARD_EFFORTS = ("low", "medium", "high")
"""The three words that every model with a reasoning effort takes."""


@dataclass(frozen=True, slots=True)
class Profile:
    """One model behind one provider.

    `model` is the id on the wire. Sizes are in tokens; None is unknown and leaves the choice to
    the provider (a wire that must name an output limit uses its own default).
    """

    model: str
    context_window: int | None = None
    max_output_tokens: int | None = None

    max_tokens_field: MaxTokensField = "max_tokens"
    """Chat completions only: the name of the output limit."""

    thinking: ThinkingForm = "none"
    """How reasoning is asked for: not at all, as a token `budget` or `adaptive` (Anthropic), or as
    an `effort` word (OpenAI). With `none` an effort in a request is left out."""

    efforts: tuple[str, ...] = STANDARD_EFFORTS
    """Effort words the model takes, weakest first, as the wire spells them (`none` is off);
    a request's effort is folded to the nearest. Empty: never send one."""

    thinking_off: bool = True
    """Whether an adaptive model lets thinking be switched off by name."""

    temperature: bool = True
    stream_usage: bool = True
    """Chat completions only: whether `stream_options.include_usage` is understood."""

    system_role: SystemRole = "system"
    """Chat completions only: the role that carries the system prompt."""

    images: bool = True
    """Whether pictures may be sent; otherwise each becomes a note in the text."""

    result_images: bool = True
    """Whether pictures inside tool results may be sent (chat completions has no place for them)."""

    tools: bool = True
    """Whether the model takes tool schemas; otherwise they are left out."""

    parallel_tool_calls: bool = True
    cache_markers: bool = False
    """Anthropic Messages only: mark the stable prefixes for the provider's prompt cache."""

    reasoning_history: bool = True
    """Whether reasoning is sent back with the messages it came in."""

    text_tool_calls: bool = False
    """Small models: a tool call written as JSON text is understood as one."""

    reports_cost: bool = False
    """The provider tells what a request was charged (`usage.cost`, US dollars)."""

    extra_body: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """More top-level fields of the request, sent as they are and last."""

    pinned: frozenset[str] = frozenset()
    """Names of fields that a person set: what a server's refusal teaches never overrides them."""
