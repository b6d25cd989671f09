"""Dialling: each host by its own login, every failure at its stage, nothing half open."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path

import anyio
import asyncssh
import pytest

from truepenny.config.jump import BadJump
from truepenny.diagnose.host.dial import dial
from truepenny.diagnose.host.failure import DialFailed, Stage
from truepenny.diagnose.host.host import Hosts
from truepenny.diagnose.host.host_exec import host_exec_tool
from truepenny.execute.ending import Leg, Outcome

from .conftest import World
from .ssh_server import PASSWORD, Server, serve

pytestmark = pytest.mark.anyio


async def failure(world: World, name: str) -> DialFailed:
    with pytest.raises(DialFailed) as caught:
        async with dial(world.hosts, world.host(name), "user"):
            pass
    return caught.value


@asynccontextmanager
async def chain(world: World, closings: list[str]) -> AsyncGenerator[dict[str, Server]]:
    """Three jump hosts and a target behind them."""
    async with AsyncExitStack() as stack:
        servers: dict[str, Server] = {}
        before: str | None = None
        for name in ("one", "two", "three", "target"):
            served = serve(closings=closings, label=name)
            servers[name] = await stack.enter_async_context(served)
            more = {} if before is None else {"jump": before}
            world.entries[name] = servers[name].entry(**more)
            before = name
        yield servers


async def test_three_jump_hosts_relay_and_see_nothing(world: World) -> None:
    closings: list[str] = []
    async with chain(world, closings) as servers:
        result = await world.exec("target", "echo here")
        assert result.outcome is Outcome.SUCCESS
        assert result.text == "here\n"
        assert result.facts.source["way"] == "one -> two -> three -> target"
        assert result.facts.detail["first_use"] == ["one", "two", "three", "target"]
        assert [len(server.commands) for server in servers.values()] == [0, 0, 0, 1]
        assert servers["one"].forwarded == [servers["two"].port]
        assert servers["two"].forwarded == [servers["three"].port]
        assert servers["three"].forwarded == [servers["target"].port]
        # Each host was logged in to once: no hop was tried with the secret of another.
        assert [len(server.logins) for server in servers.values()] == [1, 1, 1, 1]
        with anyio.fail_after(5):
            while len(closings) < 4:
                await anyio.lowlevel.checkpoint()
        assert closings == ["target", "three", "two", "one"]


async def test_a_failing_hop_ends_it_before_the_target_is_reached(world: World) -> None:
    async with chain(world, []) as servers:
        world.entries["two"]["password"] = "not the right one"
        result = await world.exec("target", "echo here")
        assert servers["three"].connections == servers["target"].connections == []
    assert (result.outcome, result.facts.leg) == (Outcome.CHANNEL_FAILED, Leg.TRANSPORT)
    assert result.facts.reason == "jump_hop"
    detail = result.facts.detail
    assert (detail["stage"], detail["hop"], detail["hop_stage"]) == (
        "jump_hop", "two", "authentication",
    )  # fmt: skip
    assert "on the way to target" in result.text
    assert result.facts.completeness.state == "unknown"


async def test_a_missing_secret_on_the_way_bothers_nobody(world: World) -> None:
    async with chain(world, []) as servers:
        world.entries["three"]["password"] = "env:NOT_SET_ANYWHERE"
        failed = await failure(world, "target")
        assert all(server.connections == [] for server in servers.values())
    assert (failed.stage, failed.hop, failed.hop_stage) == (
        Stage.JUMP_HOP, "three", Stage.AUTHENTICATION,
    )  # fmt: skip
    assert failed.detail == {"credential": "missing"}


async def test_a_circle_is_found_when_it_is_walked(world: World) -> None:
    async with serve() as server:
        world.entries |= {"a": server.entry(jump="b"), "b": server.entry(jump="a")}
        failed = await failure(world, "a")
        assert server.connections == []
    assert failed.stage is Stage.UNKNOWN
    assert "circle" in failed.message
    with pytest.raises(BadJump):
        world.hosts.way(world.host("a"))


async def test_a_hop_that_may_not_forward_is_told_at_the_host_behind_it(world: World) -> None:
    async with serve() as bastion:
        world.entries["bastion"] = bastion.entry()
        world.entries["web"] = {**bastion.entry(jump="bastion"), "port": 1}
        failed = await failure(world, "web")
        assert bastion.forwarded == [1]
    assert (failed.stage, failed.hop) == (Stage.NETWORK, "web")


@pytest.mark.parametrize("form", ["openssh", "pkcs8-pem"])
@pytest.mark.parametrize("passphrase", [None, "four words make one"])
async def test_a_key_logs_in_and_a_wrong_one_does_not(
    world: World, passphrase: str | None, form: str
) -> None:
    right, wrong = (asyncssh.generate_private_key("ssh-ed25519") for _ in range(2))
    text = right.export_private_key(form, passphrase).decode()
    more = {} if passphrase is None else {"passphrase": passphrase}
    async with serve(authorized=right) as server:
        world.entries["web"] = server.entry(auth="key", key=text, **more)
        result = await world.exec("web", "echo in")
        assert result.text == "in\n"
        world.entries["web"] = server.entry(auth="key", key=wrong.export_private_key().decode())
        failed = await failure(world, "web")
        assert failed.stage is Stage.AUTHENTICATION
        assert "as ops by key" in failed.message
        world.entries["web"] = server.entry(auth="key", key="no key at all")
        assert (await failure(world, "web")).stage is Stage.AUTHENTICATION
        assert len(server.connections) == 2, "an unusable key is not even tried"


async def test_nothing_of_the_person_is_used_unasked(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = asyncssh.generate_private_key("ssh-ed25519")
    home = tmp_path / "home"
    (home / ".ssh").mkdir(parents=True)
    right.write_private_key(home / ".ssh" / "id_ed25519")
    (home / ".ssh" / "config").write_text(
        "Host *\n  ProxyCommand false\n  User root\n", encoding="utf-8"
    )
    monkeypatch.setenv("HOME", str(home))
    wrong = asyncssh.generate_private_key("ssh-ed25519").export_private_key().decode()
    async with serve(authorized=right) as server, _agent(right, tmp_path) as socket:
        monkeypatch.setenv("SSH_AUTH_SOCK", socket)
        world.env = {"SSH_AUTH_SOCK": socket}
        world.entries["web"] = server.entry(auth="key", key=wrong)
        assert (await failure(world, "web")).stage is Stage.AUTHENTICATION
        assert [login.partition(":")[0] for login in server.logins] == ["ops"]
        world.entries["web"] = server.entry()
        assert (await failure(world, "web")).stage is Stage.AUTHENTICATION
        assert len(server.logins) == 1, "a password login offers no key"
        # Asked for, the agent is used; one that is not there fails closed.
        world.entries["web"] = server.entry(auth="agent")
        if socket.endswith("agent"):
            assert (await world.exec("web", "echo in")).text == "in\n"
        else:
            assert (await failure(world, "web")).stage is Stage.AUTHENTICATION
        world.env = {}
        failed = await failure(world, "web")
        assert (failed.stage, failed.detail) == (
            Stage.AUTHENTICATION, {"credential": "missing"},
        )  # fmt: skip


@asynccontextmanager
async def _agent(key: asyncssh.SSHKey, folder: Path) -> AsyncGenerator[str]:
    """Run an agent with the key; where none is installed, give a place where none listens."""
    program = shutil.which("ssh-agent")
    if program is None:
        yield str(folder / "nobody")
        return
    socket = str(folder / "agent")
    process = await asyncio.create_subprocess_exec(
        program, "-D", "-a", socket, stdout=subprocess.DEVNULL
    )
    try:
        with anyio.fail_after(5):
            while not Path(socket).exists():
                await anyio.lowlevel.checkpoint()
        async with asyncssh.connect_agent(socket) as agent:
            await agent.add_keys([key])
        yield socket
    finally:
        process.terminate()
        await process.wait()


async def test_a_wrong_password_is_refused_and_not_shown(world: World) -> None:
    async with serve() as server:
        world.entries["web"] = server.entry(password="wrong-horse")
        result = await world.exec("web", "true")
    assert (result.outcome, result.facts.reason) == (Outcome.CHANNEL_FAILED, "authentication")
    assert "wrong-horse" not in repr(result)
    assert result.facts.exit is None
    assert result.facts.leg is Leg.TRANSPORT


async def test_a_password_that_cannot_be_kept_out_of_outputs_is_not_used(world: World) -> None:
    async with serve() as server:
        world.entries["web"] = server.entry(password="abc")
        failed = await failure(world, "web")
        assert server.connections == []
    assert "too short" in failed.message


@asynccontextmanager
async def saying(words: bytes | None) -> AsyncGenerator[Server]:
    """Listen like a machine that says these words and hangs up, or says nothing and waits."""
    tasks: set[asyncio.Task[object]] = set()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        if words is None:
            await reader.read()
        else:
            writer.write(words)
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()

    server = await asyncio.start_server(talk, "127.0.0.1", 0)
    async with server:
        yield Server(port=server.sockets[0].getsockname()[1])
    await asyncio.gather(*tasks)


async def test_a_host_that_does_not_answer_is_a_matter_of_the_network(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("truepenny.diagnose.host.dial.CONNECT_SECONDS", 0.3)
    async with saying(None) as silent:
        world.entries["web"] = silent.entry()
        failed = await failure(world, "web")
        assert failed.stage is Stage.NETWORK
        assert "did not answer within 0.3 s" in failed.message
    async with saying(b"HTTP/1.1 400 Bad Request\r\n\r\n") as foreign:
        world.entries["web"] = foreign.entry()
        assert (await failure(world, "web")).stage in (Stage.NETWORK, Stage.UNKNOWN)
    assert (await failure(world, "web")).stage is Stage.NETWORK, "nobody listens any more"


async def test_the_time_of_a_call_covers_the_dialling(world: World) -> None:
    async with saying(None) as silent:
        world.entries["web"] = silent.entry()
        with anyio.fail_after(5):
            result = await world.exec("web", "true", timeout_seconds=1)
    assert (result.outcome, result.facts.reason) == (Outcome.CHANNEL_FAILED, "network")
    assert "not reached within 1 s" in result.text


async def test_a_failure_that_repeats_is_said(world: World) -> None:
    world.entries["web"] = Server(port=1).entry()
    tool = host_exec_tool(world.hosts)
    call = {"host": "web", "command": "true"}
    first = await tool.run(call, world.context)
    second = await tool.run(call, world.context)
    assert first.facts.notes == ()
    assert "trying again" in second.facts.notes[0]


async def test_a_changed_key_is_refused_until_a_person_forgets_the_old_one(world: World) -> None:
    async with serve() as server:
        port = server.port
        world.entries["web"] = server.entry()
        first = await world.exec("web", "true")
        identity = world.hosts.identity(world.host("web"))
        assert identity == f"127.0.0.1:{port}"
        known = world.known.get("user", identity)
        assert known is not None
        assert str(known) == first.facts.detail["host_key"]
    async with serve() as other:
        world.entries["web"] = other.entry()
        # The same place, now with another key.
        await world.known.remember("user", world.hosts.identity(world.host("web")), known)
        result = await world.exec("web", "true")
        assert other.logins == [], "nothing secret is sent to it"
        assert (result.outcome, result.facts.reason) == (Outcome.CHANNEL_FAILED, "host_key")
        detail = result.facts.detail
        assert detail["known"] == str(known)
        assert detail["offered"].startswith("ssh-ed25519 SHA256:")
        assert detail["known"] != detail["offered"]
        assert detail["known"] in result.text
        assert detail["offered"] in result.text
        assert "truepenny host forget web" in result.facts.hint
        forgotten = await world.known.forget("user", world.hosts.identity(world.host("web")))
        assert forgotten is not None
        assert forgotten.same(known)
        assert (await world.exec("web", "true")).outcome is Outcome.SUCCESS


async def test_a_key_of_a_better_kind_beside_the_known_one_is_no_change(world: World) -> None:
    rsa = asyncssh.generate_private_key("ssh-rsa", key_size=2048)
    async with serve(key=rsa) as server:
        world.entries["web"] = server.entry()
        first = await world.exec("web", "true")
    assert first.facts.detail["host_key"].startswith("ssh-rsa SHA256:")
    known = world.known.get("user", world.hosts.identity(world.host("web")))
    assert known is not None
    better = asyncssh.generate_private_key("ssh-ed25519")
    async with serve(key=better, more_keys=(rsa,)) as server:
        world.entries["web"] = server.entry()
        identity = world.hosts.identity(world.host("web"))
        await world.known.remember("user", identity, known)
        assert (await world.exec("web", "true")).outcome is Outcome.SUCCESS
    async with serve(key=better) as server:
        world.entries["web"] = server.entry()
        await world.known.remember("user", world.hosts.identity(world.host("web")), known)
        failed = await failure(world, "web")
    assert failed.stage is Stage.HOST_KEY, "a host that lost its known key is another host"
    assert "no longer has" in failed.message


async def test_a_login_that_fails_trusts_nothing(world: World) -> None:
    async with serve() as server:
        world.entries["web"] = server.entry(password="wrong-horse")
        await failure(world, "web")
        assert world.known.get("user", world.hosts.identity(world.host("web"))) is None


async def test_two_users_trust_by_themselves(world: World) -> None:
    async with serve() as server:
        world.entries["web"] = server.entry()
        for user in ("user", "other"):
            async with dial(world.hosts, world.host("web"), user) as connection:
                assert connection.first_use == ("web",)
    assert world.known.path("user") != world.known.path("other")


async def test_keys_that_cannot_be_read_refuse_everything(world: World) -> None:
    async with serve() as server:
        world.entries["web"] = server.entry()
        path = world.known.path("user")
        path.parent.mkdir(parents=True)
        for damaged in (b"{", b"[]", b'{"format": 9, "hosts": {}}', b'{"format": 1, "hosts": []}'):
            path.write_bytes(damaged)
            failed = await failure(world, "web")
            assert failed.stage is Stage.HOST_KEY
        assert server.connections == []


async def test_cancelling_while_dialling_leaves_no_connection(world: World) -> None:
    async with chain(world, []) as servers:
        with anyio.CancelScope() as scope:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(world.exec, "target", "true")
                while not servers["two"].connections:
                    await anyio.lowlevel.checkpoint()
                scope.cancel()
        with anyio.fail_after(5):
            while any(server.closed < len(server.connections) for server in servers.values()):
                await anyio.lowlevel.checkpoint()


def test_the_same_address_behind_two_jump_hosts_is_two_machines(world: World) -> None:
    bare = {"user": "u", "auth": "password", "password": PASSWORD}
    world.entries |= {
        "east": {**bare, "address": "east.example"},
        "west": {**bare, "address": "west.example", "port": 2222},
        "a": {**bare, "address": "10.0.0.5", "jump": "east"},
        "b": {**bare, "address": "10.0.0.5", "jump": "west"},
        "six": {**bare, "address": "[fe80::1]"},
    }
    hosts: Hosts = world.hosts
    identities = {name: hosts.identity(world.host(name)) for name in hosts.names}
    assert identities == {
        "east": "east.example:22",
        "west": "west.example:2222",
        "a": "10.0.0.5:22 via east.example:22",
        "b": "10.0.0.5:22 via west.example:2222",
        "six": "[fe80::1]:22",
    }
