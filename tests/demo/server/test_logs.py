from __future__ import annotations

from typing import Any

from tests.demo.practice import SmallWorld, fetch, make
from truepenny.demo.cluster import PracticeCluster
from truepenny.system.clock import ManualClock

PATH = "/api/v1/namespaces/shop/pods/web/log"


def _pod(*, init: bool = False, waiting: str = "") -> Any:
    state = {"waiting": {"reason": waiting}} if waiting else {"running": {}}
    spec: dict[str, Any] = {"containers": [{"name": "app"}, {"name": "side"}]}
    if init:
        spec["initContainers"] = [{"name": "setup"}]
    statuses = [{"name": "app", "state": state}]
    return make("Pod", "web", spec=spec, status={"containerStatuses": statuses})


def _ask(world: SmallWorld, *queries: str) -> list[tuple[int, str]]:
    # The manual clock starts at 2026-01-01T00:00:00Z.
    with PracticeCluster(world, clock=ManualClock()) as cluster:
        answers = [fetch(cluster, f"{PATH}?{query}") for query in queries]
    return [(a.status, a.json["message"] if a.status != 200 else a.body.decode()) for a in answers]


def test_windows() -> None:
    log = (
        "2025-12-31T23:58:00.000000001Z one\n"
        "2025-12-31T23:59:30.5Z two  spaced \n"
        "2025-12-31T23:59:50Z three\x0b\u2028same line\n"
        "2025-12-31T23:59:59.999999999Z \n"
    )
    got = _ask(
        SmallWorld([_pod()], written={("app", False): log}),
        "container=app&sinceSeconds=40",
        "container=app&sinceTime=2025-12-31T23:59:50Z&tailLines=5",
        "container=app&tailLines=3&timestamps=true",
        "container=app&limitBytes=5",
        "container=app&sinceTime=yesterday",
        "container=app&sinceTime=2025-12-31T23:59:50Z&sinceSeconds=1",
        "container=app&tailLines=-1",
    )
    assert got[0] == (200, "two  spaced \nthree\x0b\u2028same line\n\n")
    assert got[1] == (200, "three\x0b\u2028same line\n\n")
    assert got[2][1].splitlines()[0] == "2025-12-31T23:59:30.5Z two  spaced "
    assert got[3] == (200, "one\nt")
    assert [status for status, _ in got[4:]] == [400, 400, 400]


def test_a_log_that_is_not_there_says_why() -> None:
    got = _ask(
        SmallWorld([_pod(init=True)]),
        "",
        "container=nope",
        "container=app&previous=true",
    )
    assert [status for status, _ in got] == [400, 400, 400]
    assert "[app side]" in got[0][1] and "[setup]" in got[0][1]
    assert "nope is not valid" in got[1][1]
    assert got[2][1].startswith("previous terminated container")
    for reason, said in (
        ("ContainerCreating", "is waiting to start: ContainerCreating"),
        ("ImagePullBackOff", "is waiting to start: trying and failing to pull image"),
        ("CreateContainerConfigError", "is waiting to start: CreateContainerConfigError"),
    ):
        [(status, message)] = _ask(SmallWorld([_pod(waiting=reason)]), "container=app")
        assert status == 400
        assert message.endswith(said)
