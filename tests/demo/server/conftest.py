from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.demo.practice import Kubectl, binaries
from truepenny.demo.cluster import PracticeCluster
from truepenny.demo.world import World


@pytest.fixture(scope="module")
def cluster() -> Iterator[PracticeCluster]:
    """The default incident, served to a whole module; read it, do not change it."""
    with PracticeCluster(World.load("checkout-oom")) as running:
        yield running


@pytest.fixture(scope="module")
def kubectl(cluster: PracticeCluster, tmp_path_factory: pytest.TempPathFactory) -> Kubectl:
    found = binaries()
    if not found:
        pytest.fail("no kubectl: ./dev installs one")
    return Kubectl(cluster, tmp_path_factory.mktemp("kubectl"), found[0])
