"""The kubeconfig of one context alone, made by the real kubectl."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
import yaml

from truepenny.diagnose.cluster import Cluster, Clusters
from truepenny.diagnose.script.kubeconfig import kubeconfig_of
from truepenny.errors import CouldNotRun

pytestmark = pytest.mark.anyio


def bound(folder: Path, user: dict[str, str]) -> Cluster:
    both = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "a",
        "clusters": [
            {"name": name, "cluster": {"server": f"https://{name}.example:6443"}} for name in "ab"
        ],
        "users": [{"name": "a", "user": user}, {"name": "b", "user": {"token": "other"}}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": name}} for name in "ab"],
    }
    file = folder / "config"
    file.write_text(yaml.safe_dump(both), encoding="utf-8")
    cluster = Clusters.from_kubeconfig(file, env=os.environ).get(None)
    assert isinstance(cluster, Cluster)
    return cluster


async def test_it_has_one_context_and_the_token_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("abc-token\n", encoding="ascii")
    made = await kubeconfig_of(bound(tmp_path, {"tokenFile": str(tmp_path / "token")}))
    document = json.loads(made)
    assert [entry["name"] for entry in document["contexts"]] == ["a"]
    assert document["users"] == [{"name": "a", "user": {"token": "abc-token"}}]
    assert "other" not in made


async def test_what_cannot_be_read_is_said_without_its_content(tmp_path: Path) -> None:
    missing = bound(tmp_path, {"tokenFile": str(tmp_path / "nothing")})
    with pytest.raises(CouldNotRun, match="FileNotFoundError"):
        await kubeconfig_of(missing)
    missing = bound(tmp_path, {"client-certificate": str(tmp_path / "nothing.crt")})
    with pytest.raises(CouldNotRun, match=r"nothing\.crt"):
        await kubeconfig_of(missing)
