"""The CONNECT proxy against real upstreams and hostile clients."""

from __future__ import annotations

import errno
import os
import socket
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest
from hypothesis import given
from hypothesis import strategies as st

from truepenny.sandbox.network import proxy as module
from truepenny.sandbox.network.address import IP, Verdict
from truepenny.sandbox.network.allow import read_allowed
from truepenny.sandbox.network.decision import MOST_DECISIONS, Answer, Decision, Decisions, End
from truepenny.sandbox.network.destination import Destination, read_destination
from truepenny.sandbox.network.proxy import ConnectProxy, ProxyLimits
from truepenny.sandbox.network.request import END, HEADER_BYTES, Fault, read_request
from truepenny.sandbox.network.stream import Stream

from .wire import ME, Names, connect_line, echo, proxying, talk, upstream

pytestmark = pytest.mark.anyio

OK = b"HTTP/1.1 200 Connection established\r\n\r\n"


def status(answer: bytes) -> int:
    return int(answer.split()[1])


async def test_a_tunnel_carries_bytes_both_ways_and_counts_them(tmp_path: Path) -> None:
    async with upstream(tmp_path) as (proxy, path, port):
        data = bytes(range(256)) * 4096
        got = await talk(path, connect_line("127.0.0.1", port), data)
        assert got == OK + data
    (decision,) = proxy.decisions.since()
    assert decision.verdict is Verdict.ALLOWED
    assert decision.destination == f"127.0.0.1:{port}"
    assert decision.address == "127.0.0.1"
    assert (decision.sent, decision.received) == (len(data), len(data))
    assert decision.end is End.CLOSED
    assert decision.line() == f"127.0.0.1:{port} allowed, 1048576 bytes out, 1048576 in, closed"


@pytest.mark.parametrize(
    ("target", "verdict"),
    [
        ("127.0.0.1", Verdict.INNER),
        ("2130706433", Verdict.INNER),
        ("0x7f.1", Verdict.INNER),
        ("[::1]", Verdict.INNER),
        ("[::ffff:127.0.0.1]", Verdict.INNER),
        ("169.254.169.254", Verdict.METADATA),
        ("0xa9fea9fe", Verdict.METADATA),
        ("0.0.0.0", Verdict.OUTSIDE),
    ],
)
async def test_a_literal_is_refused_even_when_it_is_on_the_list(
    tmp_path: Path, target: str, verdict: Verdict
) -> None:
    async with echo() as port, proxying(tmp_path, f"{target}:{port}") as (proxy, path):
        got = await talk(path, connect_line(target, port))
        assert status(got) == 403
        assert verdict.encode() in got
    assert [decision.verdict for decision in proxy.decisions.since()] == [verdict]


async def test_a_name_is_judged_by_its_address_and_tried_once(tmp_path: Path) -> None:
    names = Names(inner="127.0.0.1", mixed="1.1.1.1 10.0.0.1", meta="fd00:ec2::254")
    async with echo() as port:
        hosts = [f"{name}.example:{port}" for name in ("inner", "mixed", "meta", "gone")]
        async with proxying(tmp_path, *hosts, names=names) as (proxy, path):
            codes = [
                status(await talk(path, connect_line(host.rpartition(":")[0], port)))
                for host in hosts
            ]
    assert codes == [403, 403, 403, 502]
    assert names.asked == ["inner.example", "mixed.example", "meta.example", "gone.example"]
    assert [(d.verdict, d.address) for d in proxy.decisions.since()] == [
        (Verdict.INNER, "127.0.0.1"),
        (Verdict.INNER, "10.0.0.1"),
        (Verdict.METADATA, "fd00:ec2::254"),
        (Verdict.UNRESOLVED, ""),
    ]


async def test_the_connection_goes_to_the_judged_address(tmp_path: Path) -> None:
    names = Names(inner="127.0.0.1")
    async with upstream(tmp_path, "inner.example", names=names) as (proxy, at, port):
        assert await talk(at, connect_line("Inner.Example.", port), b"hi") == OK + b"hi"
    assert names.asked == ["inner.example"]
    assert proxy.decisions.since()[0].address == "127.0.0.1"


async def test_the_next_address_is_tried_when_one_takes_nothing(tmp_path: Path) -> None:
    names = Names(two="127.0.0.2 127.0.0.1")
    async with upstream(tmp_path, "two.example", names=names) as (proxy, at, port):
        assert await talk(at, connect_line("two.example", port), b"hi") == OK + b"hi"
    assert proxy.decisions.since()[0].address == "127.0.0.1"


async def test_metadata_is_refused_also_where_private_is_allowed(tmp_path: Path) -> None:
    names = Names(meta="169.254.169.254")
    async with proxying(tmp_path, "meta.example:80 private", names=names) as (_, path):
        assert status(await talk(path, connect_line("meta.example", 80))) == 403


