"""Starting, stopping, and what is left behind."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.demo.practice import SmallWorld, connect, fetch, make
from truepenny.demo.cluster import PracticeCluster
from truepenny.errors import UsageError
from truepenny.system.scratch import OWNER


def test_it_leaves_nothing_behind() -> None:
    before = set(threading.enumerate())
    with PracticeCluster(SmallWorld()) as cluster:
        config = cluster.kubeconfig
        assert stat.S_IMODE(config.stat().st_mode) == 0o600
        assert stat.S_IMODE(config.parent.stat().st_mode) == 0o700
        names = {entry.name for entry in config.parent.iterdir()}
        assert names == {"kubeconfig", OWNER}
        assert cluster.token in config.read_text(encoding="utf-8")
    assert not config.parent.exists()
    assert set(threading.enumerate()) <= before
    with pytest.raises(UsageError):
        _ = cluster.requests


def test_open_watches_do_not_hold_up_the_stop() -> None:
    with PracticeCluster(SmallWorld()) as cluster:
        connection = connect(cluster)
        headers = {"Authorization": f"Bearer {cluster.token}"}
        connection.request("GET", "/api/v1/pods?watch=1", headers=headers)
        response = connection.getresponse()
    assert response.read() == b""
    connection.close()


def test_it_logs_requests_with_what_they_are_about() -> None:
    with PracticeCluster(SmallWorld()) as cluster:
        fetch(cluster, "/api/v1/namespaces/shop/pods/p/log?tailLines=3")
        [record] = cluster.requests
    assert (record.method, record.status, record.verb, record.resource, record.query) == (
        "GET",
        404,
        "get",
        "pods/log",
        "tailLines=3",
    )


def test_a_defect_of_the_simulator_is_told() -> None:
    class Broken(SmallWorld):
        def logs(self, namespace: str, pod: str, container: str, previous: bool) -> str | None:
            raise KeyError("world")

    broken = Broken([make("Pod", "p", spec={"containers": [{"name": "c"}]})])
    with PracticeCluster(broken) as cluster:
        answer = fetch(cluster, "/api/v1/namespaces/shop/pods/p/log")
        [record] = cluster.requests
    assert (answer.status, record.status) == (500, 500)
    assert "the simulator failed" in answer.json["message"]


def test_a_client_that_leaves_in_the_middle_is_no_event(capfd: pytest.CaptureFixture[str]) -> None:
    many = [make("ConfigMap", f"c{n}", data={"x": "y" * 20_000}) for n in range(100)]
    with PracticeCluster(SmallWorld(many)) as cluster:
        for path in ("/api/v1/configmaps", "/api/v1/configmaps?watch=1"):
            connection = connect(cluster)
            headers = {"Authorization": f"Bearer {cluster.token}"}
            connection.request("GET", path, headers=headers)
            connection.getresponse().read(10)
            connection.close()
        assert fetch(cluster, "/healthz").body == b"ok"
    assert capfd.readouterr() == ("", "")


def test_two_clusters_run_side_by_side() -> None:
    with PracticeCluster(SmallWorld()) as one, PracticeCluster(SmallWorld()) as two:
        assert one.url != two.url
        assert fetch(two, "/api/v1/pods", token=one.token).status == 401


SERVE = """
import sys
from tests.demo.practice import SmallWorld
from truepenny.demo.cluster import serve
serve(SmallWorld(), on_ready=lambda cluster: print(cluster.kubeconfig, flush=True))
print("clean", flush=True)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_serving_ends_clean_on_a_signal(number: signal.Signals) -> None:
    root = Path(__file__).parents[2]
    with subprocess.Popen(
        [sys.executable, "-c", SERVE],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    ) as process:
        assert process.stdout is not None
        folder = Path(process.stdout.readline().strip()).parent
        assert folder.is_dir()
        process.send_signal(number)
        out, err = process.communicate(timeout=20)
    assert (process.returncode, out, err) == (0, "clean\n", "")
    assert not folder.exists()
