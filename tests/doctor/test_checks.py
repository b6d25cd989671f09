"""Each check against a real good and a real bad state of what it looks at."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from truepenny.config.load import load
from truepenny.demo.cluster import PracticeCluster
from truepenny.demo.world import World
from truepenny.doctor import clusters, machine, models, settings
from truepenny.doctor.check import Level, Surroundings
from truepenny.doctor.checks import CHECKS
from truepenny.errors import ConfigurationError, TruepennyError
from truepenny.system.directories import Directories

pytestmark = pytest.mark.anyio


def surroundings(home: Path, toml: str = "", **env: str) -> Surroundings:
    (home / "config").mkdir(parents=True, exist_ok=True)
    (home / "config" / "truepenny.toml").write_text(toml, encoding="utf-8")
    path = f"{Path(shutil.which('kubectl') or '/usr/bin/kubectl').parent}:/usr/bin:/bin"
    whole = {"TRUEPENNY_HOME": str(home), "HOME": str(home), "PATH": path, **env}
    directories = Directories.from_environment(whole)
    try:
        loaded = load(directories, whole)
    except TruepennyError as error:
        loaded = error
    return Surroundings(directories, whole, loaded)


def test_names_are_unique() -> None:
    assert len({check.name for check in CHECKS}) == len(CHECKS)


async def test_a_healthy_machine_has_no_failure_and_keeps_no_trace(tmp_path: Path) -> None:
    around = surroundings(tmp_path)
    for check in (machine.python, machine.writable, machine.durability, machine.locking):
        assert {finding.level for finding in await check(around)} == {Level.OK}
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["config", "truepenny.toml"]


async def test_a_state_directory_below_a_file_fails_with_a_remedy(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    around = surroundings(tmp_path / "home", TRUEPENNY_STATE_DIR=str(tmp_path / "file" / "state"))
    (state,) = (f for f in await machine.writable(around) if f.detail.startswith("state"))
    assert state.level is Level.FAIL
    assert state.remedy


async def test_a_misspelt_key_is_a_warning_and_broken_toml_an_error(tmp_path: Path) -> None:
    (found,) = await settings.settings(surroundings(tmp_path, "[run]\nmax_turn = 3\n"))
    assert found.level is Level.WARN
    assert "max_turns" in found.remedy
    with pytest.raises(ConfigurationError):
        await settings.settings(surroundings(tmp_path, "[run\n"))
    (unread,) = await settings.redaction(surroundings(tmp_path, "[run\n"))
    assert unread.level is Level.UNKNOWN


async def test_a_secret_that_is_not_there_fails(tmp_path: Path) -> None:
    toml = '[redact]\nvalues = ["env:NOT_THERE"]\n'
    (found,) = await settings.redaction(surroundings(tmp_path, toml))
    assert found.level is Level.FAIL
    assert "NOT_THERE" in found.detail
    (fine,) = await settings.redaction(surroundings(tmp_path, toml, NOT_THERE="a-secret-value"))
    assert fine.level is Level.OK


async def test_the_default_model_and_a_provider_without_its_key(tmp_path: Path) -> None:
    (default,) = await models.default_model(surroundings(tmp_path))
    assert "builtin/analyst" in default.detail
    toml = '[providers.anthropic]\napi_key = "env:NOT_THERE"\n'
    (found,) = await models.keys(surroundings(tmp_path, toml))
    assert found.level is Level.WARN
    assert found.remedy


async def test_kubectl_that_is_not_there_fails(tmp_path: Path) -> None:
    (found,) = await clusters.kubectl(
        surroundings(tmp_path, '[kubectl]\npath = "/nonexistent/kubectl"\n')
    )
    assert found.level is Level.FAIL
    assert "/nonexistent/kubectl" in found.detail
    (fine,) = await clusters.kubectl(surroundings(tmp_path))
    assert fine.level is Level.OK


async def test_clusters_that_answer_that_do_not_and_none(tmp_path: Path) -> None:
    (none,) = await clusters.clusters(surroundings(tmp_path))
    assert none.level is Level.WARN
    (gone,) = await clusters.clusters(surroundings(tmp_path, KUBECONFIG="/nonexistent"))
    assert gone.level is Level.FAIL
    with PracticeCluster(World.load("healthy")) as cluster:
        around = surroundings(tmp_path, KUBECONFIG=str(cluster.kubeconfig))
        (up,) = await clusters.clusters(around)
        # Its credential may exec, which is no reading.
        assert up.level is Level.WARN
        assert "can write: get,create pods/exec" in up.detail
    kept = tmp_path / "kept"
    with PracticeCluster(World.load("healthy")) as cluster:
        shutil.copy(cluster.kubeconfig, kept)
    (down,) = await clusters.clusters(surroundings(tmp_path, KUBECONFIG=str(kept)))
    assert down.level is Level.FAIL