async def test_what_is_not_on_the_list_is_not_even_looked_up(tmp_path: Path) -> None:
    names = Names(good="1.1.1.1")
    async with proxying(tmp_path, "good.example:443", names=names) as (proxy, path):
        for host, port in (
            ("data-to-carry-out.evil.example", 443),
            ("good.example", 444),
            ("sub.good.example", 443),
            ("good.example.evil.example", 443),
        ):
            got = await talk(path, connect_line(host, port))
            assert status(got) == 403
            assert b"not_allowed" in got
    assert names.asked == []
    assert {decision.verdict for decision in proxy.decisions.since()} == {Answer.NOT_ALLOWED}


async def test_a_redirect_to_an_inner_address_ends_at_the_next_connect(tmp_path: Path) -> None:
    # What a client does that follows: the allowed host answers 302, the client asks again.
    moved = b"HTTP/1.1 302 Found\r\nLocation: https://169.254.169.254/latest/\r\n\r\n"
    async with upstream(tmp_path, before=moved) as (proxy, path, port):
        got = await talk(path, connect_line("127.0.0.1", port))
        assert moved in got
        target = got.partition(b"https://")[2].partition(b"/")[0].decode()
        assert status(await talk(path, connect_line(target, 443))) == 403
    assert [decision.verdict for decision in proxy.decisions.since()] == [
        Verdict.ALLOWED,
        Answer.NOT_ALLOWED,
    ]


async def test_an_upstream_that_is_not_there(tmp_path: Path) -> None:
    async with echo() as port:
        pass
    async with proxying(tmp_path, f"127.0.0.1:{port} private") as (proxy, path):
        assert status(await talk(path, connect_line("127.0.0.1", port))) == 502
    assert proxy.decisions.since()[0].verdict is Answer.UPSTREAM_FAILED


@pytest.mark.parametrize("method", ["GET", "POST", "OPTIONS", "connect", "Connect", "PRI"])
async def test_only_connect(tmp_path: Path, method: str) -> None:
    async with proxying(tmp_path, "good.example:80") as (proxy, path):
        head = f"{method} http://good.example/ HTTP/1.1\r\nHost: good.example\r\n\r\n"
        got = await talk(path, head.encode())
        assert status(got) == 405
        assert b"\r\nAllow: CONNECT\r\n" in got
    assert proxy.decisions.since()[0].verdict is Fault.METHOD


HEADS = {
    "no version": b"CONNECT a.example:443\r\n\r\n",
    "old": b"CONNECT a.example:443 HTTP/0.9\r\n\r\n",
    "new": b"CONNECT a.example:443 HTTP/2\r\n\r\n",
    "no port": b"CONNECT a.example HTTP/1.1\r\n\r\n",
    "absolute": b"CONNECT https://a.example:443/ HTTP/1.1\r\n\r\n",
    "user": b"CONNECT me@a.example:443 HTTP/1.1\r\n\r\n",
    "nul in host": b"CONNECT a.example\0:443 HTTP/1.1\r\n\r\n",
    "nul in field": b"CONNECT a.example:443 HTTP/1.1\r\nA: b\0c\r\n\r\n",
    "two blanks": b"CONNECT  a.example:443 HTTP/1.1\r\n\r\n",
    "tab": b"CONNECT\ta.example:443 HTTP/1.1\r\n\r\n",
    "lone lf": b"CONNECT a.example:443 HTTP/1.1\nHost: b\r\n\r\n",
    "lone cr": b"CONNECT a.example:443 HTTP/1.1\rHost: b\r\n\r\n",
    "folded": b"CONNECT a.example:443 HTTP/1.1\r\nA: b\r\n c\r\n\r\n",
    "blank before colon": b"CONNECT a.example:443 HTTP/1.1\r\nHost : a\r\n\r\n",
    "two hosts": b"CONNECT a.example:443 HTTP/1.1\r\nHost: a\r\nhost: b\r\n\r\n",
    "length": b"CONNECT a.example:443 HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello",
    "chunked": b"CONNECT a.example:443 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "not ascii": "CONNECT ä.example:443 HTTP/1.1\r\n\r\n".encode(),
    "tls": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
    "empty": b"\r\n\r\n",
    "port zero": b"CONNECT a.example:0 HTTP/1.1\r\n\r\n",
    "large port": b"CONNECT a.example:65979 HTTP/1.1\r\n\r\n",
    "encoded": b"CONNECT a%2eexample:443 HTTP/1.1\r\n\r\n",
}


