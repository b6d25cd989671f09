"""Which cluster a request means."""

from __future__ import annotations

from pathlib import Path

import pytest

from truepenny.config.settings import ClusterSettings, Settings
from truepenny.diagnose.cluster import Cluster, Clusters, Unbound
from truepenny.errors import ConfigurationError
from truepenny.execute.ending import Outcome
from truepenny.system.directories import Directories

from .fake_kubectl import FakeKubectl
from .test_cluster_kubeconfig import CONFIG


def clusters(settings: Settings, env: dict[str, str], tmp_path: Path) -> Clusters:
    directories = Directories.from_environment({"TRUEPENNY_HOME": str(tmp_path / "home")})
    return Clusters.from_settings(settings, env, directories)


@pytest.fixture
def config(tmp_path: Path) -> str:
    path = tmp_path / "config"
    path.write_text(CONFIG, encoding="utf-8")
    return str(path)


def unbound(choice: Cluster | Unbound) -> Unbound:
    assert isinstance(choice, Unbound)
    return choice


def test_one_cluster_needs_no_name(fake: FakeKubectl) -> None:
    only = fake.cluster("only")
    assert Clusters((only,)).get(None) is only
    assert Clusters((only,)).get("only") is only


def test_several_clusters_need_one(fake: FakeKubectl) -> None:
    both = Clusters((fake.cluster("stage"), fake.cluster("prod")))
    choice = unbound(both.get(None))
    assert choice.reason == "cluster_ambiguous"
    assert choice.known == ("stage", "prod")
    result = choice.result()
    assert result.outcome is Outcome.INVALID_ARGUMENTS
    assert result.facts.detail["available_clusters"] == ["stage", "prod"]
    assert all(name in result.text for name in both.names)


def test_a_name_that_is_not_bound_is_told_the_nearest(fake: FakeKubectl) -> None:
    both = Clusters((fake.cluster("stage"), fake.cluster("prod")))
    choice = unbound(both.get("stag"))
    assert (choice.reason, choice.hint) == ("cluster_not_bound", "cluster: stage")
    with pytest.raises(ConfigurationError) as caught:
        both.only("nope")
    assert caught.value.exit_code == 3
    assert both.only("prod").names == ("prod",)


def test_without_settings_each_context_is_a_cluster(config: str, tmp_path: Path) -> None:
    bound = clusters(Settings(), {"KUBECONFIG": config}, tmp_path)
    assert bound.names == ("loose", "prod", "stage")
    stage = bound.get("stage")
    assert isinstance(stage, Cluster)
    assert stage.current
    assert stage.source == {
        "cluster": "stage",
        "context": "stage",
        "server": "stage.example:6443",
        "user": "u1",
    }
    assert unbound(bound.get("loose")).reason == "cluster_unavailable"


def test_no_kubeconfig_is_said_with_a_way_out(tmp_path: Path) -> None:
    bound = clusters(Settings(), {"HOME": str(tmp_path)}, tmp_path)
    choice = unbound(bound.get(None))
    assert choice.reason == "no_cluster"
    assert choice.hint
    assert choice.result().outcome is Outcome.MISSING_DEPENDENCY


def test_an_unreadable_kubeconfig_stops_a_run_that_would_use_it(tmp_path: Path) -> None:
    (tmp_path / "bad").write_text("a: [", encoding="utf-8")
    with pytest.raises(ConfigurationError):
        clusters(Settings(), {"KUBECONFIG": str(tmp_path / "bad")}, tmp_path)


def test_configured_clusters_stand_beside_broken_ones(config: str, tmp_path: Path) -> None:
    (tmp_path / "bad").write_text("a: [", encoding="utf-8")
    settings = Settings(
        clusters={
            "good": ClusterSettings(kubeconfig=config, context="prod", production=True),
            "current": ClusterSettings(kubeconfig=config),
            "missing": ClusterSettings(kubeconfig=str(tmp_path / "gone")),
            "broken": ClusterSettings(kubeconfig=str(tmp_path / "bad")),
            "other": ClusterSettings(kubeconfig=config, context="nope"),
        }
    )
    bound = clusters(settings, {}, tmp_path)
    good, current = bound.get("good"), bound.get("current")
    assert isinstance(good, Cluster)
    assert (good.context.name, good.production) == ("prod", True)
    assert isinstance(current, Cluster)
    assert current.context.name == "stage"
    for name in ("missing", "broken", "other"):
        choice = unbound(bound.get(name))
        assert choice.reason == "cluster_unavailable"
        assert choice.result().outcome is Outcome.MISSING_DEPENDENCY


def test_one_file_is_bound_under_a_given_name(config: str) -> None:
    bound = Clusters.from_kubeconfig(Path(config), env={}, name="demo")
    demo = bound.get("demo")
    assert isinstance(demo, Cluster)
    assert demo.context.name == "stage"
    with pytest.raises(ConfigurationError):
        Clusters.from_kubeconfig(Path(config + "-gone"), env={})
