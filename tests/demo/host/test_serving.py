from __future__ import annotations

import stat
import tomllib
from pathlib import Path

import asyncssh
import pytest

from tests.demo.practice import SmallWorld
from truepenny.config.settings import HostSettings
from truepenny.demo.cluster import PracticeCluster
from truepenny.demo.host.machine import Machine, Recorded
from truepenny.diagnose.host.failure import DialFailed, Stage
from truepenny.diagnose.host.host import Host, Hosts
from truepenny.diagnose.host.known_hosts import KnownHosts
from truepenny.diagnose.host.probe import probe
from truepenny.errors import CouldNotRun
from truepenny.execute.command import CaptureLimits
from truepenny.text.redact import Redactor

pytestmark = pytest.mark.anyio

MACHINES = (
    Machine("gate", "10.9.0.1", answers={"uptime": Recorded("up\n")}),
    Machine("inner", "10.9.0.2", "gate", answers={"uptime": Recorded("up as well\n")}),
    Machine("other", "10.9.0.3", "gate"),
)


def bound(cluster: PracticeCluster, known: Path, **changes: dict[str, object]) -> Hosts:
    entries = {
        name: HostSettings.model_validate({**entry, **changes.get(name, {})})
        for name, entry in cluster.hosts.items()
    }
    return Hosts((Host(name, entry, {}) for name, entry in entries.items()), KnownHosts(known))


def named(hosts: Hosts, name: str) -> Host:
    found = hosts.get(name)
    assert isinstance(found, Host)
    return found


async def test_the_inner_machine_is_reached_through_the_bastion(tmp_path: Path) -> None:
    from truepenny.diagnose.host.run import run_on_host

    with PracticeCluster(SmallWorld(hosts=MACHINES)) as cluster:
        hosts = bound(cluster, tmp_path)
        inner = named(hosts, "inner")
        first = await probe(hosts, inner, "me")
        again = await probe(hosts, inner, "me")
        assert (first.failure, first.way, first.first_use) == (
            None, ("gate", "inner"), ("gate", "inner"),
        )  # fmt: skip
        # Trusted on first use, and known by the same key from then on.
        assert (again.first_use, again.key) == ((), first.key)
        run = await run_on_host(
            hosts, inner, "uptime", user="me", seconds=10, limits=CaptureLimits(4096, 4096),
            redactor=Redactor(),
        )  # fmt: skip
    assert run.execution.stdout.text == "up as well\n"
    assert (run.execution.exit.observed, run.ended) == (0, None)


async def test_nobody_else_gets_in(tmp_path: Path) -> None:
    with PracticeCluster(SmallWorld(hosts=MACHINES)) as cluster:
        entries = {name: dict(entry) for name, entry in cluster.hosts.items()}
        for wrong, stage in (
            ({"user": "root"}, Stage.AUTHENTICATION),
            ({"key": entries["inner"]["key"]}, Stage.AUTHENTICATION),
        ):
            hosts = bound(cluster, tmp_path, gate=wrong)
            found = await probe(hosts, named(hosts, "gate"), "me")
            assert found.failure is not None and found.failure.stage == stage, wrong
        # The bastion forwards to the machines behind it and nowhere else.
        port = entries["gate"]["port"]
        hosts = bound(cluster, tmp_path, inner={"address": "127.0.0.1", "port": port})
        found = await probe(hosts, named(hosts, "inner"), "me")
        assert isinstance(found.failure, DialFailed)


async def test_a_restart_has_new_keys_and_leaves_nothing(tmp_path: Path) -> None:
    with PracticeCluster(SmallWorld(hosts=MACHINES)) as cluster:
        folder = cluster.settings.parent
        for file in folder.glob("*.key"):
            assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert len(list(folder.glob("*.key"))) == len(MACHINES)
        written = tomllib.loads(cluster.settings.read_text(encoding="utf-8"))
        assert written == {"hosts": {name: dict(entry) for name, entry in cluster.hosts.items()}}
        port = cluster.hosts["gate"]["port"]
        key = await asyncssh.get_server_host_key("127.0.0.1", port, config=None)
        assert key is not None
        old = key.get_fingerprint()
    assert not folder.exists()
    with pytest.raises(OSError, match=r"."):
        await asyncssh.get_server_host_key("127.0.0.1", port, config=None)
    with PracticeCluster(SmallWorld(hosts=MACHINES)) as cluster:
        port = cluster.hosts["gate"]["port"]
        key = await asyncssh.get_server_host_key("127.0.0.1", port, config=None)
        assert key is not None and key.get_fingerprint() != old


def test_a_folder_too_deep_for_a_socket_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deep = tmp_path / ("d" * 100)
    deep.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(deep))
    with pytest.raises(CouldNotRun, match="cannot listen on") as caught:
        PracticeCluster(SmallWorld(hosts=MACHINES)).__enter__()
    assert "TMPDIR" in (caught.value.remedy or "")
    assert list(deep.iterdir()) == []


async def test_machines_are_there_where_the_api_server_refuses(tmp_path: Path) -> None:
    with PracticeCluster(SmallWorld(hosts=MACHINES), ["refuse"]) as cluster:
        hosts = bound(cluster, tmp_path)
        assert (await probe(hosts, named(hosts, "gate"), "me")).failure is None