@pytest.mark.parametrize("head", HEADS.values(), ids=HEADS.keys())
async def test_odd_heads_are_refused_and_lead_nowhere(tmp_path: Path, head: bytes) -> None:
    names = Names(a="127.0.0.1")
    async with proxying(tmp_path, "a.example:443 private", names=names) as (proxy, path):
        assert status(await talk(path, head)) == 400
    assert [decision.verdict for decision in proxy.decisions.since()] == [Fault.BAD_REQUEST]
    assert names.asked == []


async def test_bytes_behind_the_head_are_for_the_upstream_alone(tmp_path: Path) -> None:
    async with upstream(tmp_path) as (proxy, path, port):
        second = connect_line("169.254.169.254", 80)
        got = await talk(path, connect_line("127.0.0.1", port) + second)
        assert got == OK + second
    assert len(proxy.decisions.since()) == 1
    assert proxy.decisions.since()[0].sent == len(second)


async def test_an_upstream_that_hangs_up_first_ends_the_clients_reading(tmp_path: Path) -> None:
    async with upstream(tmp_path, before=b"bye", hang_up=True) as (proxy, path, port):
        got = await talk(path, connect_line("127.0.0.1", port), end=False)
        assert got == OK + b"bye"
    assert proxy.decisions.since()[0].received == 3


