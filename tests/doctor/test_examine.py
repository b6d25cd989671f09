from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from truepenny.config.load import Loaded
from truepenny.config.settings import Settings
from truepenny.doctor import examine as examining
from truepenny.doctor.check import Check, Checked, Finding, Level, Surroundings, ok
from truepenny.doctor.examine import examine
from truepenny.errors import ConfigurationError
from truepenny.system.directories import Directories

pytestmark = pytest.mark.anyio


@pytest.fixture
def around(tmp_path: Path) -> Surroundings:
    env = {"TRUEPENNY_HOME": str(tmp_path / "home")}
    return Surroundings(Directories.from_environment(env), env, Loaded(Settings()))


async def test_checks_come_back_in_their_order_with_their_findings(around: Surroundings) -> None:
    release = anyio.Event()

    async def slow(around: Surroundings) -> list[Finding]:
        await release.wait()
        return ok("slow")

    async def quick(around: Surroundings) -> list[Finding]:
        release.set()
        return ok("quick")

    done = await examine((Check("a", "A", slow), Check("b", "B", quick)), around)
    assert [(one.name, one.findings[0].detail) for one in done] == [("a", "slow"), ("b", "quick")]


async def test_what_hangs_or_breaks_is_unknown_and_never_a_pass(
    around: Surroundings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(examining, "CHECK_SECONDS", 0.01)

    async def hang(around: Surroundings) -> list[Finding]:
        await anyio.sleep_forever()
        raise AssertionError

    async def broken(around: Surroundings) -> list[Finding]:
        raise ValueError("password=hunter2")

    async def silent(around: Surroundings) -> list[Finding]:
        return []

    checks = (Check("h", "H", hang), Check("b", "B", broken), Check("s", "S", silent))
    done = await examine(checks, around)
    assert [one.level for one in done] == [Level.UNKNOWN] * 3
    assert "hunter2" not in repr(done)


async def test_an_error_of_ours_is_a_failure_with_its_remedy(around: Surroundings) -> None:
    async def wrong(around: Surroundings) -> list[Finding]:
        raise ConfigurationError("is wrong", where="x", remedy="Mend it.")

    (done,) = await examine((Check("w", "W", wrong),), around)
    assert done.findings == (Finding(Level.FAIL, "x: is wrong", "Mend it."),)


def test_the_worst_finding_is_the_level() -> None:
    findings = (Finding(Level.OK, ""), Finding(Level.WARN, "", "x"), Finding(Level.UNKNOWN, ""))
    assert Checked("n", "t", findings).level is Level.UNKNOWN
