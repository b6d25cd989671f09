"""What a person can do about a failed model request, by its kind."""

from __future__ import annotations

from truepenny.model.failure import Failure, FailureKind

_REMEDIES = {
    FailureKind.AUTH: (
        "Check providers.{provider}.api_key; `truepenny config show providers` says its source."
    ),
    FailureKind.BILLING: "Check the account of {provider}: it does not pay for this request.",
    FailureKind.MODEL_NOT_FOUND: "Check the id: {provider} serves no {model} to this key.",
    FailureKind.CONTEXT_OVERFLOW: "Start a new session, or ask for less at once.",
    FailureKind.RATE_LIMIT: "Wait, then go on with --session, or use another --model.",
    FailureKind.OVERLOADED: "Wait, then go on with --session, or use another --model.",
    FailureKind.SERVER_ERROR: "Try again, then use another --model; the fault is at {provider}.",
    FailureKind.NETWORK: (
        "Check providers.{provider}.base_url and the network; "
        "`truepenny models {provider}/{model} --probe` tries again."
    ),
    FailureKind.TIMEOUT: (
        "Try again; `truepenny config show model` lists the timeouts that say how long to wait."
    ),
}


def remedy(failure: Failure) -> str:
    """Return the next step in one sentence; empty where there is none to name."""
    words = _REMEDIES.get(failure.kind, "")
    return words.format(provider=failure.provider or "the provider", model=failure.model)
