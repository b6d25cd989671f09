"""What kubectl's own diagnostics mean, as data, in the order in which they are tried.

A `transport` reason proves nothing about the cluster's objects: it did not answer. `forbidden` and
`not_found` are answers. The words are those of kubectl 1.32 to 1.37; a test runs them for real.
"""

from __future__ import annotations

import re
from typing import Any

from truepenny.execute.ending import Leg, Outcome
from truepenny.execute.outcome import Marker


def _marker(
    pattern: str,
    outcome: Outcome,
    reason: str,
    *,
    leg: Leg | None = None,
    only_without_output: bool = False,
) -> Marker:
    # Standard error is kubectl's alone: what containers wrote comes on standard output.
    return Marker(re.compile(pattern, re.IGNORECASE), outcome, reason, leg, only_without_output)


def _channel(pattern: str, reason: str = "transport") -> Marker:
    return _marker(pattern, Outcome.CHANNEL_FAILED, reason, leg=Leg.TRANSPORT)


def _usage(pattern: str, reason: str = "usage") -> Marker:
    return _marker(pattern, Outcome.INVALID_ARGUMENTS, reason)


def _status(reasons: str) -> str:
    """Match the API server's own refusal of one of the given reasons."""
    return rf"(?:error: )?Error from server \((?:{reasons})\):"


_NAMED = r" .*\".*\" not found"
"""An object was looked up by name and is not there; other 404s are about the API itself."""

MARKERS = (
    # Before anything is asked.
    _usage(r"error: unknown (?:shorthand )?flag", "unknown_flag"),
    _usage(r"error: invalid argument"),
    _usage(r"error: flag needs an argument"),
    _usage(r"error: (?:Required resource not specified|You must specify the type of resource)"),
    _usage(r"error: there is no need to specify a resource type"),
    _usage(r"error: unable to match a printer", "output_format"),
    _usage(r"error: Invalid timeout value"),
    _usage(r"error: unable to parse"),
    _usage(r"error: expected '"),
    _channel(r"error: error loading config file", "kubeconfig"),
    _channel(r"Error in configuration:", "kubeconfig"),
    _channel(r"error: (?:context .* does not exist|no context exists)", "kubeconfig"),
    _marker(
        r".*getting credentials: exec: executable .* not found",
        Outcome.MISSING_DEPENDENCY,
        "credential_plugin",
    ),
    _channel(r".*getting credentials: ", "credential_plugin"),
    # The server did not answer, or not as a Kubernetes API.
    _channel(r"error: You must be logged in to the server", "unauthorized"),
    _channel(_status("Unauthorized"), "unauthorized"),
    _channel(r"Unable to connect to the server:"),
    _channel(r"The connection to the server .* was refused"),
    _channel(_status("TooManyRequests"), "throttled"),
    _channel(
        _status("Timeout|InternalError|ServiceUnavailable|ServerTimeout|GatewayTimeout"),
        "server_error",
    ),
    _channel(r"Error from server: etcdserver: request timed out", "server_error"),
    _channel(r".*the server is currently unable to handle the request", "server_error"),
    _channel(r".*an error on the server \(", "server_error"),
    _channel(r"error: unable to upgrade connection"),
    _channel(r"Error from server: error dialing backend"),
    _channel(r"Error from server: Get .*(?:dial tcp|EOF|timeout|refused)"),
    _channel(
        r".*(?:unexpected EOF|stream error|connection reset by peer|client connection lost)",
        "stream_cut",
    ),
    # The limit of one request: an answer was too slow, or was "later" each time it was asked for.
    _channel(r".*(?:context deadline|Client\.Timeout)", "timeout"),
    _channel(r"(?:error: )?invalid character .* looking for beginning of value", "bad_answer"),
    # The server's answers.
    _marker(_status("Forbidden"), Outcome.TARGET_FAILED, "forbidden"),
    _marker(_status("NotFound") + _NAMED, Outcome.NO_MATCH, "not_found", only_without_output=True),
    _marker(
        _status("NotFound") + _NAMED,
        Outcome.TARGET_FAILED,
        "not_found",
    ),
    _channel(
        _status("NotFound") + " the server could not find the requested resource",
        "no_such_api",
    ),
    _marker(
        _status("BadRequest") + " previous terminated container .* not found",
        Outcome.NO_MATCH,
        "no_previous",
    ),
    _marker(
        _status("BadRequest") + " container .* is waiting to start",
        Outcome.TARGET_FAILED,
        "container_waiting",
    ),
    _marker(
        r"error: (?:container .* is not valid|a container name must be specified)",
        Outcome.INVALID_ARGUMENTS,
        "container",
    ),
    _marker(
        _status("BadRequest") + " a container name must be specified",
        Outcome.INVALID_ARGUMENTS,
        "container",
    ),
    _marker(
        _status("BadRequest") + " .*field label not supported",
        Outcome.INVALID_ARGUMENTS,
        "field_selector",
    ),
    _marker(r"error: field .* does not exist", Outcome.INVALID_ARGUMENTS, "unknown_field"),
    _marker(
        r"error: the server doesn't have a resource type",
        Outcome.INVALID_ARGUMENTS,
        "unknown_resource",
    ),
    _marker(r"error: Metrics (?:API )?not available", Outcome.TARGET_FAILED, "metrics_unavailable"),
    _marker(r"error: metrics not available yet", Outcome.TARGET_FAILED, "metrics_unavailable"),
)

NOTHING_FOUND = re.compile(r"^No (?:resources|events) found", re.MULTILINE)
"""What kubectl writes beside an empty answer, with exit code 0."""

NO_EVENTS = re.compile(r"^Events: +<none>$", re.MULTILINE)
"""What `describe` writes when there are no events, and also when it could not read them."""

_REFUSALS = {
    "forbidden": ("rbac", "the server answered: this identity may not; it says nothing of objects"),
    "no_such_api": ("absence", "the server has no such API"),
    "not_found": ("absence", "the server answered: there is no such object in this place"),
    "unknown_resource": ("absence", "the server knows no such type"),
}
"""Answers of an API server that is reached: by the reason, the kind and a sentence."""

_TRANSPORT = "the server did not answer as an API: this says nothing about its objects"


def marked(diagnostics: str) -> Marker | None:
    """Return the first marker that fits a line of what kubectl wrote to standard error."""
    lines = diagnostics.splitlines()
    return next(
        (marker for marker in MARKERS if any(marker.pattern.match(line) for line in lines)), None
    )


def refusal_facts(reason: str, leg: Leg | None) -> tuple[tuple[str, ...], dict[str, Any]]:
    """Return notes and detail of what an API server refused: `refusal` is `rbac`, `absence` or
    `transport`. Nothing where it refused nothing."""
    kind, sentence = _REFUSALS.get(reason, ("", ""))
    if leg is Leg.TRANSPORT and not kind:
        kind, sentence = "transport", _TRANSPORT
    return ((f"{kind}: {sentence}",), {"refusal": kind}) if kind else ((), {})
