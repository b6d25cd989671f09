from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from truepenny.model.failure import FailureKind as Kind
from truepenny.model.refusal import MAX_MESSAGE, read_refusal

ANTHROPIC = [
    (400, "invalid_request_error", "messages: at least one message is required", Kind.FORMAT_ERROR),
    (400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum", "context"),
    (400, "invalid_request_error", "Your credit balance is too low to access the API", "billing"),
    (401, "authentication_error", "invalid x-api-key", Kind.AUTH),
    (403, "permission_error", "Your API key does not have permission", Kind.AUTH),
    (404, "not_found_error", "model: claude-nope", Kind.MODEL_NOT_FOUND),
    (413, "request_too_large", "Request exceeds the maximum size", "context"),
    (429, "rate_limit_error", "This request would exceed your rate limit", Kind.RATE_LIMIT),
    (500, "api_error", "Internal server error", Kind.SERVER_ERROR),
    (504, "timeout_error", "Request timed out", Kind.TIMEOUT),
    (529, "overloaded_error", "Overloaded", Kind.OVERLOADED),
    (200, "overloaded_error", "Overloaded", Kind.OVERLOADED),
    (200, "api_error", "Internal server error", Kind.SERVER_ERROR),
    (200, "something_new", "?", Kind.SERVER_ERROR),
]
_SHORT = {"context": Kind.CONTEXT_OVERFLOW, "billing": Kind.BILLING}


@pytest.mark.parametrize(("status", "type_", "message", "kind"), ANTHROPIC)
def test_reads_anthropic_errors(status: int, type_: str, message: str, kind: str) -> None:
    body = {"type": "error", "error": {"type": type_, "message": message}}
    refusal = read_refusal(status, json.dumps(body).encode())
    assert refusal.kind == _SHORT.get(kind, kind)
    assert (refusal.message, refusal.type) == (message, type_)


@pytest.mark.parametrize(
    ("status", "error", "kind"),
    [
        (400, {"code": "context_length_exceeded", "message": "too much"}, Kind.CONTEXT_OVERFLOW),
        (
            400,
            {"message": "This model's maximum context length is 8192 tokens."},
            Kind.CONTEXT_OVERFLOW,
        ),
        (400, {"code": "content_policy_violation", "message": "no"}, Kind.CONTENT_POLICY),
        (400, {"code": "invalid_value", "message": "bad schema"}, Kind.FORMAT_ERROR),
        (401, {"code": "invalid_api_key", "message": "Incorrect API key provided"}, Kind.AUTH),
        (401, {"message": "your rate limit, quota and billing"}, Kind.AUTH),
        (402, {"message": "Insufficient Balance"}, Kind.BILLING),
        (404, {"code": "model_not_found", "message": "no"}, Kind.MODEL_NOT_FOUND),
        (404, {"message": "The model `x` does not exist"}, Kind.MODEL_NOT_FOUND),
        (404, {"message": "Invalid URL (POST /v1/v1/chat)"}, Kind.UNKNOWN),
        (429, {"code": "insufficient_quota", "message": "You exceeded"}, Kind.BILLING),
        (429, {"code": "rate_limit_exceeded", "message": "slow"}, Kind.RATE_LIMIT),
        (503, {"message": "The engine is currently overloaded"}, Kind.OVERLOADED),
        (502, {"message": "bad gateway"}, Kind.SERVER_ERROR),
        (400, {"status": "INVALID_ARGUMENT", "message": "API key not valid."}, Kind.AUTH),
    ],
)
def test_reads_openai_and_google_errors(status: int, error: dict[str, str], kind: Kind) -> None:
    assert read_refusal(status, json.dumps({"error": error}).encode()).kind is kind
    # Google's compatible endpoint wraps the same object in a list.
    assert read_refusal(status, json.dumps([{"error": error}]).encode()).kind is kind


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b'{"error": "model busy"}', "model busy"),
        (b'{"detail": "Not Found"}', "Not Found"),
        (b'{"message": "no route"}', "no route"),
        (b'"plain"', "plain"),
        (b"", ""),
        (b"[]", ""),
        (b"upstream connect error", "upstream connect error"),
        (b"<html><head><title>502 Bad\n Gateway</title>", "an HTML page: 502 Bad Gateway"),
        (b"<p>", "an HTML page"),
        (b'{"error":{"message":"Provider","metadata":{"raw":"why"}}}', "Provider: why"),
    ],
)
def test_finds_the_words_in_any_shape(body: bytes, message: str) -> None:
    assert read_refusal(502, body).message == message


@given(st.integers(200, 599), st.binary(max_size=200))
def test_no_body_breaks_it(status: int, body: bytes) -> None:
    refusal = read_refusal(status, body)
    assert refusal.kind in Kind and len(refusal.message) <= MAX_MESSAGE + 40


def test_long_messages_are_cut_and_counted() -> None:
    refusal = read_refusal(500, b"x" * (MAX_MESSAGE + 7))
    assert refusal.message == "x" * MAX_MESSAGE + "… (7 more characters)"


@pytest.mark.parametrize("page", [b"<title" * 10_000, b"<h1>" * 16_000])
def test_a_hostile_page_is_read_in_time(page: bytes) -> None:
    begin = time.process_time()
    assert read_refusal(502, page, "text/html").message
    assert time.process_time() - begin < 1
