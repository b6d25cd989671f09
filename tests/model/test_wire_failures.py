"""How a request fails over real sockets: kinds, phases, waits, and what stays secret."""

from __future__ import annotations

import ipaddress
import socket
import ssl
from collections.abc import Iterator
from contextlib import aclosing, contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import anyio
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from tests.model.asking import QUICK, WIRES, collect, failure_of, message_of, model, request
from tests.peers.model_frames import frames
from tests.peers.model_script import Call, Refuse, Reply
from tests.peers.model_server import KEY, ModelServer
from truepenny.model.endpoint import Endpoint, Timeouts
from truepenny.model.event import TextDelta
from truepenny.model.failure import Failure, FailureKind
from truepenny.model.message import StopReason
from truepenny.model.profile import Profile
from truepenny.system.clock import ManualClock

pytestmark = pytest.mark.anyio

every_wire = pytest.mark.parametrize("wire", WIRES)


async def fail(wire: str, answer: Reply | Refuse, timeouts: Timeouts | None = None) -> Failure:
    with ModelServer([answer]) as server:
        asked = model(server, wire, timeouts=timeouts, clock=ManualClock())
        return failure_of(await collect(asked))


@contextmanager
def full_backlog() -> Iterator[str]:
    """An address whose handshakes never end."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        with socket.socket() as first, socket.socket() as second:
            for waiting in (first, second):
                waiting.setblocking(False)
                waiting.connect_ex(listener.getsockname())
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"


# The three timeouts


async def test_a_handshake_that_never_ends_is_a_connect_timeout() -> None:
    with full_backlog() as url:
        endpoint = Endpoint("peer", url, timeouts=Timeouts(connect=0.1, first_byte=5, idle=5))
        failure = failure_of(await collect(WIRES["openai_chat"](endpoint, Profile("m"))))
    assert (failure.kind, failure.phase) == (FailureKind.TIMEOUT, "connect")
    assert not failure.partial and failure.status is None


@every_wire
@pytest.mark.parametrize("stall", ["before", "head"])
async def test_silence_before_the_first_byte_is_a_first_byte_timeout(wire: str, stall: str) -> None:
    failure = await fail(wire, Reply(text="hi", stall=stall), replace(QUICK, idle=None))
    assert (failure.kind, failure.phase) == (FailureKind.TIMEOUT, "first_byte")
    assert not failure.partial


@every_wire
async def test_silence_in_the_middle_is_an_idle_timeout(wire: str) -> None:
    reply = Reply(text="something to show first, in many pieces", piece=2, stall=6)
    failure = await fail(wire, reply, Timeouts(connect=2, first_byte=None, idle=0.3))
    assert (failure.kind, failure.phase) == (FailureKind.TIMEOUT, "stream")
    assert failure.partial


async def test_a_slow_answer_is_no_fault_while_it_moves() -> None:
    # Longer in total than the limit for a silence.
    async def serve() -> None:
        listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
        url = f"http://127.0.0.1:{listener.extra(anyio.abc.SocketAttribute.local_port)}"

        async def answer(stream: anyio.abc.SocketStream) -> None:
            async with stream:
                await stream.receive()
                await stream.send(
                    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"
                    b"connection: close\r\n\r\n"
                )
                for _ in range(6):
                    with anyio.move_on_after(0.12):
                        await stream.receive()
                    await stream.send(b": still here\n\n")
                await stream.send(b'data: {"choices":[{"delta":{"content":"hi"}}]}\n\n')
                await stream.send(b"data: [DONE]\n\n")

        async with listener, anyio.create_task_group() as group:
            group.start_soon(listener.serve, answer)
            endpoint = Endpoint("peer", url, timeouts=Timeouts(2, 2, 0.5))
            events = await collect(WIRES["openai_chat"](endpoint, Profile("m")))
            assert message_of(events).text == "hi"
            group.cancel_scope.cancel()

    with anyio.fail_after(5):
        await serve()


@every_wire
async def test_a_whole_answer_counts_though_the_server_never_ends_it(wire: str) -> None:
    with ModelServer([Reply(text="hi", stall=99), Reply(text="next")]) as server:
        asked = model(server, wire)
        assert message_of(await collect(asked)).text == "hi"
        assert message_of(await collect(asked)).text == "next"


_STOPPED = {"openai_chat": 2, "anthropic_messages": 1}
"""Events that come after the stop reason."""


@pytest.mark.parametrize("wire", _STOPPED)
async def test_silence_after_the_stop_reason_loses_nothing(wire: str) -> None:
    reply = Reply(text="hi", piece=99)
    count = len(frames(wire, reply, {"stream_options": {"include_usage": True}}, 1))
    stalled = replace(reply, stall=count - _STOPPED[wire])
    with ModelServer([stalled]) as server:
        asked = model(server, wire, timeouts=Timeouts(5, 5, 0.5))
        message = message_of(await collect(asked))
    assert (message.text, message.stop) == ("hi", StopReason.END_TURN)


# Broken connections


async def test_nobody_listening_is_a_network_failure() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}"
        failure = failure_of(await collect(WIRES["openai_chat"](Endpoint("p", url), Profile("m"))))
    assert (failure.kind, failure.phase) == (FailureKind.NETWORK, "connect")
    assert (failure.provider, failure.model) == ("p", "m")
    assert url.removeprefix("http://") in failure.message


async def test_an_unknown_host_is_a_network_failure() -> None:
    endpoint = Endpoint("p", "http://nowhere.invalid/v1", timeouts=Timeouts(5, 5, 5))
    failure = failure_of(await collect(WIRES["openai_chat"](endpoint, Profile("m"))))
    assert (failure.kind, failure.phase) == (FailureKind.NETWORK, "connect")
    assert "nowhere.invalid" in failure.message


@pytest.mark.parametrize("url", ["ftp://x/v1", "http://[::1", "http://", "nonsense"])
async def test_an_address_that_is_none_is_no_crash(url: str) -> None:
    failure = failure_of(await collect(WIRES["openai_chat"](Endpoint("p", url), Profile("m"))))
    assert failure.kind in (FailureKind.UNKNOWN, FailureKind.NETWORK)


@every_wire
@pytest.mark.parametrize("after", [0, 1, 400])
async def test_a_connection_cut_inside_an_event_is_a_network_failure(wire: str, after: int) -> None:
    failure = await fail(wire, Reply(text="a text that is long enough" * 9, cut=after))
    assert failure.kind is FailureKind.NETWORK
    assert failure.phase == ("first_byte" if after == 0 else "stream")


def certificate(folder: Path) -> tuple[ssl.SSLContext, Path]:
    """Return a server's context with a certificate of its own, and that certificate's file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "peer")])
    address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([address]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    public, private = folder / "peer.crt", folder / "peer.key"
    public.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    private.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(public, private)
    return context, public


async def test_only_a_trusted_certificate_is_talked_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    context, public = certificate(tmp_path)
    with ModelServer([Reply(text="hi")], tls=context) as server:
        failure = failure_of(await collect(model(server, "openai_chat")))
        assert (failure.kind, failure.phase) == (FailureKind.NETWORK, "connect")
        assert server.requests == []
        monkeypatch.setenv("SSL_CERT_FILE", str(public))
        assert message_of(await collect(model(server, "openai_chat"))).text == "hi"


@pytest.fixture
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    return monkeypatch


async def test_a_proxy_is_used_for_other_machines(no_proxies: pytest.MonkeyPatch) -> None:
    with ModelServer([Reply(text="through the proxy")]) as server:
        no_proxies.setenv("HTTP_PROXY", server.url)
        endpoint = replace(server.endpoint("openai_chat"), base_url="http://model.invalid/v1")
        events = await collect(WIRES["openai_chat"](endpoint, Profile("m")))
    assert message_of(events).text == "through the proxy"


async def test_this_machine_is_reached_without_the_proxy(no_proxies: pytest.MonkeyPatch) -> None:
    no_proxies.setenv("ALL_PROXY", "http://proxy.invalid:1")
    with ModelServer([Reply(text="direct")]) as server:
        assert message_of(await collect(model(server, "openai_chat"))).text == "direct"


@pytest.mark.parametrize("proxy", ["gopher://user:hunter22@x", "socks5://user:hunter22@x:1"])
async def test_a_proxy_that_cannot_be_used_is_no_crash_and_is_not_quoted(
    proxy: str, no_proxies: pytest.MonkeyPatch
) -> None:
    no_proxies.setenv("HTTP_PROXY", proxy)
    endpoint = Endpoint("p", "http://model.invalid/v1")
    failure = failure_of(await collect(WIRES["openai_chat"](endpoint, Profile("m"))))
    assert (failure.kind, failure.phase) == (FailureKind.UNKNOWN, "request")
    assert "hunter22" not in failure.message and "proxy" in failure.message


# Status and body


@every_wire
async def test_a_rate_limit_names_the_wait(wire: str) -> None:
    refuse = Refuse(429, "slow down", type="rate_limit_error", headers={"retry-after": "7"})
    failure = await fail(wire, refuse)
    assert (failure.kind, failure.status) == (FailureKind.RATE_LIMIT, 429)
    assert (failure.retry_after, failure.phase) == (7, "request")


async def test_a_date_is_a_wait_from_now() -> None:
    headers = {"retry-after": "Thu, 01 Jan 2026 00:00:30 GMT"}
    assert (await fail("openai_chat", Refuse(429, headers=headers))).retry_after == 30


@every_wire
async def test_without_a_hint_the_wait_is_unknown(wire: str) -> None:
    failure = await fail(wire, Refuse(529, "Overloaded", type="overloaded_error"))
    assert (failure.kind, failure.retry_after) == (FailureKind.OVERLOADED, None)


@every_wire
async def test_a_wrong_key_is_auth_and_is_not_shown(wire: str) -> None:
    with ModelServer() as server:
        endpoint = server.endpoint(wire, key="sk-wrong-0123456789")
        failure = failure_of(await collect(WIRES[wire](endpoint, Profile("m"))))
    assert (failure.kind, failure.status) == (FailureKind.AUTH, 401)


async def test_an_html_page_is_named_and_not_quoted() -> None:
    page = b"<html><head><title>502 Bad Gateway</title></head><body>" + b"x" * 100_000
    failure = await fail("openai_chat", Refuse(502, body=page, content_type="text/html"))
    assert failure.kind is FailureKind.SERVER_ERROR
    assert failure.message == "HTTP 502: an HTML page: 502 Bad Gateway"


async def test_a_redirect_is_not_followed() -> None:
    with ModelServer([Refuse(307, "", headers={"location": "http://127.0.0.1:1/"})]) as server:
        failure = failure_of(await collect(model(server, "openai_chat")))
    assert (failure.kind, failure.status) == (FailureKind.UNKNOWN, 307)
    assert "http://127.0.0.1:1/" in failure.message


@every_wire
async def test_a_page_in_place_of_a_stream_is_a_failure(wire: str) -> None:
    page = Refuse(200, body=b"<title>Sign in</title>", content_type="text/html")
    failure = await fail(wire, page)
    assert failure.status == 200 and failure.kind is FailureKind.SERVER_ERROR
    assert "Sign in" in failure.message and "text/html" in failure.message


async def test_an_error_with_status_200_and_no_stream_keeps_its_kind() -> None:
    refuse = Refuse(200, "You exceeded your current quota", code="insufficient_quota")
    assert (await fail("openai_chat", refuse)).kind is FailureKind.BILLING


@every_wire
@pytest.mark.parametrize("kind", ["text/plain", "application/octet-stream"])
async def test_a_stream_under_another_name_is_read(wire: str, kind: str) -> None:
    with ModelServer([Reply(text="hi", content_type=kind)]) as server:
        assert message_of(await collect(model(server, wire))).text == "hi"


# Secrets


@every_wire
async def test_no_message_or_representation_shows_a_credential(wire: str) -> None:
    header = "Basic aGlkZGVuLXBhc3N3b3Jk"
    quote = f"bad key {KEY}, header {header}, bare {header.split()[1]}, and a-known-value"
    with ModelServer([Refuse(400, quote)]) as server:
        endpoint = replace(server.endpoint(wire), headers={"X-Gateway": header})
        asked = WIRES[wire](
            endpoint, Profile("m"), redact=lambda text: text.replace("a-known-value", "***")
        )
        failure = failure_of(await collect(asked))
        assert server.requests[0].headers["x-gateway"] == header
    shown = failure.message + repr(asked) + repr(endpoint) + repr(failure)
    for secret in (KEY, header, header.split()[1], "a-known-value"):
        assert secret not in shown
    assert failure.message.count("[REDACTED:api_key]") == 3


@pytest.mark.parametrize("key", [f"{KEY}\n", f" {KEY} "])
async def test_space_around_a_key_is_left_out(key: str) -> None:
    with ModelServer([Reply(text="hi")]) as server:
        endpoint = server.endpoint("openai_chat", key=key)
        events = await collect(WIRES["openai_chat"](endpoint, Profile("m")))
    assert message_of(events).text == "hi"


@pytest.mark.parametrize("key", ["sk-ключ-0123456789", "sk-one\nsk-two-0123456789"])
async def test_a_key_that_no_header_can_carry_is_not_quoted(key: str) -> None:
    with ModelServer() as server:
        endpoint = server.endpoint("openai_chat", key=key)
        failure = failure_of(await collect(WIRES["openai_chat"](endpoint, Profile("m"))))
    assert failure.kind is FailureKind.UNKNOWN and failure.phase == "request"
    assert "0123456789" not in repr(failure)
    assert not server.connections


# Connections


@every_wire
async def test_turns_share_a_connection_also_after_a_refusal(wire: str) -> None:
    answers = [
        Reply(text="a"),
        Refuse(429),
        Reply(text="b", calls=(Call("echo"),)),
        Reply(text="c"),
    ]
    with ModelServer(answers) as server:
        asked = model(server, wire)
        for _ in answers:
            async with aclosing(asked.stream(request())) as events:
                async for _event in events:
                    pass
        await asked.close()
        await asked.close()
        assert {one.connection for one in server.requests} == {1}


async def test_a_closed_model_can_be_asked_again() -> None:
    with ModelServer([Reply(text="a"), Reply(text="b")]) as server:
        asked = model(server, "openai_chat")
        assert message_of(await collect(asked)).text == "a"
        assert message_of(await collect(asked)).text == "b"


@every_wire
async def test_a_consumer_that_leaves_ends_the_request(wire: str) -> None:
    with ModelServer([Reply(text="endless", stall=6), Reply(text="next")]) as server:
        asked = model(server, wire)
        async with aclosing(asked.stream(request())) as events:
            async for event in events:
                if isinstance(event, TextDelta):
                    break
        assert message_of(await collect(asked)).text == "next"
        assert [one.connection for one in server.requests] == [1, 2]


async def test_cancelling_the_scope_ends_the_request() -> None:
    with ModelServer([Reply(stall="before")]) as server:
        asked = model(server, "openai_chat")
        with anyio.move_on_after(0.1) as scope:
            async with aclosing(asked.stream(request())) as events:
                async for _event in events:
                    pass
        assert scope.cancelled_caught
        await asked.close()


def test_plain_http_loads_no_certificates() -> None:
    assert not Endpoint("p", "HTTP://127.0.0.1:1/v1").encrypted
    assert Endpoint("p", "https://api.example/v1").encrypted
    assert Endpoint("p", "api.example").encrypted


@pytest.mark.parametrize(
    ("url", "loopback"),
    [
        ("http://127.0.0.1:8080/v1", True),
        ("http://LOCALHOST/v1", True),
        ("http://[::1]:1", True),
        ("https://127.example.com", False),
        ("http://10.0.0.1", False),
        ("http://[::1", False),
    ],
)
def test_addresses_of_this_machine(url: str, loopback: bool) -> None:
    assert Endpoint("p", url).loopback is loopback


@every_wire
@pytest.mark.parametrize("content_type", ["text/plain", "application/json"])
async def test_a_stream_under_another_name_is_read_byte_by_byte(
    wire: str, content_type: str
) -> None:
    with ModelServer([Reply(text="hi", content_type=content_type, split=1)]) as server:
        assert message_of(await collect(model(server, wire))).text == "hi"