@pytest.mark.parametrize("line", [b"A: " + b"x" * 70 + b"\r\n", b"x" * 1024])
async def test_a_megabyte_of_head_is_cut_off(tmp_path: Path, line: bytes) -> None:
    flood = line * (1_000_000 // len(line))
    async with proxying(tmp_path, "a.example:443") as (proxy, path):
        got = await talk(path, b"CONNECT a.example:443 HTTP/1.1\r\n" + flood)
        assert got == b"" or status(got) == 400
    assert [decision.verdict for decision in proxy.decisions.since()] == [Fault.HEADER_TOO_LARGE]


async def test_a_head_of_the_largest_size_and_one_more(tmp_path: Path) -> None:
    async with upstream(tmp_path) as (_, path, port):
        for more, code in ((0, 200), (1, 400)):
            bare = len(connect_line("127.0.0.1", port, "A: \r\n")) - len(b"\r\n\r\n")
            field = "A: " + "x" * (HEADER_BYTES - bare + more) + "\r\n"
            assert status(await talk(path, connect_line("127.0.0.1", port, field))) == code


async def test_a_client_that_says_nothing_is_sent_away(tmp_path: Path) -> None:
    limits = ProxyLimits(header=0.1)
    async with proxying(tmp_path, "a.example:443", limits=limits) as (proxy, path):
        got = await talk(path, b"CONNECT a.example:443 HTTP/1.1\r\nA: ", end=False)
        assert status(got) == 408
        assert await talk(path) == b""
        assert await talk(path, b"CONNECT a.exam") == b""
    assert [decision.verdict for decision in proxy.decisions.since()] == [
        Answer.TIMEOUT,
        Answer.CLOSED,
        Answer.CLOSED,
    ]


async def test_a_silent_tunnel_ends(tmp_path: Path) -> None:
    limits = ProxyLimits(idle=0.1)
    async with upstream(tmp_path, limits=limits) as (proxy, path, port):
        assert await talk(path, connect_line("127.0.0.1", port), b"x", end=False) == OK + b"x"
    assert proxy.decisions.since()[0].end is End.IDLE


async def test_a_tunnel_has_a_longest_life(tmp_path: Path) -> None:
    limits = ProxyLimits(total=0.2)
    async with upstream(tmp_path, limits=limits) as (proxy, path, port):
        stream = await anyio.connect_unix(path)
        await stream.send(connect_line("127.0.0.1", port))
        async with stream:
            with pytest.raises((anyio.EndOfStream, anyio.BrokenResourceError)):
                while await stream.receive():
                    await stream.send(b"x")
    assert proxy.decisions.since()[0].end is End.TOTAL


async def test_the_end_of_the_run_ends_its_tunnels_and_removes_the_socket(tmp_path: Path) -> None:
    async with upstream(tmp_path) as (proxy, path, port):
        stream = await anyio.connect_unix(path)
        await stream.send(connect_line("127.0.0.1", port))
        assert await stream.receive() == OK
        assert proxy.decisions.since()[0].end is End.OPEN
    async with stream:
        with pytest.raises((anyio.EndOfStream, anyio.BrokenResourceError)):
            await stream.receive()
    assert proxy.decisions.since()[0].end is End.STOPPED
    assert not path.exists()


async def test_one_connection_too_many_is_told_so(tmp_path: Path) -> None:
    limits = ProxyLimits(connections=1)
    async with upstream(tmp_path, limits=limits) as (proxy, path, port):
        async with await anyio.connect_unix(path) as stream:
            await stream.send(connect_line("127.0.0.1", port))
            assert await stream.receive() == OK
            assert status(await talk(path)) == 503
            await stream.send_eof()
            with pytest.raises(anyio.EndOfStream):
                await stream.receive()
        assert await talk(path, connect_line("127.0.0.1", port), b"free") == OK + b"free"
    assert Answer.BUSY in [decision.verdict for decision in proxy.decisions.since()]


async def test_decisions_are_told_from_a_mark_on(tmp_path: Path) -> None:
    async with proxying(tmp_path, "a.example:1") as (proxy, path):
        await talk(path, connect_line("b.example", 1))
        mark = proxy.decisions.mark()
        await talk(path, connect_line("c.example", 1))
    assert [each.destination for each in proxy.decisions.since(mark)] == ["c.example:1"]
    assert proxy.decisions.lines(mark) == ["c.example:1 not_allowed"]
    assert proxy.decisions.lines(proxy.decisions.mark()) == []


@given(st.integers(0, 3000), st.integers(0, 3000))
def test_the_newest_decisions_are_kept_and_the_rest_is_counted(before: int, after: int) -> None:
    decisions = Decisions()
    for number in range(before):
        decisions.add(Decision(Answer.CLOSED, str(number)))
    mark = decisions.mark()
    for number in range(after):
        decisions.add(Decision(Answer.CLOSED, str(before + number)))
    kept = [int(each.destination) for each in decisions.since(mark)]
    assert kept == list(range(before + after))[before:][-MOST_DECISIONS:]
    assert decisions.omitted(mark) + len(kept) == after
    missing = [f"{after - len(kept)} earlier ones are not kept"] if after > len(kept) else []
    assert decisions.lines(mark)[: len(missing)] == missing


async def test_an_ipv6_upstream(tmp_path: Path) -> None:
    with socket.socket(socket.AF_INET6) as probe:
        try:
            probe.bind(("::1", 0))
        except OSError:
            # A machine without it: then nothing is reached, and that is said.
            async with proxying(tmp_path, "[::1]:1 private") as (_, path):
                assert status(await talk(path, connect_line("[::1]", 1))) == 502
            return
    async with echo(host="::1") as port:
        async with proxying(tmp_path, f"[::1]:{port} private") as (proxy, path):
            assert await talk(path, connect_line("[0:0::1]", port), b"six") == OK + b"six"
        assert proxy.decisions.since()[0].destination == f"[::1]:{port}"


async def test_our_own_shortage_is_not_blamed_on_the_host(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def short(address: IP, port: int) -> Stream:
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(module, "connect", short)
    names = Names(good="1.1.1.1")
    async with proxying(tmp_path, "good.example:443", names=names) as (proxy, path):
        got = await talk(path, connect_line("good.example", 443))
        assert status(got) == 503
    assert proxy.decisions.since()[0].verdict is Answer.OURS


async def test_a_cancellation_at_any_point_leaves_nothing(tmp_path: Path) -> None:

    async def client(path: Path, port: int, done: anyio.Event) -> None:
        raw = socket.socket(socket.AF_UNIX)
        stream = Stream(raw)
        try:
            raw.connect(str(path))
            await stream.send(connect_line("127.0.0.1", port) + b"x" * 1000)
            stream.end()
            while await stream.receive():
                pass
            done.set()
        finally:
            stream.close()

    async with echo() as port:
        await anyio.lowlevel.checkpoint()
        before = set(os.listdir("/proc/self/fd"))
        for steps in range(1000):
            done = anyio.Event()
            proxy = ConnectProxy(read_allowed([f"127.0.0.1:{port} private"]))
            path = tmp_path / "p.sock"
            with anyio.fail_after(30):
                async with proxy.listening(path, ME), anyio.create_task_group() as tasks:
                    tasks.start_soon(client, path, port, done)
                    for _ in range(steps):
                        await anyio.lowlevel.checkpoint()
                    tasks.cancel_scope.cancel()
            assert not path.exists()
            # The upstream is a peer in this process: it needs its turns to see the end.
            for _ in range(50):
                if set(os.listdir("/proc/self/fd")) == before:
                    break
                await anyio.lowlevel.checkpoint()
            assert set(os.listdir("/proc/self/fd")) == before
            assert all(
                d.end is not None for d in proxy.decisions.since() if d.verdict is Verdict.ALLOWED
            )
            if done.is_set():
                break  # it came to its end, so these were all the points there are
    assert steps > 10
    assert done.is_set()


@given(st.binary(max_size=200))
def test_any_head_is_one_destination_or_a_refusal(head: bytes) -> None:
    for text in (head, b"CONNECT " + head + b" HTTP/1.1", b"CONNECT a:1 HTTP/1.1\r\n" + head):
        asked = read_request(text + END)
        if isinstance(asked, Destination):
            assert read_destination(str(asked)) == asked
