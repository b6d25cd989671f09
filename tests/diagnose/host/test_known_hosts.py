"""The file of known keys: private, whole, and one answer for whoever comes first."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import anyio
import pytest

from truepenny.diagnose.host.known_hosts import KnownHosts, KnownKey
from truepenny.errors import ConfigurationError, PolicyDenied

pytestmark = pytest.mark.anyio

ONE, TWO = (KnownKey("ssh-ed25519", f"SHA256:{letter * 43}") for letter in "ab")


async def test_the_first_key_is_kept_and_stays(tmp_path: Path) -> None:
    known = KnownHosts(tmp_path)
    assert known.get("me", "h:22") is None
    kept = await known.remember("me", "h:22", ONE)
    assert kept.same(ONE)
    assert kept.first_seen.endswith("Z")
    assert (await known.remember("me", "h:22", TWO)).same(ONE)
    assert KnownHosts(tmp_path).get("me", "h:22") == kept
    path = known.path("me")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert json.loads(path.read_text(encoding="utf-8"))["hosts"]["h:22"]["sha256"] == ONE.sha256
    assert [one.name for one in path.parent.iterdir()] == [path.name]


async def test_of_many_at_once_all_get_the_same_answer(tmp_path: Path) -> None:
    answers: list[KnownKey] = []

    async def meet(number: int) -> None:
        key = KnownKey("ssh-ed25519", f"SHA256:{number:043}")
        answers.append(await KnownHosts(tmp_path).remember("me", "h:22", key))
        await KnownHosts(tmp_path).remember("me", f"other-{number}:22", key)

    async with anyio.create_task_group() as tasks:
        for number in range(8):
            tasks.start_soon(meet, number)
    assert len({answer.sha256 for answer in answers}) == 1
    hosts = json.loads(KnownHosts(tmp_path).path("me").read_text(encoding="utf-8"))["hosts"]
    assert len(hosts) == 9


async def test_forgetting_says_what_was_forgotten(tmp_path: Path) -> None:
    known = KnownHosts(tmp_path)
    assert await known.forget("me", "h:22") is None
    await known.remember("me", "h:22", ONE)
    forgotten = await known.forget("me", "h:22")
    assert forgotten is not None
    assert forgotten.same(ONE)
    assert known.get("me", "h:22") is None


async def test_a_file_that_cannot_be_read_is_not_an_empty_one(tmp_path: Path) -> None:
    known = KnownHosts(tmp_path)
    path = known.path("me")
    path.mkdir(parents=True)
    for ask in (known.remember("me", "h:22", ONE), known.forget("me", "h:22")):
        with pytest.raises(ConfigurationError, match="cannot be read"):
            await ask
    with pytest.raises(ConfigurationError):
        known.get("me", "h:22")
    with pytest.raises(PolicyDenied):
        known.get("../you", "h:22")
