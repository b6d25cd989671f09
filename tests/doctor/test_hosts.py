"""The check of hosts: reached, not reached, none."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.diagnose.host.ssh_server import PASSWORD, serve
from truepenny.doctor import hosts
from truepenny.doctor.check import Level

from .test_checks import surroundings

pytestmark = pytest.mark.anyio

TABLE = """\
[hosts.{name}]
address = "127.0.0.1"
port = {port}
user = "ops"
auth = "password"
password = "env:PW"
"""


async def test_each_host_is_dialled_and_what_fails_names_its_stage(tmp_path: Path) -> None:
    async with serve() as server:
        toml = (
            TABLE.format(name="web", port=server.port)
            + TABLE.format(name="gone", port=1)
            + TABLE.format(name="behind", port=server.port)
            + 'jump = "gone"\n'
        )
        found = await hosts.hosts(surroundings(tmp_path, toml, PW=PASSWORD))
    levels = [(one.level, one.detail.partition(":")[0]) for one in found]
    assert levels == [(Level.OK, "web"), (Level.FAIL, "gone"), (Level.FAIL, "behind")]
    assert "network at gone" in found[2].detail
    assert all(one.remedy for one in found[1:])


async def test_no_host_and_no_settings_are_not_a_pass(tmp_path: Path) -> None:
    (none,) = await hosts.hosts(surroundings(tmp_path))
    assert none.level is Level.SKIP
    (unread,) = await hosts.hosts(surroundings(tmp_path, "[run\n"))
    assert unread.level is Level.UNKNOWN
