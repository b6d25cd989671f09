"""`truepenny host` and the tools of hosts as a person calls them, against a real SSH server."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import anyio.to_thread
import pytest

from tests.diagnose.host.ssh_server import PASSWORD, Server, serve
from truepenny.cli.assemble import MOST_HOSTS, environment
from truepenny.config.settings import Settings
from truepenny.diagnose.cluster import Clusters
from truepenny.diagnose.host.host import Hosts
from truepenny.system.directories import Directories

from .conftest import Account

pytestmark = pytest.mark.anyio


def bind(account: Account, server: Server, name: str = "web", more: str = "") -> None:
    account.configure(
        f'[hosts.{name}]\naddress = "127.0.0.1"\nport = {server.port}\nuser = "ops"\n'
        f'auth = "password"\npassword = "env:WEB_PASSWORD"\n{more}'
    )
    account.env["WEB_PASSWORD"] = PASSWORD


async def run(account: Account, *arguments: str, **options: Any) -> tuple[int, str, str]:
    done = await anyio.to_thread.run_sync(partial(account.run, *arguments, **options))
    assert PASSWORD not in done.stdout + done.stderr
    return done.returncode, done.stdout, done.stderr


async def test_a_host_is_tested_listed_called_and_forgotten(account: Account) -> None:
    async with serve() as server:
        bind(account, server)
        code, out, _ = await run(account, "host", "list")
        assert code == 0
        assert "never reached" in out
        code, out, _ = await run(account, "host", "test", "web")
        assert code == 0
        assert out.startswith("web: ok in ")
        assert "trusted from now on: web" in out
        code, out, _ = await run(account, "host", "test", "web", "--json")
        found = json.loads(out)
        assert (code, found["ok"], found["way"], found["first_use"]) == (0, True, ["web"], [])
        code, out, _ = await run(account, "host", "list", "--json")
        assert json.loads(out)["hosts"][0]["host_key"] == found["host_key"]
        call = json.dumps({"host": "web", "command": "uname"})
        code, out, err = await run(account, "tool", "call", "host_exec", call)
        assert code == 0
        assert out.rstrip().endswith("\nLinux")
        assert "limits" not in out
        assert "practice" not in err
        code, out, _ = await run(account, "host", "forget", "web")
        assert (code, found["host_key"] in out) == (0, True)
        code, out, _ = await run(account, "host", "forget", "web")
        assert (code, "no key" in out) == (0, True)


async def test_what_stands_in_the_way_has_its_exit_code_and_remedy(account: Account) -> None:
    code, _, err = await run(account, "host", "test", "web")
    assert code == 3
    assert "[hosts.NAME]" in err
    async with serve() as server:
        bind(account, server)
        code, _, err = await run(account, "host", "test", "wbe")
        assert (code, "Did you mean web?" in err) == (3, True)
        wrong = {"WEB_PASSWORD": "not this one"}
        code, out, _ = await run(account, "host", "test", "web", "--json", env=wrong)
        assert (code, json.loads(out)["stage"]) == (5, "authentication")
        code, _, err = await run(account, "host", "test", "web", env={"WEB_PASSWORD": ""})
        assert (code, "hosts.web.password" in err) == (5, True)
        code, out, _ = await run(
            account, "tool", "call", "host_exec", '{"host": "web", "command": "rm -rf /x"}'
        )
        assert (code, "refused" in out) == (4, True)
        assert server.commands == []


async def test_practice_reaches_no_real_host(account: Account) -> None:
    async with serve() as server:
        bind(account, server)
        call = json.dumps({"host": "web", "command": "uname"})
        code, out, _ = await run(
            account, "tool", "call", "--demo", "checkout-oom", "host_exec", call
        )
        assert (code, "no host is bound" in out) == (5, True)
        assert server.connections == []


async def test_who_has_hosts_alone_is_not_sent_to_practice(account: Account) -> None:
    async with serve() as server:
        bind(account, server)
        code, out, err = await run(account, "tool", "call", "cluster_list")
    assert (code, "No cluster is bound." in out) == (0, True)
    assert "practice" not in err


def test_the_prompt_names_hosts_up_to_a_limit(tmp_path: Path) -> None:
    bare = {"address": "x", "user": "u", "auth": "agent", "description": "for\nall\x1b[31m"}
    tree = Settings.model_validate(
        {"hosts": {f"web-{number}": {**bare, "production": number == 0} for number in range(25)}}
    )
    hosts = Hosts.from_settings(tree, {}, Directories.from_environment({"HOME": str(tmp_path)}))
    told = environment(Clusters(), None, hosts).splitlines()
    assert told[:3] == [
        "No cluster is bound.",
        "Hosts you can reach with host_exec:",
        "- host web-0: for all (people depend on it)",
    ]
    assert told[-1] == "- and 5 more: host_list"
    assert len(told) == 2 + MOST_HOSTS + 1
